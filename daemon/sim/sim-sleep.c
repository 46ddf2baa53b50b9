/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Conditions of a simulated disk, and what is asked before one is put to sleep. */

#include <errno.h>

#include "base/text.h"
#include "sim/sim-node.h"

#define COMMAND_US (30 * USEC_PER_SEC) /* SD_TIMEOUT of drivers/scsi/sd.h */

int sim_condition_get(Device *d, Condition *ret)
{
	SimTruth t;
	int r = sim_device_peek(d->impl, &t);

	if (r >= 0)
		*ret = (Condition)t.told.value[SIM_CONDITION];
	return r;
}

static int condition_step(SimDevice *s, Condition c, double seconds)
{
	SimChange change = { .reg = SIM_CONDITION, .value = c };
	SimTruth t;
	int r = sim_device_ready(s, &t);

	return r < 0 ? r
		     : sim_device_write(s, &t, &change,
					MAX((uint64_t)(seconds * USEC_PER_SEC), SIM_SYSFS_US));
}

/* Wakes the disk. The command completes when the disk is ready, or when the kernel gives it up. */
static int condition_wake(SimDevice *s, const SimTruth *now, Condition from)
{
	int r;

	if (sim_truth_stuck(now)) {
		clock_sleep_us(s->clock, COMMAND_US);
		return -EIO;
	}
	r = condition_step(s, CONDITION_ACTIVE, 0);
	if (r >= 0)
		clock_sleep_us(s->clock, (uint64_t)(s->nature.profile->conditions[from].recovery_s *
						    USEC_PER_SEC));
	return r;
}

int sim_condition_set(Device *d, Condition c)
{
	SimDevice *s = d->impl;
	const ConditionPower *to = &s->nature.profile->conditions[c < _CONDITION_MAX ? c : 0];
	Condition from;
	SimTruth t;
	int r = sim_device_ready(s, &t);

	if (r < 0)
		return r;
	if (c >= _CONDITION_MAX || !(d->conditions & 1U << c))
		return -EOPNOTSUPP;
	from = (Condition)t.told.value[SIM_CONDITION];
	/* any shallower condition is reached through active */
	if (c < from)
		r = condition_wake(s, &t, from);
	if (r < 0 || c == CONDITION_ACTIVE || c == from)
		return r;
	return condition_step(s, c, to->enter_s);
}

static bool in_pool(const Device *d, const Device *other)
{
	return d == other || (*d->pool && streq(d->pool, other->pool));
}

static SimFault fault_of(SimDevice *s)
{
	SimTruth t;

	return sim_device_peek(s, &t) < 0 ? SIM_VANISH : (SimFault)t.fault;
}

int sim_may_sleep(Device *d, char **ret_why_not)
{
	const SimNode *n = ((SimDevice *)d->impl)->node;

	for (size_t i = 0; i < n->n_devices; i++) {
		const Device *member = n->devices[i]->device;

		if (!in_pool(d, member) || fault_of(n->devices[i]) != SIM_RESYNC)
			continue;
		*ret_why_not = text_printf("%s is being resynced", *d->pool ? d->pool : d->name);
		return -EBUSY;
	}
	return 0;
}

static Condition standby(const Device *d)
{
	if (d->conditions & 1U << CONDITION_STANDBY_Z)
		return CONDITION_STANDBY_Z;
	return d->conditions & 1U << CONDITION_STANDBY_Y ? CONDITION_STANDBY_Y : CONDITION_ACTIVE;
}

/* An IO and a command wake it alike here. */
int sim_wake_test(Device *d, double *ret_seconds, char **ret_text)
{
	SimDevice *s = d->impl;
	Condition c = standby(d);
	uint64_t asleep_us;
	int r = c == CONDITION_ACTIVE ? -EOPNOTSUPP : sim_condition_set(d, c);

	if (r < 0) {
		*ret_text = text_printf("%s could not be put to standby", d->name);
		return r;
	}
	asleep_us = clock_now_us(s->clock);
	r = sim_condition_set(d, CONDITION_ACTIVE);
	*ret_seconds = (double)(clock_now_us(s->clock) - asleep_us) / USEC_PER_SEC;
	*ret_text = r < 0 ? text_printf("%s stayed in standby for %.0f s", d->name, *ret_seconds)
			  : text_printf("%s was back after %.1f s", d->name, *ret_seconds);
	return r == -EIO ? -EREMOTEIO : r;
}
