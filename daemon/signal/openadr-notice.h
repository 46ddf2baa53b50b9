/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Hears of changes from a VTN that tells of them over MQTT (OpenADR 3.1), so that events need not
 * wait for the next poll. */

#include <systemd/sd-event.h>

#include "signal/openadr-config.h"

typedef struct OpenadrNotice OpenadrNotice;

/* Something has changed, or may have. */
typedef void (*OnNotice)(void *userdata);

int openadr_notice_new(sd_event *event, const OpenadrConfig *c, OnNotice on_notice, void *userdata,
		       OpenadrNotice **ret);
OpenadrNotice *openadr_notice_free(OpenadrNotice *n); /* returns NULL */
DEFINE_CLEANUP(OpenadrNotice *, openadr_notice_free);

/* The VTN answers, and knows that token: where nothing is heard, it is asked now and then whether
 * it tells of changes, and where. */
void openadr_notice_look(OpenadrNotice *n, const char *bearer);
