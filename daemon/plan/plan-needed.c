/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "plan/plan-work.h"

static void allow(Work *w, const Unit *u, bool needed)
{
	for (size_t k = 0; k < u->n; k++)
		w->needed[u->members[k]] = needed;
}

/* How deep the unit may be put to sleep, all members together; 0: not at all. */
static unsigned depth_of(const Work *w, const Unit *u)
{
	unsigned depth = 0;

	for (size_t k = 0; k < u->n; k++) {
		size_t i = u->members[k];
		Condition c =
			stays_asleep(w, i) ? asleep_condition_of(w, i) : sleep_condition_of(w, i);

		if (c == CONDITION_ACTIVE)
			return 0;
		depth += c;
	}
	return depth;
}

/* Is the unit put to sleep, or put so deep, only where the budget cannot be held otherwise? */
static bool is_reserve(Work *w, const Unit *u)
{
	unsigned depth = depth_of(w, u), depth_then;

	allow(w, u, true);
	depth_then = depth_of(w, u);
	allow(w, u, false);
	return depth_then > depth;
}

/* Solves while the first n units of the reserve may sleep. */
static int try_needed(Work *w, const Unit *reserve, size_t n_reserve, size_t n, Solution *s,
		      double *ret_short_w)
{
	int r;

	for (size_t k = 0; k < n_reserve; k++)
		allow(w, &reserve[k], k < n);
	solution_done(s);
	r = work_set(w);
	if (r == 0)
		r = solve_groups(w, s);
	if (r == 0)
		*ret_short_w = shortfall_of(w, s);
	return r;
}

/* Lets the fewest units sleep, in their order, that leave as few watts missing as all of them
 * would. Bisection finds them, because more units never leave more watts missing. */
static int try_fewest(Work *w, const Unit *reserve, size_t n_reserve, Solution *s)
{
	double before_w = shortfall_of(w, s), least_w = 0, short_w = 0;
	size_t too_few = 0, enough = n_reserve;
	int r = try_needed(w, reserve, n_reserve, n_reserve, s, &least_w);

	if (r == 0 && !(least_w < before_w - SHORTFALL_LEAST_W))
		return try_needed(w, reserve, n_reserve, 0, s, &short_w);
	while (r == 0 && enough - too_few > 1) {
		size_t n = too_few + (enough - too_few) / 2;

		r = try_needed(w, reserve, n_reserve, n, s, &short_w);
		if (r < 0)
			return r;
		if (short_w <= least_w + SHORTFALL_LEAST_W)
			enough = n;
		else
			too_few = n;
	}
	return r < 0 ? r : try_needed(w, reserve, n_reserve, enough, s, &short_w);
}

int solve_needed(Work *w, Solution *s)
{
	_cleanup_free_ Unit *reserve = NULL;
	size_t n = 0;

	if (!(shortfall_of(w, s) > SHORTFALL_LEAST_W))
		return 0;
	reserve = calloc(w->units.n + 1, sizeof(*reserve));
	if (!reserve)
		return -ENOMEM;
	for (size_t k = 0; k < w->units.n; k++)
		if (is_reserve(w, &w->units.units[k]))
			reserve[n++] = w->units.units[k];
	if (n == 0)
		return 0;
	for (size_t k = 0; k < n; k++)
		allow(w, &reserve[k], true);
	units_sort(w, reserve, n);
	return try_fewest(w, reserve, n, s);
}
