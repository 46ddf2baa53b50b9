/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "redirect/knob-registry.h"

#include "base/text.h"
#include "knob/mechanisms.h"

/* The knobs of one device are applied and restored in this order. io.cost switches writeback
 * throttling on and off, which bfq also does. A scheduler switch resets nr_requests. The slow knobs
 * come last: first those that keep IO off a disk, then the one that puts the disk to sleep. */
const Knob *const knob_registry[] = {
	&knob_nvme_power_state,
	&knob_nvme_power_limit,
	&knob_nvme_ocp_state,
	&knob_io_cost,
	&knob_io_max,
	&knob_bfq_strict,
	&knob_queue_depth,
	&knob_nr_requests,
	&knob_async_depth,
	&knob_max_sectors,
	&knob_link_power,
	&knob_idle_latency,
	&knob_redirect_bcache,
	&knob_redirect_writecache,
	&knob_redirect_md,
	&knob_redirect_mergerfs,
	&knob_redirect_nvmet,
	&knob_condition,
	NULL,
};

size_t knob_count(void)
{
	return ELEMENTSOF(knob_registry) - 1;
}

const Knob *knob_find(const char *name)
{
	for (const Knob *const *k = knob_registry; *k; k++)
		if (streq((*k)->name, name))
			return *k;
	return NULL;
}

JournalSurvival knob_survival_of_removal(const char *name)
{
	/* a link's policy is that of the host, which stays when the disk is pulled */
	return knob_find(name) == &knob_link_power ? SURVIVES_WHOLE : knob_survival(name);
}

JournalSurvival knob_survival(const char *name)
{
	const Knob *k = knob_find(name);

	if (!k)
		return SURVIVAL_UNKNOWN;
	if (k->survives_reboot)
		return SURVIVES_WHOLE;
	return k->head_survives_reboot ? SURVIVES_HEAD : SURVIVES_NOT;
}
