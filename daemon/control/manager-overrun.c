/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Where pacing does not hold what it promised: eBPF tells within a fraction of a second when a
 * device spends more joules than it is paced to, and how much of its IO no pacing can reach because
 * it is the root cgroup's. */

#include <errno.h>
#include <math.h>

#include "base/log.h"
#include "control/manager-internal.h"

#define PACE_WINDOW_US    (500 * USEC_PER_MSEC)
#define PACE_TOLERANCE    1.15 /* of the pace, in a window: io.cost lets short bursts through */
#define UNCONTROLLED_MAX  0.05 /* of the bytes */
#define UNCONTROLLED_MB_S 0.1  /* less is not worth a word */
#define UNCONTROLLED_US   (300 * USEC_PER_SEC) /* before pacing is trusted again */

void managed_watch_pace(const Manager *m, ManagedDevice *md)
{
	double pace_w = md->actual.pace_w > 0 ? PACE_TOLERANCE * md->actual.pace_w : INFINITY;

	if (pace_w == md->watched_pace_w)
		return;
	md->watched_pace_w = pace_w;
	(void)meter_set_cap_window(m->meter, md->device, pace_w, PACE_WINDOW_US);
}

static void on_overrun(dev_t devnum, double joules, double seconds, void *userdata)
{
	Manager *m = userdata;

	for (size_t i = 0; i < m->n_devices; i++) {
		ManagedDevice *md = m->devices[i];
		double pace_w = md->actual.pace_w, spent_w = joules / seconds;

		/* what was let through before the last lowering is being answered already */
		if (md->device->devnum != devnum || !devnum || pace_w <= 0 || spent_w <= pace_w ||
		    manager_now_us(m) < md->tightened_us + LOOK_US)
			continue;
		managed_distrust(m, md,
				 (md->device->profile->idle_w + spent_w) /
					 (md->device->profile->idle_w + pace_w));
		m->news = true;
		log_notice("%s: spends %.2f W by eBPF, paced to %.2f W: planned for with %.0f %% "
			   "more from now",
			   md->device->name, spent_w, pace_w, 100 * (md->bias - 1));
	}
}

int manager_meter_fd(const Manager *m)
{
	return meter_fd(m->meter);
}

void manager_hear_meter(Manager *m)
{
	meter_process(m->meter, on_overrun, manager_on_woken, m);
}

void manager_meter_ready(Manager *m)
{
	bool had_news = m->news;

	m->news = false;
	manager_hear_meter(m);
	if (m->news && manager_enforcing(m))
		manager_react(m, "eBPF saw a device spend more than it may");
	m->news |= had_news;
	if (m->woken)
		manager_react(m, "eBPF saw IO to a sleeping disk");
}

bool managed_uncontrolled(const Manager *m, const ManagedDevice *md)
{
	return manager_now_us(m) < md->uncontrolled_until_us;
}

void managed_observe_control(Manager *m, ManagedDevice *md)
{
	double share = md->rates.uncontrolled_share;
	double mb_s = md->rates.mb_s[READ_IO] + md->rates.mb_s[WRITE_IO];
	bool was = managed_uncontrolled(m, md);

	if (!(md->offer.mechanisms & MECHANISM_PACING) || !(share > UNCONTROLLED_MAX) ||
	    share * mb_s < UNCONTROLLED_MB_S)
		return;
	md->uncontrolled_until_us = manager_now_us(m) + UNCONTROLLED_US;
	if (was)
		return;
	m->news = m->unsafe = true;
	manager_decide(m, md->device->name, "IO of the root cgroup passes pacing by",
		       "pacing is not relied on (%.0f %% uncontrolled)", 100 * share);
	log_notice(
		"%s: %.0f %% of its IO comes from the root cgroup, which pacing cannot hold: the "
		"queue's own limits are used instead",
		md->device->name, 100 * share);
}
