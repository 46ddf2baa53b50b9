/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "knob/knob.h"

#include <errno.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/failpoint.h"
#include "base/text.h"
#include "knob/registry.h"

/* Order of one device's knobs, applying and restoring: io.cost switches writeback throttling on and
 * off, which bfq also does; a scheduler switch resets nr_requests; the slow ones come last: what
 * keeps IO off a disk before the disk is put to sleep. */
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

bool knob_fulfils(const Knob *k, const Device *d, const KnobValue *wanted, const KnobValue *found)
{
	return k->fulfils ? k->fulfils(d, wanted, found) : streq(wanted->text, found->text);
}

static int write_and_read_back(const Knob *k, Device *d, const KnobValue *value, KnobValue *ret)
{
	int r;

	failpoint("knob-before-write");
	r = k->write(d, value);
	failpoint("knob-after-write");
	return r < 0 ? r : k->read(d, ret);
}

int knob_apply(const Knob *k, Device *d, const KnobValue *value, KnobValue *ret_found)
{
	static const long pauses_ms[] = { 1, 4, 16 };
	KnobValue found;
	int r = write_and_read_back(k, d, value, &found);

	for (size_t i = 0; (r == -EAGAIN || r == -EBUSY) && i < ELEMENTSOF(pauses_ms); i++) {
		nanosleep(&(struct timespec){ .tv_nsec = pauses_ms[i] * 1000000 }, NULL);
		r = write_and_read_back(k, d, value, &found);
	}
	if (r < 0)
		return r;
	if (ret_found)
		*ret_found = found;
	return knob_fulfils(k, d, value, &found) ? 0 : -EREMOTEIO;
}
