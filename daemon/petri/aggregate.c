/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "petri/aggregate.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/cleanup.h"

/* Iterative aggregation and disaggregation (Takahashi, 1975; Koury, McAllister and Stewart,
 * "Iterative methods for computing stationary distributions of nearly completely decomposable
 * Markov chains", 1984). Gauss-Seidel sweeps soon settle how a state compares to its neighbours,
 * and take very long to settle how far parts of the chain compare. So states whose counts of tokens
 * agree but for their lowest bits are a group; the small chain of the groups is solved exactly and
 * scales them. */
#define TOLERANCE     1e-12
#define ROUNDING      2e-15
#define IMBALANCE_MAX 1e-9
#define CYCLES_MAX    3000
#define GROUPS_MAX    300
#define RAREST        1e-200 /* times a second */
#define FAR_MORE      1e50   /* scaled down before it overflows */
#define SWEEPS_BEFORE 6
#define SWEEPS_AFTER  2

/* What is left of the error after many cycles shrinks by one factor a cycle: so often it is summed
 * up ahead as the geometric series that it is. */
#define LEAP_EVERY 12
#define LEAP_MOST  0.97 /* the factor */

typedef struct Groups {
	uint32_t *of; /* the group of each state */
	size_t n;
	double *share; /* of each group */
	double *rates; /* from each group to each */
} Groups;

static void groups_done(Groups *g)
{
	free(g->of);
	free(g->share);
	free(g->rates);
}

/* No state is taken for less likely than this: shares that are further apart than doubles can tell
 * would leave a group of states without any. */
#define LEAST 1e-30

/* Gauss-Seidel: each state in turn gets what flows in over the rate at which it is left. */
static void sweep(const Chain *c, double *x)
{
	for (size_t s = 0; s < c->n; s++) {
		double flow = 0;

		for (size_t k = c->row[s]; k < c->row[s + 1]; k++)
			flow += x[c->from[k]] * c->rate[k];
		x[s] = MAX(flow / c->leave[s], LEAST);
	}
}

static void normalize(double *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i];
	for (size_t i = 0; i < n; i++)
		x[i] /= sum;
}

/* Grassmann, Taksar and Heyman, "Regenerative analysis and steady state distributions for Markov
 * chains", 1985: the last state is taken out of the chain, its flows led past it, until one is
 * left. Nothing is subtracted, so that no digits are lost. A chain that comes back to the states
 * before one of them more rarely than doubles can tell is never there. The rates q are used up. */
static void solve_exactly(double *q, size_t n, double *x)
{
	size_t first = n - 1;

	for (; first > 0; first--) {
		double *from = q + first * n, leave = 0;

		for (size_t j = 0; j < first; j++)
			leave += from[j];
		if (leave < RAREST)
			break;
		for (size_t i = 0; i < first; i++) {
			double part = q[i * n + first] /= leave;

			for (size_t j = 0; j < first && part > 0; j++)
				q[i * n + j] += part * from[j];
		}
	}
	memset(x, 0, n * sizeof(*x));
	x[first] = 1;
	for (size_t s = first + 1; s < n; s++) {
		for (size_t i = first; i < s; i++)
			x[s] += x[i] * q[i * n + s];
		if (x[s] > FAR_MORE)
			normalize(x, s + 1);
	}
	normalize(x, n);
}

/* Fails with -E2BIG when so few bits less leave too many groups. */
static int divide_by(const Chain *c, const MarkingSet *markings, const uint32_t *list,
		     unsigned bits, Groups *g)
{
	_cleanup_(marking_set_done)
		MarkingSet coarse = { .width = markings->width, .max = GROUPS_MAX };
	_cleanup_free_ uint16_t *rest = calloc(markings->width, sizeof(*rest));
	int r = rest ? 0 : -ENOMEM;

	for (size_t i = 0; r >= 0 && i < c->n; i++) {
		const uint16_t *marking = marking_at(markings, list[i]);
		size_t group;

		for (size_t p = 0; p < markings->width; p++)
			rest[p] = marking[p] >> bits;
		r = marking_set_add(&coarse, rest, 0, &group);
		if (r >= 0)
			g->of[i] = (uint32_t)group;
	}
	g->n = coarse.n;
	return r;
}

/* A chain of few states is one of groups of one state each. */
static int divide(const Chain *c, const MarkingSet *markings, const uint32_t *list, Groups *g)
{
	int r = c->n <= GROUPS_MAX ? 0 : -E2BIG;

	g->of = calloc(c->n, sizeof(*g->of));
	if (!g->of)
		return -ENOMEM;
	g->n = c->n;
	for (size_t i = 0; r >= 0 && i < c->n; i++)
		g->of[i] = (uint32_t)i;
	for (unsigned bits = 1; r == -E2BIG && bits <= 16; bits++)
		r = divide_by(c, markings, list, bits, g);
	if (r < 0)
		return r;
	g->share = calloc(g->n, sizeof(*g->share));
	g->rates = calloc(g->n * g->n, sizeof(*g->rates));
	return g->share && g->rates ? 0 : -ENOMEM;
}

/* The chain of the groups as x weighs their states, solved; the groups scaled to its solution. */
static void solve_groups(const Chain *c, Groups *g, double *x)
{
	double solved[GROUPS_MAX];

	memset(g->share, 0, g->n * sizeof(*g->share));
	memset(g->rates, 0, g->n * g->n * sizeof(*g->rates));
	for (size_t i = 0; i < c->n; i++) {
		g->share[g->of[i]] += x[i];
		for (size_t k = c->row[i]; k < c->row[i + 1]; k++)
			g->rates[g->of[c->from[k]] * g->n + g->of[i]] += x[c->from[k]] * c->rate[k];
	}
	for (size_t i = 0; i < g->n; i++)
		for (size_t k = 0; k < g->n; k++)
			g->rates[i * g->n + k] /= g->share[i];
	solve_exactly(g->rates, g->n, solved);
	for (size_t i = 0; i < c->n; i++)
		x[i] *= solved[g->of[i]] / g->share[g->of[i]];
}

static void cycle(const Chain *c, Groups *g, double *x)
{
	for (unsigned i = 0; i < SWEEPS_BEFORE; i++)
		sweep(c, x);
	solve_groups(c, g, x);
	for (unsigned i = 0; i < SWEEPS_AFTER; i++)
		sweep(c, x);
	normalize(x, c->n);
}

static double difference(const double *x, const double *y, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += fabs(x[i] - y[i]);
	return sum;
}

/* What flows into the states and does not leave them, or the other way round, of all that flows. A
 * method that has come to rest has not thereby found the solution. */
static double imbalance(const Chain *c, const double *x)
{
	double wrong = 0, all = 0;

	for (size_t s = 0; s < c->n; s++) {
		double flow = -x[s] * c->leave[s];

		all -= flow;
		for (size_t k = c->row[s]; k < c->row[s + 1]; k++)
			flow += x[c->from[k]] * c->rate[k];
		wrong += fabs(flow);
	}
	return all > 0 ? wrong / all : 0;
}

/* A change that shrinks by the factor f each time still has change * f / (1 - f) to go; f is not
 * taken for less than 0.9, because a fast part of the error may hide a slow one. */
static bool converged(double change, double before)
{
	double f = MAX(change / before, 0.9);

	return change <= ROUNDING || (f < 1 && change * f / (1 - f) <= TOLERANCE);
}

static void leap(double *x, const double *last, size_t n, double factor)
{
	double f = MIN(factor, LEAP_MOST);

	for (size_t i = 0; i < n; i++)
		x[i] = MAX(x[i] + f / (1 - f) * (x[i] - last[i]), x[i] / 8);
	normalize(x, n);
}

static int iterate(const Chain *c, Groups *g, double *x)
{
	_cleanup_free_ double *last = calloc(c->n + 1, sizeof(*last));
	double before = INFINITY;
	unsigned calm = 0;

	if (!last)
		return -ENOMEM;
	for (unsigned i = 1; i <= CYCLES_MAX; i++) {
		double change;

		memcpy(last, x, c->n * sizeof(*x));
		cycle(c, g, x);
		change = difference(x, last, c->n);
		calm = converged(change, before) ? calm + 1 : 0;
		if (calm == 2)
			return imbalance(c, x) <= IMBALANCE_MAX ? 0 : -ETIME;
		if (i % LEAP_EVERY == 0 && calm == 0 && change < before) {
			leap(x, last, c->n, change / before);
			change = INFINITY;
		}
		before = change;
	}
	return -ETIME;
}

int chain_solve(const Chain *c, const MarkingSet *markings, const uint32_t *list, double *x)
{
	_cleanup_(groups_done) Groups g = { 0 };
	int r = divide(c, markings, list, &g);

	for (size_t i = 0; i < c->n; i++)
		x[i] = 1.0 / (double)c->n;
	if (r < 0)
		return r;
	return iterate(c, &g, x);
}
