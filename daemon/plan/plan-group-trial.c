/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A group that is solved by itself does not know what its watts are worth to others. What it might
 * leave to them is tried, and the best stays. */

#include <errno.h>
#include <math.h>

#include "plan/plan-work.h"

/* So many are tried for the watts of groups. */
#define PRICES 5
/* What a price or a whole watt of a limit cannot tell is felt among so few units: for each, so many
 * shares are tried. */
#define FEW_UNITS 8
#define STEPS     25
/* What is worth less than so much more is no better: equal plans do not take turns. */
#define MORE_WORTH 1e-6
/* A part of a floor is found to about a millionth. */
#define PROMISE_LEAST 1e-5
/* A pool in several groups is planned so often, for what the others of it can use. */
#define ROUNDS 3

typedef struct Picks {
	Pick *picks;
	bool *pinned;
} Picks;

static void picks_done(Picks *p)
{
	free(p->picks);
	free(p->pinned);
}

static int picks_new(size_t n, Picks *ret)
{
	*ret = (Picks){ calloc(n + 1, sizeof(*ret->picks)), calloc(n + 1, sizeof(*ret->pinned)) };
	return ret->picks && ret->pinned ? 0 : -ENOMEM;
}

static void swap_picks(Work *w, Picks *p)
{
	Picks in_work = { w->picks, w->pinned };

	w->picks = p->picks;
	w->pinned = p->pinned;
	*p = in_work;
}

/* A step gives what it gives, though no more than a part of that was asked of it. */
static double share_given(const Pick *p)
{
	return MAX(p->share, p->piece.lo_share);
}

/* What the unit can use: the least of its members' shares or, where the sum counts, that of it. */
static double usable_share(const Work *w, const Unit *unit)
{
	double least = INFINITY, sum = 0, asked = 0;

	for (size_t m = 0; m < unit->n; m++) {
		const Pick *p = &w->picks[unit->members[m]];

		least = MIN(least, share_given(p));
		sum += p->asked_mb_s * MIN(share_given(p), 1.0);
		asked += p->asked_mb_s;
	}
	return unit->spreads && asked > 0 ? sum / asked : least;
}

/* What the picks are worth, where most pools are as slow as their slowest member in whatever group.
 */
static double worth_of_picks(const Work *w)
{
	double sum = 0;

	for (size_t u = 0; u < w->units.n; u++) {
		const Unit *unit = &w->units.units[u];
		double usable = usable_share(w, unit);

		for (size_t m = 0; m < unit->n; m++) {
			size_t i = unit->members[m];

			sum += worth_of(w, i, MIN(usable, 1.0) * w->picks[i].asked_mb_s);
		}
	}
	return sum;
}

/* By how much the picks miss the shares that were promised. */
static double missed_shares(const Work *w)
{
	double sum = 0;

	for (size_t u = 0; u < w->units.n; u++) {
		const Unit *unit = &w->units.units[u];
		double usable = usable_share(w, unit);

		for (size_t m = 0; m < unit->n; m++)
			sum += MAX(w->terms[unit->members[m]].floor_share - usable, 0.0);
	}
	return sum;
}

/* What is tried. */
typedef struct Trial {
	double price; /* of a group's watt */
	const Unit
		*first; /* gets that share before the others get more than theirs; NULL: nobody */
	double share;
} Trial;

static int solve_trial(Work *w, const Trial *t, Solution *ret)
{
	Terms *first = t->first ? &w->terms[t->first->members[0]] : NULL;
	double promised = first ? first->floor_share : 0, bound_value;
	int r;

	if (first)
		first->floor_share = MAX(promised, t->share);
	r = solve_at_price(w, t->price, &bound_value, ret);
	if (first)
		first->floor_share = promised;
	return r;
}

/* Solves again; the better one stays, which misses no more of what was promised. *ret_rate: what a
 * watt more is worth then. */
static int try_trial(Work *w, const Trial *t, Solution *s, double *ret_rate)
{
	_cleanup_(solution_done) Solution other = {};
	_cleanup_(picks_done) Picks present = {};
	double short_w = shortfall_of(w, s), less_w, worth = worth_of_picks(w);
	double missed = missed_shares(w);
	int r = picks_new(w->in->n_devices, &present);

	if (r < 0)
		return r;
	swap_picks(w, &present);
	r = solve_trial(w, t, &other);
	less_w = r < 0 ? 0 : short_w - shortfall_of(w, &other);
	*ret_rate = other.rate;
	if (r < 0 || less_w < -SHORTFALL_LEAST_W ||
	    (less_w <= SHORTFALL_LEAST_W && (worth_of_picks(w) <= worth * (1 + MORE_WORTH) ||
					     missed_shares(w) > missed + PROMISE_LEAST))) {
		swap_picks(w, &present);
		return MIN(r, 0);
	}
	solution_done(s);
	*s = other;
	other = (Solution){};
	return 0;
}

static int try_price(Work *w, double price, Solution *s, double *ret_rate)
{
	return try_trial(w, &(Trial){ .price = price }, s, ret_rate);
}

/* A group that spends its last watt may keep it from others to whom it is worth more: each watt of
 * a group is charged what one more would be worth to them. The more is charged the less it is worth
 * then, so that bisection finds the price that is what a watt is worth. */
static int solve_charged(Work *w, Solution *s)
{
	double lo = 0, hi = s->rate, rate;
	int r = try_price(w, hi, s, &rate);

	for (int k = 0; r >= 0 && k < PRICES; k++) {
		double price = (lo + hi) / 2;

		r = try_price(w, price, s, &rate);
		*(rate > price ? &lo : &hi) = price;
	}
	return r;
}

static void bind_unit(Work *w, const Unit *unit, double share)
{
	for (size_t m = 0; m < unit->n; m++)
		w->bounds[unit->members[m]] = share;
}

static void unbound(Work *w)
{
	for (size_t i = 0; i < w->in->n_devices; i++)
		w->bounds[i] = INFINITY;
}

/* The members of a pool that lie in several groups, each planned by itself, got shares of their
 * own: what is above the least of them is of no use. */
static void bind_pools(Work *w)
{
	for (size_t u = 0; u < w->units.n; u++) {
		const Unit *unit = &w->units.units[u];
		double usable = usable_share(w, unit);

		if (unit->n > 1 && usable > 0 && !unit->spreads)
			bind_unit(w, unit, usable);
	}
}

static double floor_of_unit(const Work *w, const Unit *unit)
{
	double floor = 0;

	for (size_t m = 0; m < unit->n; m++) {
		const Terms *t = &w->terms[unit->members[m]];

		floor = MAX(floor, t->floor_mb_s > 0 ? 1 : t->floor_share);
	}
	return floor;
}

/* A floor in MB/s may already be kept in part alone. */
static bool any_floor_mb_s(const Work *w)
{
	for (size_t i = 0; i < w->in->n_devices; i++)
		if (w->terms[i].floor_mb_s > 0)
			return true;
	return false;
}

/* Who is given less leaves more to others of its group: what that is worth to them is seen when
 * they are solved. The group that is solved first takes all that it can use, even so: that share is
 * also tried as what its unit gets before. */
static int try_shares(Work *w, const Unit *unit, Solution *s)
{
	double best = w->bounds[unit->members[0]], rate;
	int r = 0;

	for (int k = (int)ceil(STEPS * floor_of_unit(w, unit)); r >= 0 && k < STEPS; k++) {
		double worth = worth_of_picks(w);

		bind_unit(w, unit, (double)k / STEPS);
		r = try_price(w, 0, s, &rate);
		if (r >= 0 && !any_floor_mb_s(w))
			r = try_trial(w, &(Trial){ 0, unit, (double)k / STEPS }, s, &rate);
		if (worth_of_picks(w) > worth)
			best = (double)k / STEPS;
	}
	bind_unit(w, unit, best);
	return r;
}

static int solve_few(Work *w, Solution *s)
{
	int r = 0;

	for (size_t u = 0; r >= 0 && u < w->units.n; u++)
		r = try_shares(w, &w->units.units[u], s);
	unbound(w);
	return r;
}

static int solve_bound(Work *w, Solution *s)
{
	int r = 0;

	for (int k = 0; r >= 0 && k < ROUNDS; k++) {
		double rate;

		bind_pools(w);
		r = try_price(w, 0, s, &rate);
	}
	if (r >= 0 && s->rate > 0)
		r = solve_charged(w, s);
	unbound(w);
	return r;
}

/* Does a pool lie in several groups, or in one and outside of it? */
static bool pools_straddle(const Work *w)
{
	for (size_t u = 0; u < w->units.n; u++) {
		const Unit *unit = &w->units.units[u];

		for (size_t m = 1; m < unit->n; m++)
			if (w->in->devices[unit->members[m]].group !=
			    w->in->devices[unit->members[0]].group)
				return true;
	}
	return false;
}

int solve_groups(Work *w, Solution *ret)
{
	_cleanup_(solution_done) Solution s = {};
	double bound_value = 0;
	bool pinned;
	int r;

	unbound(w);
	r = solve_at_price(w, 0, &bound_value, &s);
	pinned = r > 0;
	if (pinned && pools_straddle(w))
		r = solve_bound(w, &s);
	else if (pinned && s.rate > 0)
		r = solve_charged(w, &s);
	if (r >= 0 && pinned && w->units.n <= FEW_UNITS && shortfall_of(w, &s) <= SHORTFALL_LEAST_W)
		r = solve_few(w, &s);
	if (r < 0)
		return r;
	*ret = s;
	ret->bound_value = MAX(bound_value, s.total_value);
	s = (Solution){};
	return 0;
}
