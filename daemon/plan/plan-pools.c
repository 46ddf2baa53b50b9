/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Pools that sleep or stay awake as one. The knapsack chooses for each device by itself, so which
 * pools sleep is decided around it, by trial; the trial that misses its budget least and then is
 * worth most is kept. Of up to four pools every set is tried. More are put in order of the value
 * lost per watt saved, and the first 0, 1, 2, ... of them sleep in trial. That is a heuristic: the
 * best set need not be the first so many of that order, and with more than TRIALS pools not every
 * number is tried. How far off it may be is known: with every member free to choose by itself the
 * knapsack's bound holds for all sets. */

#include <errno.h>
#include <math.h>

#include "plan/plan-work.h"

/* The search makes so many trials at once: first over all pools, then about the best so far. */
#define TRIALS 16
/* Of so many pools, all sets are no more than TRIALS. */
#define EVERY_SET_MAX 4

/* Worth less than its bound by no more than this, a solution is the best. */
#define PROVED 1e-9

typedef struct Trial {
	size_t number; /* of pools asleep, or a bit for each pool where every set is tried */
	double short_w, value;
} Trial;

typedef struct Search {
	Work *w;
	Unit *pools; /* that may sleep, in their order */
	size_t n;
	Solution solution; /* of `last` */
	Trial last, best;
} Search;

static void search_done(Search *s)
{
	solution_done(&s->solution);
}

static int set_all(Work *w)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < w->in->n_devices; i++)
		r = work_set(w, i);
	return r;
}

static void choose(Work *w, const Unit *u, PoolChoice c)
{
	for (size_t k = 0; k < u->n; k++)
		w->pool_choice[u->members[k]] = c;
}

static int set_members(Work *w, const Unit *u)
{
	int r = 0;

	for (size_t k = 0; r == 0 && k < u->n; k++)
		r = work_set(w, u->members[k]);
	return r;
}

static bool better(const Trial *a, const Trial *b)
{
	if (fabs(a->short_w - b->short_w) > SHORTFALL_LEAST_W)
		return a->short_w < b->short_w;
	if (a->value != b->value)
		return a->value > b->value;
	return a->number < b->number;
}

static bool sleeps_in(const Search *s, size_t number, size_t pool)
{
	return s->n <= EVERY_SET_MAX ? number >> pool & 1 : pool < number;
}

/* The number of the last trial in which only the first n pools sleep. */
static size_t last_of(const Search *s, size_t n)
{
	return s->n <= EVERY_SET_MAX ? ((size_t)1 << n) - 1 : n;
}

static int try_number(Search *s, size_t number)
{
	int r = 0;

	for (size_t k = 0; r == 0 && k < s->n; k++) {
		choose(s->w, &s->pools[k], sleeps_in(s, number, k) ? POOL_ASLEEP : POOL_AWAKE);
		r = set_members(s->w, &s->pools[k]);
	}
	solution_done(&s->solution);
	if (r == 0)
		r = solve_groups(s->w, &s->solution);
	if (r < 0)
		return r;
	s->last = (Trial){ number, shortfall_of(s->w, &s->solution), s->solution.total_value };
	if (better(&s->last, &s->best))
		s->best = s->last;
	return 0;
}

/* Makes the trials from `from` to `to`, in steps that get smaller about the best. */
static int search(Search *s, size_t from, size_t to)
{
	for (;;) {
		size_t step = MAX((to - from + TRIALS - 1) / TRIALS, (size_t)1);

		for (size_t k = from;; k = MIN(k + step, to)) {
			int r = try_number(s, k);

			if (r < 0)
				return r;
			if (k == to)
				break;
		}
		if (step == 1)
			return 0;
		from = s->best.number > from + step ? s->best.number - step : from;
		to = MIN(s->best.number + step, to);
	}
}

/* A pool that has to give a floor sleeps only where the budget is missed otherwise. Starts with the
 * solution in which every member chose by itself: nothing is worth more than its bound. */
static int search_all(Search *s)
{
	double bound_value = s->solution.bound_value;
	size_t n_plain = 0;
	int r;

	units_sort(s->w, s->pools, s->n);
	while (n_plain < s->n && !s->pools[n_plain].has_floor)
		n_plain++;
	r = search(s, 0, last_of(s, n_plain));
	if (r == 0 && n_plain < s->n && s->best.short_w > 0)
		r = search(s, last_of(s, n_plain), last_of(s, s->n));
	if (r == 0 && s->last.number != s->best.number)
		r = try_number(s, s->best.number);
	if (r < 0)
		return r;
	s->solution.bound_value = MAX(bound_value, s->solution.total_value);
	s->solution.optimal = s->solution.total_value >= bound_value * (1 - PROVED);
	return 0;
}

/* Puts the pools that may sleep first in the list and returns their number. */
static size_t pick_pools(Work *w, Units *u)
{
	size_t n = 0;

	for (size_t k = 0; k < w->in->n_pools; k++) {
		size_t to_sleep = unit_to_put_asleep(w, &u->units[k]);

		choose(w, &u->units[k], to_sleep == 0 ? POOL_AWAKE : POOL_LEAVES_IT);
		if (to_sleep > 1)
			u->units[n++] = u->units[k];
	}
	return n;
}

int solve_pools(Work *w, Solution *ret)
{
	_cleanup_(search_done) Search s = { .w = w, .best = { .short_w = INFINITY } };
	_cleanup_(units_done) Units u = { 0 };
	int r;

	if (w->in->n_pools > 0) {
		r = units_list(w->in, &u);
		if (r < 0)
			return r;
		s.n = pick_pools(w, &u);
		s.pools = u.units;
	}
	r = set_all(w);
	if (r == 0)
		r = solve_groups(w, &s.solution);
	if (r == 0 && s.n > 0)
		r = search_all(&s);
	if (r < 0)
		return r;
	*ret = s.solution;
	s.solution = (Solution){ 0 };
	return 0;
}
