/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The kernel tells of a device that spends more than it may, and of one that is woken. */

#include <errno.h>

#include "meter/meter-figures.h"
#include "meter/meter-internal.h"

#define NSEC_PER_USEC 1000
#define NSEC_PER_SEC  1e9

int meter_set_cap_window(Meter *m, const Device *d, double joules_per_s, uint64_t window_us)
{
	Watched *w = meter_find(m, d->devnum);
	struct meter_terms terms;
	int r;

	if (!w || !w->has_energy)
		return -EOPNOTSUPP;
	terms = w->terms;
	terms.window_ns = window_us * NSEC_PER_USEC;
	terms.window_joules = meter_window_joules(joules_per_s, window_us);
	if (terms.window_ns == w->terms.window_ns && terms.window_joules == w->terms.window_joules)
		return 0;
	r = meter_bpf_set_terms(m->bpf, w->devnum, &terms);
	if (r == 0)
		w->terms = terms;
	return r;
}

int meter_fd(const Meter *m)
{
	return m->bpf ? meter_bpf_fd(m->bpf) : -EOPNOTSUPP;
}

typedef struct Delivery {
	Meter *meter;
	MeterOverrun overrun;
	MeterWoken woken;
	void *userdata;
} Delivery;

/* Since the kernel wrote the record the device may have been removed or allowed more. */
static void deliver_overrun(const struct meter_overrun *o, void *userdata)
{
	const Delivery *d = userdata;
	const Watched *w = meter_find(d->meter, meter_bpf_devnum(o->dev));

	if (d->overrun && w && o->joules > w->terms.window_joules)
		d->overrun(w->devnum, (double)o->joules / METER_UNITS_PER_J,
			   (double)o->window_ns / NSEC_PER_SEC, d->userdata);
}

static void deliver_wake(const struct wake_record *r, void *userdata)
{
	const Delivery *d = userdata;
	MeterWake w;

	if (d->woken && meter_wake_of(d->meter, r, &w))
		d->woken(&w, d->userdata);
}

int meter_process(Meter *m, MeterOverrun overrun, MeterWoken woken, void *userdata)
{
	Delivery d = { m, overrun, woken, userdata };

	return m->bpf ? meter_bpf_process(m->bpf, deliver_overrun, deliver_wake, &d) : 0;
}
