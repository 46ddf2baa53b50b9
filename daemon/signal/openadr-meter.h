/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What storage draws in the intervals of events that ask for a report. Pure. */

#include "signal/openadr-config.h"

typedef struct OpenadrMeter {
	char *event;
	int64_t interval, begin_s; /* as the event has it */
	int64_t from_s;            /* since when it has been looked at */
	double joules;             /* of the daemon's account then */
} OpenadrMeter;

typedef struct OpenadrMeters {
	OpenadrMeter *list;
	size_t n;
} OpenadrMeters;

void openadr_meters_done(OpenadrMeters *m);
/* Has an interval begun or ended, so that openadr_meters_take() has to be called? */
bool openadr_meters_due(const OpenadrMeters *m, const OpenadrConfig *c, const OpenadrEvents *events,
			int64_t now_s);
/* joules: of the daemon's account now. *ret_reports: JSON for /reports, NULL-terminated, of the
 * intervals that have ended; NULL: of none. An account that has gone down is another one, and its
 * intervals are not told. */
int openadr_meters_take(OpenadrMeters *m, const OpenadrConfig *c, const OpenadrEvents *events,
			int64_t now_s, double joules, char ***ret_reports);
