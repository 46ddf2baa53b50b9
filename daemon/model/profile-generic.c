/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "model/energy-fit.h"
#include "model/profile.h"

/* The profile of a drive that nobody has measured, from its kind and what it says of itself. All of
 * it is estimated with care: rated is a maximum, so that the sum of the caps holds even where the
 * shape is wrong.
 *
 * Any NVMe drive: rated is the highest maximum among its power states, 25 W (the U.2 slot) where it
 * gives none. Idle is 30 % of rated (PM9A3 36 %, PM1725 27 % of theirs), but below every
 * operational state. Speeds are those of a PCIe 3.0 x4 drive in the middle of its kind.
 *
 * Any SATA SSD: 5 W and 1.2 W, 500 MB/s (S4500 to S4620 say 3.9 to 5.6 W and 1.0 to 1.4 W). Slumber
 * saves what it saves on the one drive that was measured, a Samsung 860 EVO (0.15 W and 0.3 s, Xie
 * et al., HotStorage 2024), and not that study's half of idle, which would be 0.6 W here: a saving
 * that is not there would break a budget.
 *
 * Any HDD: 11 W and 7 W (Constellation ES.2: 10.8 and 7.0 W), 150 MB/s, 13 ms an IO; in standby
 * 1.5 W, 15 s back and 30 W meanwhile (24 to 32 W are drawn for 13 to 15 s at start). No source
 * tells what its link alone draws, so that none is said to be saved by it.
 *
 * The watts above idle at each point are a share of what is left up to rated after the error. */
#define GENERIC_ERROR  0.25
#define SLUMBER_W      0.15
#define SLUMBER_BACK_S 0.3

typedef struct Shape {
	unsigned depth, chunk_kib;
	Direction direction;
	Pattern pattern;
	double share; /* of the dynamic watts */
	double mb_s;
} Shape;

static const Shape nvme_shapes[] = {
	{ 64, 4, READ_IO, RANDOM_IO, 0.65, 2000 },
	{ 4, 4, READ_IO, RANDOM_IO, 0.15, 180 },
	{ 1, 4, READ_IO, RANDOM_IO, 0.05, 45 },
	{ 64, 256, READ_IO, RANDOM_IO, 0.85, 3000 },
	{ 1, 256, READ_IO, RANDOM_IO, 0.45, 1300 },
	{ 64, 256, READ_IO, SEQUENTIAL_IO, 0.85, 3200 },
	{ 1, 256, READ_IO, SEQUENTIAL_IO, 0.55, 1800 },
	{ 64, 4, READ_IO, SEQUENTIAL_IO, 0.65, 2000 },
	{ 1, 4, READ_IO, SEQUENTIAL_IO, 0.1, 200 },
	{ 64, 256, WRITE_IO, RANDOM_IO, 1, 1000 },
	{ 64, 4, WRITE_IO, RANDOM_IO, 0.52, 400 },
	{ 1, 256, WRITE_IO, RANDOM_IO, 0.68, 600 },
	{ 1, 4, WRITE_IO, RANDOM_IO, 0.3, 200 },
	{ 64, 256, WRITE_IO, SEQUENTIAL_IO, 1, 2000 },
	{ 1, 256, WRITE_IO, SEQUENTIAL_IO, 0.65, 1100 },
	{ 64, 4, WRITE_IO, SEQUENTIAL_IO, 0.75, 1300 },
	{ 1, 4, WRITE_IO, SEQUENTIAL_IO, 0.2, 200 },
};

static const Shape ssd_shapes[] = {
	{ 32, 4, READ_IO, RANDOM_IO, 0.5, 290 },
	{ 1, 4, READ_IO, RANDOM_IO, 0.15, 35 },
	{ 32, 256, READ_IO, RANDOM_IO, 0.75, 490 },
	{ 1, 256, READ_IO, RANDOM_IO, 0.6, 350 },
	{ 32, 256, READ_IO, SEQUENTIAL_IO, 0.75, 500 },
	{ 1, 4, READ_IO, SEQUENTIAL_IO, 0.3, 110 },
	{ 32, 256, WRITE_IO, RANDOM_IO, 1, 300 },
	{ 32, 4, WRITE_IO, RANDOM_IO, 0.55, 130 },
	{ 1, 256, WRITE_IO, RANDOM_IO, 0.85, 240 },
	{ 1, 4, WRITE_IO, RANDOM_IO, 0.4, 78 },
	{ 32, 256, WRITE_IO, SEQUENTIAL_IO, 1, 450 },
	{ 1, 4, WRITE_IO, SEQUENTIAL_IO, 0.35, 110 },
};

static const Shape hdd_shapes[] = {
	{ 32, 4, READ_IO, RANDOM_IO, 1, 0.7 },
	{ 1, 4, READ_IO, RANDOM_IO, 0.55, 0.31 },
	{ 32, 256, READ_IO, RANDOM_IO, 1, 34 },
	{ 1, 256, READ_IO, RANDOM_IO, 0.6, 18 },
	{ 32, 256, READ_IO, SEQUENTIAL_IO, 0.6, 150 },
	{ 1, 256, READ_IO, SEQUENTIAL_IO, 0.5, 110 },
	{ 32, 4, WRITE_IO, RANDOM_IO, 0.9, 0.7 },
	{ 1, 4, WRITE_IO, RANDOM_IO, 0.5, 0.3 },
	{ 32, 256, WRITE_IO, RANDOM_IO, 0.9, 34 },
	{ 1, 256, WRITE_IO, RANDOM_IO, 0.55, 18 },
	{ 32, 256, WRITE_IO, SEQUENTIAL_IO, 0.6, 150 },
	{ 1, 256, WRITE_IO, SEQUENTIAL_IO, 0.5, 110 },
};

static const struct Kind {
	const Shape *shapes;
	size_t n_shapes;
	double rated_w, idle_w;
} kinds[_KIND_MAX] = {
	[KIND_NVME] = { nvme_shapes, ELEMENTSOF(nvme_shapes), 25, 7.5 },
	[KIND_SATA_SSD] = { ssd_shapes, ELEMENTSOF(ssd_shapes), 5, 1.2 },
	[KIND_HDD] = { hdd_shapes, ELEMENTSOF(hdd_shapes), 11, 7 },
};

static void take_states(Profile *p, const Descriptor *d)
{
	double highest_w = 0, lowest_w = INFINITY;

	for (unsigned i = 0; i < MIN(d->n_states, (unsigned)PROFILE_STATES_MAX); i++) {
		const PowerState *ps = &d->states[i];

		/* 0 W: not reported (NVMe base specification, Maximum Power) */
		if (!ps->present || !(ps->max_w > 0) || !isfinite(ps->max_w))
			continue;
		p->states[i] = *ps;
		p->states[i].estimated = true;
		p->n_states = i + 1;
		if (ps->operational) {
			highest_w = MAX(highest_w, ps->max_w);
			lowest_w = MIN(lowest_w, ps->max_w);
		}
	}
	if (highest_w > 0) {
		p->rated_w = highest_w;
		p->idle_w = MIN(0.3 * highest_w, 0.9 * lowest_w);
	}
}

static void add_conditions(Profile *p)
{
	p->conditions[CONDITION_STANDBY_Z] = (ConditionPower){
		.present = true,
		.estimated = true,
		.watts = 1.5,
		.enter_s = 3,
		.recovery_s = 15,
		.wake_w = 30,
		.wake_s = 15,
	};
	p->rated_cycles_start = 50000;
}

static void add_link(Profile *p)
{
	p->link_saving_w = SLUMBER_W;
	p->link_recovery_s = SLUMBER_BACK_S;
	p->estimated_figures |= FIGURE_LINK_SAVING;
}

static void add_points(Profile *p, const struct Kind *k)
{
	double dynamic_w = MAX(p->rated_w / (1 + GENERIC_ERROR) - p->idle_w, 0.1 * p->rated_w);

	for (size_t i = 0; i < k->n_shapes; i++) {
		const Shape *s = &k->shapes[i];

		p->points[i] = (Point){
			.depth = s->depth,
			.chunk_kib = s->chunk_kib,
			.direction = s->direction,
			.pattern = s->pattern,
			.watts = MIN(p->idle_w + s->share * dynamic_w, p->rated_w),
			.mb_s = s->mb_s,
			.iops = s->mb_s * 1e6 / (s->chunk_kib * 1024.0),
			.error = GENERIC_ERROR,
			.estimated = true,
		};
	}
	p->n_points = k->n_shapes;
}

int profile_generic(const Descriptor *d, Profile **ret)
{
	const struct Kind *k = &kinds[(unsigned)d->kind < _KIND_MAX ? d->kind : KIND_HDD];
	_cleanup_(profile_freep) Profile *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->name = text_printf("generic-%s", kind_name((DeviceKind)(k - kinds)));
	p->models = calloc(2, sizeof(*p->models));
	p->points = calloc(k->n_shapes, sizeof(*p->points));
	if (!p->name || !p->models || !p->points)
		return -ENOMEM;
	p->models[0] = strdup(d->model ?: "");
	if (!p->models[0])
		return -ENOMEM;
	p->kind = (DeviceKind)(k - kinds);
	p->rated_w = k->rated_w;
	p->idle_w = k->idle_w;
	p->error = GENERIC_ERROR;
	p->energy_error = NAN;
	p->estimated = true;
	p->estimated_figures = FIGURE_RATED | FIGURE_IDLE;
	if (p->kind == KIND_NVME)
		take_states(p, d);
	if (p->kind == KIND_HDD)
		add_conditions(p);
	if (p->kind == KIND_SATA_SSD)
		add_link(p);
	add_points(p, k);
	for (Direction dir = 0; dir < _DIRECTION_MAX; dir++)
		for (Pattern t = 0; t < _PATTERN_MAX; t++)
			p->energy[dir][t] = (Energy){ NAN, NAN };
	energy_fit(p);
	*ret = TAKE_PTR(p);
	return 0;
}
