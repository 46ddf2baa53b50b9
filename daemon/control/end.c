/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The end: everything that was set is given back. */

#include "control/end.h"

#include "base/log.h"
#include "control/fleet.h"
#include "control/obedience.h"
#include "control/turn.h"

/* A shelf of disks spins up in turn; the unit allows a little more. */
#define STOP_TIMEOUT_US (240 * USEC_PER_SEC)
#define TRIES_AT_STOP   2
#define PAUSE_US        (20 * USEC_PER_MSEC)

static bool is_settled(const Managed *md)
{
	for_each_knob(const HeldKnob, hk,
		      &md->knobs) if (hk->pending &&
				      obedience_of(md, hk)->failures < TRIES_AT_STOP) return false;
	return !md->errands.busy && (md->knobs.probed || !md->errands.next);
}

static bool all_settled(const Control *c)
{
	for_each_device(const Managed, md, &c->fleet) if (!is_settled(md)) return false;
	return c->fleet.n_leaving == 0;
}

void end_give_all_back(Control *c)
{
	Loop *l = c->loop;
	uint64_t end_us = clock_now_us(&l->clock) + STOP_TIMEOUT_US;

	c->tools.stopping = true;
	limits_lift(&c->limits);
	diary_because(&c->diary, "the daemon ends");
	for_each_device(Managed, md, &c->fleet)
	{
		obedience_forget(md);
		(void)fleet_give_back(md, &c->tools);
	}
	turn(c);
	while (!all_settled(c) && clock_now_us(&l->clock) < end_us) {
		l->drain(l, 100 * USEC_PER_MSEC, true);
		if (!all_settled(c))
			clock_sleep_us(&l->clock, PAUSE_US);
		turn(c); /* what failed is tried again */
	}
	/* the devices are the workers' until they have let go; a service manager's patience ends
	 * this if a device's driver does not */
	while (l->drain(l, USEC_PER_SEC, true) < 0)
		log_warning("Waiting for devices, or hooks, that do not answer");
	turn(c); /* what they have come to */
}
