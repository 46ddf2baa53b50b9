/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "meter/meter.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "meter/meter-bpf.h"
#include "meter/meter-figures.h"

typedef struct Watched {
	dev_t devnum;
	bool has_energy;
	Energy energy[_DIRECTION_MAX][_PATTERN_MAX];
} Watched;

struct Meter {
	MeterBpf *bpf; /* NULL: all by their own counters */
	Watched *watched;
	size_t n_watched;
};

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
	free(m->watched);
	free(m);
	return NULL;
}

static Watched *find(const Meter *m, const Device *d)
{
	for (size_t i = 0; i < m->n_watched; i++)
		if (m->watched[i].devnum == d->devnum)
			return &m->watched[i];
	return NULL;
}

static void take_energies(Watched *w, const Profile *p)
{
	w->has_energy = p != NULL;
	if (!p)
		return;
	memcpy(w->energy, p->energy, sizeof(w->energy));
	for (int i = 0; i < _DIRECTION_MAX * _PATTERN_MAX; i++) {
		const Energy *e = &w->energy[i / _PATTERN_MAX][i % _PATTERN_MAX];

		w->has_energy &= isfinite(e->io_j) && isfinite(e->page_j);
	}
}

static int watch(Meter *m, const Device *d)
{
	Watched *w = find(m, d);
	int r = meter_bpf_add(m->bpf, d->devnum);

	if (r < 0)
		return r;
	w = w ?: ARRAY_GROW(m->watched, m->n_watched);
	if (!w) {
		meter_bpf_remove(m->bpf, d->devnum);
		return -ENOMEM;
	}
	w->devnum = d->devnum;
	take_energies(w, d->profile);
	return 0;
}

int meter_add(Meter *m, const Device *d)
{
	int r = -EOPNOTSUPP;

	if (m->bpf && d->devnum) {
		r = watch(m, d);
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
	Watched *w = find(m, d);

	if (!w)
		return;
	meter_bpf_remove(m->bpf, d->devnum);
	*w = m->watched[--m->n_watched];
}

static int read_bpf(const Meter *m, const Watched *w, DeviceCounters *ret)
{
	uint64_t now = clock_now_us(&clock_boottime);
	struct meter_counters c;
	int r = meter_bpf_read(m->bpf, w->devnum, &c);

	if (r < 0)
		return r;
	ret->time_us = now;
	meter_figures(&c, w->has_energy ? w->energy : NULL, ret);
	return 0;
}

int meter_read(Meter *m, Device *d, DeviceCounters *ret)
{
	const Watched *w = find(m, d);

	if (w)
		return read_bpf(m, w, ret);
	return d->ops->counters ? d->ops->counters(d, ret) : -EOPNOTSUPP;
}

const char *meter_source(const Meter *m, const Device *d)
{
	return find(m, d) ? "ebpf" : "device counters";
}
