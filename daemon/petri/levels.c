/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Multilevel aggregation and disaggregation (Horton and Leutenegger, "A multi-level solution
 * algorithm for steady-state Markov chains", 1994). Gauss-Seidel sweeps soon settle how a state
 * compares to its neighbours, and take very long to settle how far parts of the chain compare. So
 * states between which much flows are a group, and the chain of the groups tells how these compare.
 * Groups are pairs of pairs, after Notay, "An aggregation-based algebraic multigrid method", 2010:
 * they follow the rates, whose sizes in a net are decades apart. */

#include "petri/levels.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"

#define LEVEL_INSIDE  UINT32_MAX
#define NOBODY        UINT32_MAX
#define SWEEPS_BEFORE 3
#define SWEEPS_AFTER  1
#define ROUNDS        2 /* through the levels below the second, which cost little */
#define NEARLY_BEST   0.25

static void level_done(Level *l)
{
	free(l->x);
	free(l->given);
	chain_done(&l->chain);
}

void levels_done(Levels *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->of[i].group);
		free(l->of[i].arc);
		if (i > 0)
			level_done(&l->of[i]);
	}
	free(l->exact);
	*l = (Levels){};
}

/* The neighbour of each state with which it has most in common: of all that leaves it or comes to
 * it, the largest part. */
typedef struct Friends {
	uint32_t *best;
	double *part;
} Friends;

static void friends_done(Friends *f)
{
	free(f->best);
	free(f->part);
}

static double inflow_part(const Level *l, size_t s, size_t arc)
{
	return l->x[l->chain.from[arc]] * l->chain.rate[arc] / (l->x[s] * l->chain.leave[s]);
}

static void befriend(Friends *f, size_t s, size_t other, double part)
{
	if (part > f->part[s]) {
		f->part[s] = part;
		f->best[s] = (uint32_t)other;
	}
}

static int find_friends(const Level *l, Friends *f)
{
	const Chain *c = &l->chain;

	f->best = malloc((c->n + 1) * sizeof(*f->best));
	f->part = calloc(c->n + 1, sizeof(*f->part));
	if (!f->best || !f->part)
		return -ENOMEM;
	memset(f->best, 0xff, c->n * sizeof(*f->best));
	for (size_t s = 0; s < c->n; s++)
		for (size_t k = c->row[s]; k < c->row[s + 1]; k++) {
			befriend(f, s, c->from[k], inflow_part(l, s, k));
			befriend(f, c->from[k], s, c->rate[k] / c->leave[c->from[k]]);
		}
	return 0;
}

/* The state's best friend, or where that is taken one that is nearly as good; or NOBODY. */
static uint32_t free_friend(const Level *l, const Friends *f, size_t s)
{
	const Chain *c = &l->chain;
	double best = NEARLY_BEST * f->part[s];
	uint32_t found = f->best[s];

	if (found != NOBODY && l->group[found] == NOBODY)
		return found;
	found = NOBODY;
	for (size_t k = c->row[s]; k < c->row[s + 1]; k++) {
		double part = inflow_part(l, s, k);

		if (l->group[c->from[k]] == NOBODY && part > best) {
			best = part;
			found = c->from[k];
		}
	}
	return found;
}

/* Who finds nobody joins the group of the best friend, so that no group is of one. Returns how many
 * there are in *ret_n. */
static int pair_up(Level *l, size_t *ret_n)
{
	_cleanup_(friends_done) Friends f = {};
	size_t n = 0;
	int r = find_friends(l, &f);

	l->group = malloc((l->chain.n + 1) * sizeof(*l->group));
	if (r < 0 || !l->group)
		return -ENOMEM;
	memset(l->group, 0xff, l->chain.n * sizeof(*l->group));
	for (size_t s = 0; s < l->chain.n; s++) {
		uint32_t other;

		if (l->group[s] != NOBODY)
			continue;
		l->group[s] = (uint32_t)n; /* nobody is paired with oneself */
		other = free_friend(l, &f, s);
		if (other == NOBODY && f.best[s] != NOBODY) {
			l->group[s] = l->group[f.best[s]];
			continue;
		}
		if (other != NOBODY)
			l->group[other] = (uint32_t)n;
		n++;
	}
	*ret_n = n;
	return 0;
}

/* The states by their groups: those of group g are list[start[g]] to list[start[g + 1]]. */
static void sort_by_group(const Level *l, size_t n_groups, size_t *start, uint32_t *list)
{
	for (size_t s = 0; s < l->chain.n; s++)
		start[l->group[s] + 2]++;
	for (size_t g = 0; g < n_groups; g++)
		start[g + 2] += start[g + 1];
	for (size_t s = 0; s < l->chain.n; s++)
		list[start[l->group[s] + 1]++] = (uint32_t)s;
}

/* An arc into the group g, from another one: one for all arcs between the states of the two. */
static uint32_t arc_from(Chain *groups, uint32_t from, uint32_t g, size_t first, uint32_t *at)
{
	size_t end = groups->row[g + 1];

	if (from == g)
		return LEVEL_INSIDE;
	if (at[from] < first || at[from] >= end || groups->from[at[from]] != from) {
		groups->from[end] = from;
		at[from] = (uint32_t)end;
		groups->row[g + 1]++;
	}
	return at[from];
}

/* The chain of n groups without its rates, in ret. */
static int make_coarser(Level *l, size_t n, Level *ret)
{
	const Chain *c = &l->chain;
	_cleanup_free_ size_t *start = calloc(n + 2, sizeof(*start));
	_cleanup_free_ uint32_t *list = calloc(c->n + 1, sizeof(*list)),
				*at = calloc(n + 1, sizeof(*at));
	int r = chain_new(n, c->row[c->n], &ret->chain);

	l->arc = calloc(c->row[c->n] + 1, sizeof(*l->arc));
	ret->x = calloc(n + 1, sizeof(*ret->x));
	ret->given = calloc(n + 1, sizeof(*ret->given));
	if (r < 0 || !start || !list || !at || !l->arc || !ret->x || !ret->given)
		return -ENOMEM;
	sort_by_group(l, n, start, list);
	for (uint32_t g = 0; g < n; g++) {
		size_t first = ret->chain.row[g];

		ret->chain.row[g + 1] = first;
		for (size_t i = start[g]; i < start[g + 1]; i++)
			for (size_t k = c->row[list[i]]; k < c->row[list[i] + 1]; k++)
				l->arc[k] =
					arc_from(&ret->chain, l->group[c->from[k]], g, first, at);
	}
	return 0;
}

/* The groups' shares and rates as x weighs their states. */
static void weigh(const Level *l, Level *groups)
{
	const Chain *c = &l->chain;
	Chain *g = &groups->chain;

	memset(groups->x, 0, g->n * sizeof(*groups->x));
	memset(g->leave, 0, g->n * sizeof(*g->leave));
	memset(g->rate, 0, g->row[g->n] * sizeof(*g->rate));
	for (size_t s = 0; s < c->n; s++) {
		groups->x[l->group[s]] += l->x[s];
		for (size_t k = c->row[s]; k < c->row[s + 1]; k++)
			if (l->arc[k] != LEVEL_INSIDE)
				g->rate[l->arc[k]] += l->x[c->from[k]] * c->rate[k];
	}
	for (size_t k = 0; k < g->row[g->n]; k++) {
		g->rate[k] /= groups->x[g->from[k]];
		g->leave[g->from[k]] += g->rate[k];
	}
	memcpy(groups->given, groups->x, g->n * sizeof(*groups->x));
}

/* Groups of the level's states, in l->group: pairs, and pairs of those. */
static int pair_twice(Level *l, size_t *ret_n)
{
	Level pairs = {};
	size_t n;
	int r = pair_up(l, &n);

	if (r >= 0)
		r = make_coarser(l, n, &pairs);
	if (r >= 0) {
		weigh(l, &pairs);
		r = pair_up(&pairs, ret_n);
	}
	for (size_t s = 0; r >= 0 && s < l->chain.n; s++)
		l->group[s] = pairs.group[l->group[s]];
	free(l->arc);
	l->arc = NULL;
	free(pairs.group);
	level_done(&pairs);
	return r;
}

static int add_level(Levels *l)
{
	Level *last = &l->of[l->n - 1];
	size_t n;
	int r = l->n < LEVELS_MAX ? pair_twice(last, &n) : -E2BIG;

	if (r < 0)
		return r;
	r = make_coarser(last, n, &l->of[l->n++]);
	if (r >= 0)
		weigh(last, &l->of[l->n - 1]);
	return r;
}

int levels_new(const Chain *c, double *x, Levels *ret)
{
	_cleanup_(levels_done) Levels l = { .of = { { .chain = *c, .x = x } }, .n = 1 };
	size_t last;
	int r = 0;

	while (r >= 0 && l.of[l.n - 1].chain.n > EXACT_MAX)
		r = add_level(&l);
	if (r < 0)
		return r;
	last = l.of[l.n - 1].chain.n;
	l.exact = calloc(last * last + 1, sizeof(*l.exact));
	if (!l.exact)
		return -ENOMEM;
	*ret = l;
	l = (Levels){};
	return 0;
}

static void sweeps(Level *l, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		chain_sweep(&l->chain, l->x);
}

/* Scales the states of each group to what the group was found to have. */
static void spread(Level *l, Level *groups)
{
	for (size_t g = 0; g < groups->chain.n; g++)
		groups->given[g] = groups->x[g] / groups->given[g];
	for (size_t s = 0; s < l->chain.n; s++)
		l->x[s] *= groups->given[l->group[s]];
}

static void cycle(Levels *l, size_t i)
{
	Level *this = &l->of[i];

	if (i + 1 == l->n) {
		chain_solve_exactly(&this->chain, l->exact, this->x);
		return;
	}
	sweeps(this, SWEEPS_BEFORE);
	weigh(this, this + 1);
	for (unsigned k = 0; k < (i == 0 ? 1 : ROUNDS); k++)
		cycle(l, i + 1);
	spread(this, this + 1);
	sweeps(this, SWEEPS_AFTER);
}

void levels_cycle(Levels *l)
{
	cycle(l, 0);
	chain_normalize(l->of[0].x, l->of[0].chain.n);
}
