/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Asks upsd of Network UPS Tools for the state of one UPS, by its protocol (RFC 9271). */

#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "signal/feed.h"
#include "signal/nut-address.h"

typedef struct Nut Nut;

/* words: how it fails, else why nothing is known. */
typedef void (*NutSeen)(void *userdata, FeedSeen seen, const char *words);

int nut_new(sd_event *event, const NutAddress *address, NutSeen seen, void *userdata, Nut **ret);
Nut *nut_free(Nut *n); /* returns NULL */
DEFINE_CLEANUP(Nut *, nut_free);

/* To be called every few seconds. The answer comes by seen(); so does, at the next call, that there
 * was none. */
void nut_ask(Nut *n);

/* A line of upsd's answer. -EINVAL: it is of something else. words: size bytes. */
int nut_parse_answer(const char *line, const char *ups, FeedSeen *ret_seen, char *words,
		     size_t size);
