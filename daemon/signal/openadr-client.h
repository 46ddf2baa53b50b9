/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Asks a VTN for its events, again and again, and sends it reports. */

#include <systemd/sd-event.h>

#include "signal/openadr-config.h"
#include "signal/openadr-reports.h"

typedef struct OpenadrClient OpenadrClient;

/* All events that the VTN has for the configured programs. The callee takes what `events` owns. */
typedef void (*OpenadrOnEvents)(void *userdata, OpenadrEvents *events);

/* It asks at once, and answers later. The configuration stays the caller's, and so do the reports
 * that wait, which it sends as well. */
int openadr_client_new(sd_event *event, const OpenadrConfig *c, OpenadrReports *reports,
		       OpenadrOnEvents on_events, void *userdata, OpenadrClient **ret);
OpenadrClient *openadr_client_free(OpenadrClient *c); /* returns NULL */
DEFINE_CLEANUP(OpenadrClient *, openadr_client_free);

/* Sends a report, now or as soon as the VTN answers; of many that wait the oldest is given up.
 * -ENOMEM. */
int openadr_client_report(OpenadrClient *c, const char *json);
