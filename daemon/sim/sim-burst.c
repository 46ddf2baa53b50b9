/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/sim-burst.h"

#include <math.h>

#include "base/cleanup.h"
#include "sim/sim-demand.h"

double sim_burst_at(const SimBurstOf *b, uint64_t t_us, double own_mb_s, uint64_t *until_us)
{
	SimDemand d = { .kind = SIM_BURST };
	uint64_t change_us;
	double asks;

	if (!b->plan || (!b->plan->devices && own_mb_s <= 0))
		return own_mb_s;
	d.high_mb_s = b->mb_s;
	d.on_us = b->plan->for_us;
	d.off_us = b->plan->every_us - b->plan->for_us;
	asks = sim_demand_at(&d, b->seed, t_us, &change_us);
	*until_us = MIN(*until_us, change_us);
	return fmax(own_mb_s, asks);
}
