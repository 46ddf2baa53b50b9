/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "petri/aggregate.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "petri/anderson.h"
#include "petri/levels.h"

#define TOLERANCE     1e-12
#define ROUNDING      2e-15
#define IMBALANCE_MAX 1e-9
#define CYCLES_MAX    1000
#define SWEEPS_FIRST  5 /* before states are grouped by what flows between them */

static double difference(const double *x, const double *y, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += fabs(x[i] - y[i]);
	return sum;
}

/* A change that shrinks by the factor f each time still has change * f / (1 - f) to go; f is not
 * taken for less than 0.9, because a fast part of the error may hide a slow one. */
static bool converged(double change, double before)
{
	double f = MAX(change / before, 0.9);

	return change <= ROUNDING || (f < 1 && change * f / (1 - f) <= TOLERANCE);
}

/* A method that has come to rest has not thereby found the solution. */
static int iterate(Levels *l, Anderson *a)
{
	const Chain *c = &l->of[0].chain;
	_cleanup_free_ double *last = calloc(c->n + 1, sizeof(*last));
	double *x = l->of[0].x, before = INFINITY;
	unsigned calm = 0;

	if (!last)
		return -ENOMEM;
	for (unsigned i = 0; i < CYCLES_MAX; i++) {
		double change;

		memcpy(last, x, c->n * sizeof(*x));
		levels_cycle(l);
		change = difference(x, last, c->n);
		calm = converged(change, before) ? calm + 1 : 0;
		if (calm == 2)
			return chain_imbalance(c, x) <= IMBALANCE_MAX ? 0 : -ETIME;
		if (calm == 0) {
			anderson_leap(a, last, x);
			chain_normalize(x, c->n);
		}
		before = change;
	}
	return -ETIME;
}

int chain_solve(const Chain *c, double *x)
{
	_cleanup_(levels_done) Levels l = {};
	_cleanup_(anderson_done) Anderson a = {};
	int r;

	for (size_t i = 0; i < c->n; i++)
		x[i] = 1.0 / (double)c->n;
	for (unsigned i = 0; i < SWEEPS_FIRST && c->n > EXACT_MAX; i++)
		chain_sweep(c, x);
	r = levels_new(c, x, &l);
	if (r < 0)
		return r;
	if (l.n == 1) {
		levels_cycle(&l);
		return 0;
	}
	r = anderson_new(c->n, &a);
	return r < 0 ? r : iterate(&l, &a);
}
