/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Who wakes a disk that was asleep. */

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "meter/meter-internal.h"

#define NSEC_PER_USEC 1000

static_assert(sizeof((MeterWake){ 0 }.process) == sizeof((struct wake_record){ 0 }.process),
	      "names of processes");

void meter_unwatch_wake(Meter *m, Watched *w)
{
	if (w->awaited)
		meter_bpf_disarm(m->bpf, w->devnum);
	w->awaited = false;
}

int meter_watch_wake(Meter *m, const Device *d, bool on)
{
	Watched *w = meter_find(m, d->devnum);
	int r;

	if (!w)
		return -EOPNOTSUPP;
	if (!on) {
		meter_unwatch_wake(m, w);
		return 0;
	}
	r = meter_bpf_arm(m->bpf, w->devnum);
	if (r == 0)
		w->awaited = true;
	return r;
}

bool meter_wake_of(Meter *m, const struct wake_record *r, MeterWake *ret)
{
	const Watched *w = meter_find(m, meter_bpf_devnum(r->dev));
	bool gone;

	if (!w || !w->awaited)
		return false;
	meter_begin_names(m);
	*ret = (MeterWake){
		.devnum = w->devnum,
		.passed_through = r->passed_through,
		.direction = r->is_write ? WRITE_IO : READ_IO,
		.bytes = r->bytes,
		.cgroup = r->cgroup,
		.name = meter_cgroup_name(m, r->cgroup, &gone),
		.pid = (int)r->pid,
		.time_us = r->time_ns / NSEC_PER_USEC,
	};
	memcpy(ret->process, r->process, sizeof(ret->process));
	return true;
}
