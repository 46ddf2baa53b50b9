/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "plan/plan-work.h"

void units_done(Units *u)
{
	free(u->units);
	free(u->members);
}

static bool has_pool(const PlanInput *in, size_t i)
{
	return in->devices[i].pool < in->n_pools;
}

static void count_members(const PlanInput *in, Units *u)
{
	u->n = in->n_pools;
	for (size_t i = 0; i < in->n_devices; i++)
		u->units[has_pool(in, i) ? in->devices[i].pool : u->n++].n++;
}

/* Members are listed unit by unit, in the order of the input. */
static void list_members(const PlanInput *in, Units *u)
{
	size_t *next = u->members, alone = in->n_pools;

	for (size_t k = 0; k < u->n; k++) {
		u->units[k].members = next;
		next += u->units[k].n;
		u->units[k].n = 0;
	}
	for (size_t i = 0; i < in->n_devices; i++) {
		Unit *unit = &u->units[has_pool(in, i) ? in->devices[i].pool : alone++];

		u->members[unit->members - u->members + unit->n++] = i;
		unit->spreads = unit->n > 1 && in->devices[i].spreads;
	}
}

int units_list(const PlanInput *in, Units *ret)
{
	Units u = {
		.units = calloc(in->n_pools + in->n_devices + 1, sizeof(*u.units)),
		.members = calloc(in->n_devices + 1, sizeof(*u.members)),
	};

	if (!u.units || !u.members) {
		units_done(&u);
		return -ENOMEM;
	}
	count_members(in, &u);
	list_members(in, &u);
	*ret = u;
	return 0;
}

/* The watts that a sleeping device saves in the deeper condition that it may be put to. */
static double deepening_w(const Work *w, size_t i)
{
	const PlanDevice *d = &w->in->devices[i];
	Setting now = { .power_state = -1, .condition = d->current.condition }, then = now;

	then.condition = asleep_condition_of(w, i);
	return (cap_watts(d->profile, &now) - cap_watts(d->profile, &then)) * bias_of(d);
}

static void weigh(const Work *w, Unit *u)
{
	double value = 0, saved_w = 0;

	for (size_t k = 0; k < u->n; k++) {
		size_t i = u->members[k];
		const PlanDevice *d = &w->in->devices[i];
		Setting asleep = { .power_state = -1, .condition = sleep_condition_of(w, i) };
		Prediction p;

		if (stays_asleep(w, i)) {
			saved_w += deepening_w(w, i);
			continue;
		}
		predict(d->profile, &d->mix, &SETTING_AS_FOUND, &p);
		value += w->terms[i].weight * MIN(p.mb_s, MAX(d->demand_mb_s, 0.0));
		saved_w += w->free_w[i] - cap_watts(d->profile, &asleep) * bias_of(d);
		u->has_floor |= w->terms[i].floor_mb_s > 0 ||
				(w->terms[i].floor_share > 0 && d->demand_mb_s > 0);
	}
	u->loss = (value + AWAKE_WORTH) / MAX(saved_w, SHORTFALL_LEAST_W);
}

static int compare(const void *a, const void *b)
{
	const Unit *x = a, *y = b;

	if (x->has_floor != y->has_floor)
		return x->has_floor ? 1 : -1;
	if (x->loss != y->loss)
		return x->loss < y->loss ? -1 : 1;
	return x->members[0] < y->members[0] ? -1 : x->members[0] > y->members[0];
}

void units_sort(const Work *w, Unit *units, size_t n)
{
	for (size_t k = 0; k < n; k++)
		weigh(w, &units[k]);
	qsort(units, n, sizeof(*units), compare);
}
