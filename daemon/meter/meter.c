/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "meter/meter.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "meter/meter-figures.h"
#include "meter/meter-internal.h"

int meter_open(bool bpf, Meter **ret, char **ret_why_not)
{
	_cleanup_(meter_closep) Meter *m = calloc(1, sizeof(*m));
	_cleanup_free_ char *why_not = NULL;

	if (!m)
		return -ENOMEM;
	if (!bpf)
		why_not = text_printf("eBPF is switched off in the configuration");
	else
		meter_bpf_open(&m->bpf, &why_not);
	if (!m->bpf && !why_not)
		return -ENOMEM;
	*ret_why_not = TAKE_PTR(why_not);
	*ret = TAKE_PTR(m);
	return 0;
}

Meter *meter_close(Meter *m)
{
	if (!m)
		return NULL;
	meter_bpf_close(m->bpf);
	cgroup_names_free(m->names);
	free(m->watched);
	free(m);
	return NULL;
}

Watched *meter_find(const Meter *m, dev_t devnum)
{
	for (size_t i = 0; i < m->n_watched; i++)
		if (m->watched[i].devnum == devnum)
			return &m->watched[i];
	return NULL;
}

static void stop_counting(Meter *m, Watched *w)
{
	if (!w)
		return;
	meter_unwatch_wake(m, w);
	meter_bpf_remove(m->bpf, w->devnum);
	*w = m->watched[--m->n_watched];
}

static int count_from_zero(Meter *m, const Device *d)
{
	Watched *w, new = { .devnum = d->devnum };
	int r;

	stop_counting(m, meter_find(m, d->devnum));
	new.has_energy = meter_energies(d->profile, &new.terms);
	r = meter_bpf_add(m->bpf, d->devnum, &new.terms);
	if (r < 0)
		return r;
	w = ARRAY_GROW(m->watched, m->n_watched);
	if (!w) {
		meter_bpf_remove(m->bpf, d->devnum);
		return -ENOMEM;
	}
	*w = new;
	return 0;
}

int meter_add(Meter *m, const Device *d)
{
	int r = -EOPNOTSUPP;

	if (m->bpf && d->devnum) {
		r = count_from_zero(m, d);
		if (r == 0)
			return 0;
		if (r == -EOPNOTSUPP)
			log_info("%s: eBPF sees no requests of this kind of block device; its own "
				 "counters are used",
				 d->name);
		else
			log_warning_errno(r, "%s: eBPF cannot count it; its own counters are used",
					  d->name);
	}
	return d->ops->counters ? 0 : r;
}

void meter_remove(Meter *m, const Device *d)
{
	stop_counting(m, meter_find(m, d->devnum));
}

static int read_uncontrolled(const Meter *m, const Watched *w, DeviceCounters *ret)
{
	struct meter_cgroup_key root = meter_bpf_cgroup_key(w->devnum, METER_CGROUP_ROOT);
	struct meter_counters c = { 0 };
	DeviceCounters figures = { 0 };
	int r = meter_bpf_read_cgroup(m->bpf, &root, &c);

	if (r < 0 && r != -ENOENT)
		return r;
	meter_figures(&c, w->has_energy, &figures);
	ret->uncontrolled_ios = figures.ios[READ_IO] + figures.ios[WRITE_IO];
	ret->uncontrolled_bytes = figures.bytes[READ_IO] + figures.bytes[WRITE_IO];
	ret->uncontrolled_joules = figures.joules;
	ret->has_uncontrolled = true;
	return 0;
}

static int read_bpf(const Meter *m, const Watched *w, DeviceCounters *ret)
{
	uint64_t now = clock_now_us(&clock_boottime);
	struct meter_device d;
	int r = meter_bpf_read(m->bpf, w->devnum, &d);

	if (r < 0)
		return r;
	*ret = (DeviceCounters){ .time_us = now, .has_waits = meter_bpf_sees_waits(m->bpf) };
	meter_figures(&d.counters, w->has_energy, ret);
	return read_uncontrolled(m, w, ret);
}

int meter_read(Meter *m, Device *d, DeviceCounters *ret)
{
	const Watched *w = meter_find(m, d->devnum);

	if (w)
		return read_bpf(m, w, ret);
	return d->ops->counters ? d->ops->counters(d, ret) : -EOPNOTSUPP;
}

bool meter_counts(const Meter *m, const Device *d)
{
	return meter_find(m, d->devnum);
}

const char *meter_source(const Meter *m, const Device *d)
{
	return meter_counts(m, d) ? "ebpf" : "device counters";
}
