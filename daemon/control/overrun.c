/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/overrun.h"

#include "base/cleanup.h"
#include "base/clock.h"

#define GAP_US (5 * USEC_PER_SEC) /* nobody looked meanwhile */

void overrun_count(Overrun *o, bool exceeded, double measured_w, double budget_w, uint64_t now_us)
{
	double passed_s = (double)MIN(now_us - o->looked_us, GAP_US) / USEC_PER_SEC;

	if (exceeded && !o->lasts)
		*o = (Overrun){};
	o->lasts = exceeded;
	o->looked_us = now_us;
	if (!exceeded)
		return;
	o->seconds += passed_s;
	o->joules += MAX(measured_w - budget_w, 0.0) * passed_s;
	o->budget_w = budget_w;
}
