/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The knobs of the room alone: tests of it link nothing above it, where the table of all is. */

#include "base/text.h"
#include "knob/mechanisms.h"

/* In the order of the table of all. */
static const Knob *const own_knobs[] = {
	&knob_nvme_power_state, &knob_nvme_power_limit,
	&knob_nvme_ocp_state,   &knob_io_cost,
	&knob_io_max,           &knob_bfq_strict,
	&knob_queue_depth,      &knob_nr_requests,
	&knob_async_depth,      &knob_max_sectors,
	&knob_link_power,       &knob_idle_latency,
	&knob_condition,        NULL,
};

static inline const Knob *own_knob(const char *name)
{
	for (const Knob *const *k = own_knobs; *k; k++)
		if (streq((*k)->name, name))
			return *k;
	return NULL;
}
