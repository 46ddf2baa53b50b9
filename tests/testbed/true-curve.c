/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "true-curve.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define LIMITS        64 /* steps of an NVMe power limit; the planner's are among them */
#define ONE_AT_A_TIME 0  /* as a depth: not by nr_requests, but by BFQ */
#define LADDER_MAX    24
#define LEAST_MB_S    1e-9 /* of who serves: a link that has anything to carry is awake */

typedef struct Ladder {
	uint64_t value[LADDER_MAX];
	size_t n;
} Ladder;

static void climb(Ladder *l, uint64_t from, uint64_t below)
{
	for (uint64_t v = from; v < below && l->n < LADDER_MAX; v *= 2)
		l->value[l->n++] = v;
}

static int add_option(TrueCurve *c, const SimRegisters *r)
{
	TrueOption *o = ARRAY_GROW(c->options, c->n_options);

	if (!o)
		return -ENOMEM;
	*o = (TrueOption){ .registers = *r };
	return 0;
}

/* Adds each option that there is once more for each value. */
static int vary(TrueCurve *c, SimRegister reg, const Ladder *l)
{
	int r = 0;

	for (size_t i = 0, n = c->n_options; i < n; i++)
		for (size_t k = 0; r >= 0 && k < l->n; k++) {
			SimRegisters regs = c->options[i].registers;

			if (reg == SIM_NR_REQUESTS && l->value[k] == ONE_AT_A_TIME) {
				regs.value[SIM_SCHEDULER] = SIM_BFQ;
				regs.value[SIM_STRICT_GUARANTEES] = 1;
			} else {
				regs.value[reg] = l->value[k];
			}
			r = add_option(c, &regs);
		}
	return r;
}

static int vary_states(TrueCurve *c, const Profile *p)
{
	Ladder l = {};

	for (unsigned s = 0; s < p->n_states && l.n < LADDER_MAX; s++)
		if (p->states[s].present && p->states[s].operational)
			l.value[l.n++] = s;
	return vary(c, SIM_POWER_STATE, &l);
}

static int vary_depth(TrueCurve *c, bool nvme)
{
	Ladder l = {};

	if (nvme)
		l.value[l.n++] = ONE_AT_A_TIME;
	climb(&l, 1, nvme ? 1024 : 32);
	return vary(c, nvme ? SIM_NR_REQUESTS : SIM_QUEUE_DEPTH, &l);
}

static int vary_chunk(TrueCurve *c, const Mix *m)
{
	double reads = m->read_share > 0 ? m->read_kib : 0;
	double writes = m->read_share < 1 ? m->write_kib : 0;
	Ladder l = {};

	climb(&l, 4, (uint64_t)fmax(reads, writes));
	return vary(c, SIM_MAX_SECTORS_KB, &l);
}

/* With nothing else set. */
static int add_limits(TrueCurve *c, const Profile *p)
{
	SimRegisters r = c->options[0].registers;
	double least_w = p->rated_w;

	for (unsigned s = 0; s < p->n_states; s++)
		if (p->states[s].present && p->states[s].operational)
			least_w = fmin(least_w, p->states[s].max_w);
	for (unsigned i = 0; i < LIMITS; i++) {
		double w = least_w + i * (p->rated_w - least_w) / LIMITS;

		r.value[SIM_POWER_LIMIT] = 2U << 16 | (unsigned)lround(w * 100);
		if (add_option(c, &r) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* The simulated joules of an IO are other ones where io.cost is on. */
static int vary_pacing(TrueCurve *c)
{
	int r = 0;

	for (size_t i = 0, n = c->n_options; r >= 0 && i < n; i++) {
		SimRegisters regs = c->options[i].registers;

		regs.cost = (SimCost){ .enabled = 1 }; /* that lets everything through */
		r = add_option(c, &regs);
	}
	return r;
}

static int list_options(TrueCurve *c)
{
	const Profile *p = c->device->nature.profile;
	bool nvme = p->kind == KIND_NVME;
	Ladder link = { { SIM_LINK_MED_POWER_WITH_DIPM }, 1 };
	SimRegisters as_found;
	int r;

	sim_registers_init(&as_found, p->kind);
	r = add_option(c, &as_found);
	if (r >= 0)
		r = nvme ? vary_states(c, p) : vary(c, SIM_LINK, &link);
	if (r >= 0)
		r = vary_depth(c, nvme);
	if (r >= 0)
		r = vary_chunk(c, &c->device->nature.workload->mix);
	if (r >= 0 && c->device->power_limit)
		r = add_limits(c, p);
	return r < 0 ? r : vary_pacing(c);
}

static TruePoint ask_physics(const TrueCurve *c, TrueOption *o, double family_error, double mb_s)
{
	const SimNature *n = &c->device->nature;
	SimStream work[_SIM_WORK_MAX] = { [SIM_OWN] = { n->workload->mix, mb_s } };
	SimMoment m = { &o->registers, family_error, &o->forecast };
	SimRates rates;

	sim_rates(n, &m, work, &rates);
	return (TruePoint){ rates.mb_s, rates.watts };
}

/* Without IO, over all settings, conditions and power states, those that serve no IO included. */
static double least_watts(const TrueCurve *c)
{
	const SimDevice *d = c->device;
	bool nvme = d->nature.profile->kind == KIND_NVME;
	unsigned all = nvme ? sim_device_power_states(d->nature.profile)
			    : sim_device_conditions(d->nature.profile);
	double least_w = INFINITY;

	for (unsigned i = 0; i < 32; i++) {
		TrueOption o = { .registers = c->options[0].registers };

		o.registers.value[nvme ? SIM_POWER_STATE : SIM_CONDITION] = i;
		if (all >> i & 1)
			least_w = fmin(least_w, ask_physics(c, &o, 0, 0).watts);
	}
	for (size_t i = 0; i < c->n_options; i++)
		least_w = fmin(least_w, ask_physics(c, &c->options[i], 0, 0).watts);
	return least_w;
}

int true_curve_init(TrueCurve *c, SimDevice *device)
{
	int r;

	*c = (TrueCurve){ .device = device };
	r = list_options(c);
	if (r < 0)
		return r;
	c->scratch = calloc(2 * c->n_options + 1, sizeof(TruePoint));
	c->awake.points = calloc(2 * c->n_options + 1, sizeof(TruePoint));
	c->least_w = least_watts(c);
	return c->scratch && c->awake.points ? 0 : -ENOMEM;
}

void true_curve_done(TrueCurve *c)
{
	free(c->options);
	free(c->scratch);
	free(c->awake.points);
}

static int compare_points(const void *a, const void *b)
{
	const TruePoint *x = a, *y = b;

	if (x->mb_s != y->mb_s)
		return x->mb_s < y->mb_s ? -1 : 1;
	return x->watts < y->watts ? -1 : x->watts > y->watts;
}

static bool above_chord(const TruePoint *a, const TruePoint *b, const TruePoint *c)
{
	return (b->watts - a->watts) * (c->mb_s - a->mb_s) >=
	       (c->watts - a->watts) * (b->mb_s - a->mb_s);
}

/* Andrew's monotone chain, of points in order. What gives no more is left out. */
static void hull_of(const TruePoint *sorted, size_t n, TrueHull *ret)
{
	TruePoint *h = ret->points;

	ret->n = 0;
	for (size_t i = 0; i < n; i++) {
		if (ret->n && sorted[i].mb_s <= h[ret->n - 1].mb_s)
			continue;
		while (ret->n > 1 && above_chord(&h[ret->n - 2], &h[ret->n - 1], &sorted[i]))
			ret->n--;
		h[ret->n++] = sorted[i];
	}
}

void true_curve_advance(TrueCurve *c, uint64_t now_us)
{
	TruePoint found, idle;
	double family_error;
	size_t n = 0;

	if (c->awake.n && now_us < c->until_us)
		return;
	family_error = sim_nature_family_error(&c->device->nature, now_us, &c->until_us);
	for (size_t i = 0; i < c->n_options; i++) {
		c->scratch[n++] = ask_physics(c, &c->options[i], family_error, LEAST_MB_S);
		c->scratch[n++] = ask_physics(c, &c->options[i], family_error, INFINITY);
	}
	idle = c->scratch[0];
	found = c->scratch[1];
	c->full_mb_s = found.mb_s;
	c->joules_per_mb = found.mb_s > 0 ? (found.watts - idle.watts) / found.mb_s : 0;
	qsort(c->scratch, n, sizeof(*c->scratch), compare_points);
	hull_of(c->scratch, n, &c->awake);
}

double true_curve_demand(const TrueCurve *c, uint64_t from_us, uint64_t to_us, double *ret_most)
{
	const SimNature *n = &c->device->nature;
	double mb = 0, most = 0;

	for (uint64_t t_us = from_us, until_us; t_us < to_us; t_us = until_us) {
		double mb_s = fmin(sim_nature_demand(n, t_us, &until_us), c->full_mb_s);

		until_us = MIN(until_us, to_us);
		mb += mb_s * (double)(until_us - t_us) / (double)(to_us - from_us);
		most = fmax(most, mb_s);
	}
	*ret_most = most;
	return mb;
}

double true_hull_watts(const TrueHull *h, double mb_s)
{
	for (size_t k = 1; k < h->n; k++) {
		TruePoint from = h->points[k - 1], to = h->points[k];

		if (mb_s <= to.mb_s)
			return from.watts +
			       (to.watts - from.watts) * (mb_s - from.mb_s) / (to.mb_s - from.mb_s);
	}
	return h->points[h->n - 1].watts;
}
