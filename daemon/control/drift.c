/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/drift-fit.h"

#include <errno.h>
#include <math.h>

#include "control/correct.h"
#include "control/waking.h"

#define STEADY     0.03 /* from look to look: a sensor tells of a moment ago */
#define STALE_US   (2 * LOOK_US)
#define REPEATED   3 /* readings alike to the last digit may be chance */
#define PAGE_BYTES 4096.0

/* FNV-1a (Fowler, Noll, Vo). */
#define HASH_START 0xcbf29ce484222325u
#define HASH_PRIME 0x100000001b3u

void drift_close(Gauges *g)
{
	for (size_t i = 0; g->drift && i < g->n; i++)
		free(g->drift[i].fit);
	free(g->drift);
	g->drift = NULL;
}

static void mark(DriftMoment *m, uint64_t value)
{
	m->fingerprint = (m->fingerprint ^ value) * HASH_PRIME;
}

/* Energies are those of the state in which the device is not held back by hardware. */
static bool is_held_back(const Setting *s)
{
	return s->power_state > 0 || s->limit_w > 0;
}

static bool has_fresh_rates(const Managed *md, uint64_t now_us)
{
	return md->workload.rates.seconds > 0 &&
	       now_us < md->workload.counters.time_us + STALE_US + LOOK_US;
}

static void mark_device(DriftMoment *m, const Managed *md, uint64_t now_us)
{
	const Setting *s = &md->knobs.actual;

	mark(m, (uintptr_t)md);
	mark(m, s->condition);
	mark(m, s->depth);
	mark(m, s->chunk_kib);
	mark(m, s->pace_w > 0);
	if (waking_under_way(md) || is_held_back(s) ||
	    (!managed_asleep(md) && !has_fresh_rates(md, now_us)))
		m->measured_w = NAN;
}

static size_t family_of(DriftOf *of, const Profile *p)
{
	size_t i = 0;

	while (i < of->n && of->family[i] != p)
		i++;
	if (i == of->n && i < DRIFT_FAMILIES)
		of->family[of->n++] = p;
	return i;
}

/* Where a device does not tell which of its IOs were sequential, the share that is known of it
 * counts, for reads and writes alike. */
static void add_io(DriftMoment *m, size_t family, const Managed *md)
{
	const MeterRates *r = &md->workload.rates;
	const Profile *p = md->device->profile;
	double random = isnan(r->random_share) ? md->workload.mix.random_share : r->random_share;

	for (Direction d = 0; d < _DIRECTION_MAX; d++)
		for (Pattern t = 0; t < _PATTERN_MAX; t++) {
			double share = t == RANDOM_IO ? random : 1 - random;
			double ios = share * r->iops[d],
			       pages = share * r->mb_s[d] * 1e6 / PAGE_BYTES;

			m->x[drift_unknown(family, d, t, false)] += ios;
			m->x[drift_unknown(family, d, t, true)] += pages;
			m->modelled_w +=
				ios * p->energy[d][t].io_j + pages * p->energy[d][t].page_j;
		}
}

static DriftMoment moment_of(DriftOf *of, const Gauge *s, const Tools *t)
{
	DriftMoment m = { .measured_w = s->watts, .fingerprint = HASH_START };

	for_each_device(const Managed, md, t->fleet) if (gauge_covers(s, md))
	{
		size_t family = family_of(of, md->device->profile);

		mark_device(&m, md, t->now_us);
		m.x[0] += md->trust.fixed_w;
		m.modelled_w += md->trust.fixed_w;
		if (family == DRIFT_FAMILIES)
			of->too_many = true;
		else if (!managed_asleep(md))
			add_io(&m, family, md);
	}
	return m;
}

static bool has_device_of(const Profile *p, const Gauge *s, const Fleet *f)
{
	for_each_device(const Managed, md,
			f) if (md->device->profile == p && gauge_covers(s, md)) return true;
	return false;
}

/* A family of which no device is left takes what was learned beside it along. */
static void forget_the_gone(DriftOf *of, const Gauge *s, const Tools *t)
{
	for (size_t i = 0; i < of->n; i++)
		if (!has_device_of(of->family[i], s, t->fleet)) {
			free(of->fit);
			*of = (DriftOf){};
			return;
		}
}

/* Each reading counts once, and one that is old or set aside is none. One that has stayed the same
 * for longer than the draw has may be stuck. */
static bool is_believed(const DriftOf *of, const Gauge *s, uint64_t now_us)
{
	return s->watts > 0 && s->taken_us != of->taken_us && now_us < s->taken_us + STALE_US &&
	       s->health.repeated <= REPEATED + of->steady;
}

static bool is_steady(const DriftOf *of, const DriftMoment *m, uint64_t now_us)
{
	return m->fingerprint == of->last.fingerprint && now_us < of->looked_us + STALE_US &&
	       fabs(m->modelled_w - of->last.modelled_w) < STEADY * m->modelled_w;
}

/* Sensors tell of the second before, and counters too, but of another one: a moment counts if the
 * draw was the same for a while before it and in the look after it. */
static void take_moment(DriftOf *of, const DriftMoment *m, uint64_t now_us)
{
	const DriftMoment *last = &of->last;
	double weight = 1 / (last->modelled_w * last->modelled_w);
	bool steady = is_steady(of, m, now_us);

	if (steady && of->steady >= DRIFT_STEADY_LOOKS && last->measured_w > 0)
		fit_add(&of->sums, last->x, last->measured_w, weight);
	of->steady = steady ? of->steady + 1 : 0;
	of->last = *m;
}

static void look_at(DriftOf *of, const Gauge *s, bool settling, const Tools *t)
{
	double passed_s = (double)(t->now_us - of->looked_us) / USEC_PER_SEC;
	DriftMoment m;

	forget_the_gone(of, s, t);
	m = moment_of(of, s, t);
	if (settling || !(m.modelled_w > 0) || !is_believed(of, s, t->now_us))
		m.measured_w = NAN;
	of->sums.n = 1 + DRIFT_ENERGIES * of->n;
	fit_forget(&of->sums, exp(-passed_s / DRIFT_FORGOTTEN_S));
	take_moment(of, &m, t->now_us);
	of->taken_us = s->taken_us;
	of->looked_us = t->now_us;
	drift_tell(of, t->now_us);
}

void drift_look(Gauges *g, bool settling, const Tools *t)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->gauges[i].config->scope != SENSOR_OF_HOST)
			look_at(&g->drift[i], &g->gauges[i], settling, t);
	correct_bound_by_drift(g, t->fleet);
}
