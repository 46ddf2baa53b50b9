/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* C. L. Lawson and R. J. Hanson, Solving Least Squares Problems (1974), chapter 23, algorithm NNLS,
 * here on the normal equations. These are first scaled to a diagonal of 1 and factored with pivots
 * (Cholesky), which finds the regressors that are sums of others. */

#include "model/fit.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/text.h"

#define MAX_N     FIT_UNKNOWNS_MAX
#define DEPENDENT 1e-8 /* of a regressor, squared: less is rounding */
#define INVOLVED  1e-3 /* share of a regressor in one that depends on it */
#define GRADIENT  1e-12

void fit_add(FitSums *s, const double *x, double y, double weight)
{
	for (size_t i = 0; i < s->n; i++) {
		if (x[i] == 0)
			continue;
		for (size_t j = 0; j < s->n; j++)
			s->xx[i][j] += weight * x[i] * x[j];
		s->xy[i] += weight * x[i] * y;
	}
	s->yy += weight * y * y;
	s->observations++;
}

/* s = a * s + b * other; other may be s where b is 0 */
static void blend(FitSums *s, double a, const FitSums *other, double b)
{
	for (size_t i = 0; i < s->n; i++) {
		for (size_t j = 0; j < s->n; j++)
			s->xx[i][j] = a * s->xx[i][j] + b * other->xx[i][j];
		s->xy[i] = a * s->xy[i] + b * other->xy[i];
	}
	s->yy = a * s->yy + b * other->yy;
	s->observations = a * s->observations + b * other->observations;
}

void fit_merge(FitSums *s, const FitSums *other)
{
	blend(s, 1, other, 1);
}

void fit_forget(FitSums *s, double factor)
{
	blend(s, factor, s, 0);
}

void fit_join(const FitSums *s, const size_t *into, const double *part, size_t n, FitSums *ret)
{
	*ret = (FitSums){ .n = n, .observations = s->observations, .yy = s->yy };
	for (size_t i = 0; i < s->n; i++) {
		for (size_t j = 0; j < s->n; j++)
			ret->xx[into[i]][into[j]] += part[i] * part[j] * s->xx[i][j];
		ret->xy[into[i]] += part[i] * s->xy[i];
	}
}

/* The scaled equations, and which unknowns are in them. */
typedef struct Scaled {
	size_t n;
	double scale[MAX_N]; /* 0: nothing was observed of it */
	double a[MAX_N][MAX_N], b[MAX_N];
	size_t basis[MAX_N], n_basis; /* regressors of which none is a sum of others */
	bool in_basis[MAX_N];
	double most_pivot, least_pivot;
} Scaled;

static void scale(const FitSums *s, Scaled *ret)
{
	*ret = (Scaled){ .n = s->n };
	for (size_t i = 0; i < s->n; i++)
		ret->scale[i] = s->xx[i][i] > 0 ? 1 / sqrt(s->xx[i][i]) : 0;
	for (size_t i = 0; i < s->n; i++) {
		for (size_t j = 0; j < s->n; j++)
			ret->a[i][j] = s->xx[i][j] * ret->scale[i] * ret->scale[j];
		ret->b[i] = s->xy[i] * ret->scale[i];
	}
}

/* Takes the regressor of which most is left into the basis, and its part out of the others. */
static bool take_pivot(Scaled *e, double left[MAX_N][MAX_N])
{
	size_t best = MAX_N;
	double pivot;

	for (size_t i = 0; i < e->n; i++)
		if (!e->in_basis[i] && left[i][i] > (best < MAX_N ? left[best][best] : DEPENDENT))
			best = i;
	if (best == MAX_N)
		return false;
	pivot = left[best][best];
	e->in_basis[best] = true;
	e->basis[e->n_basis++] = best;
	e->most_pivot = MAX(e->most_pivot, pivot);
	e->least_pivot = e->n_basis == 1 ? pivot : MIN(e->least_pivot, pivot);
	for (size_t i = 0; i < e->n; i++)
		for (size_t j = 0; j < e->n; j++)
			if (!e->in_basis[i] && !e->in_basis[j])
				left[i][j] -= left[i][best] * left[best][j] / pivot;
	return true;
}

static void find_basis(Scaled *e)
{
	double left[MAX_N][MAX_N];

	memcpy(left, e->a, sizeof(left));
	while (take_pivot(e, left))
		;
}

/* Cholesky factor of the part of a that `set` names. */
typedef struct Factor {
	const size_t *set;
	size_t n;
	double l[MAX_N][MAX_N];
} Factor;

static void factor(const Scaled *e, const size_t *set, size_t n, Factor *ret)
{
	ret->set = set;
	ret->n = n;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j <= i; j++) {
			double sum = e->a[set[i]][set[j]];

			for (size_t k = 0; k < j; k++)
				sum -= ret->l[i][k] * ret->l[j][k];
			ret->l[i][j] = i == j ? sqrt(MAX(sum, DEPENDENT / 10)) : sum / ret->l[j][j];
		}
}

/* x = the inverse times b; both indexed by the set's places. */
static void factor_solve(const Factor *f, const double *b, double *x)
{
	for (size_t i = 0; i < f->n; i++) {
		x[i] = b[i];
		for (size_t k = 0; k < i; k++)
			x[i] -= f->l[i][k] * x[k];
		x[i] /= f->l[i][i];
	}
	for (size_t i = f->n; i-- > 0;) {
		for (size_t k = i + 1; k < f->n; k++)
			x[i] -= f->l[k][i] * x[k];
		x[i] /= f->l[i][i];
	}
}

/* Column `of` of the inverse. */
static void factor_inverse(const Factor *f, size_t of, double *ret)
{
	double unit[MAX_N] = {};

	unit[of] = 1;
	factor_solve(f, unit, ret);
}

/* What takes part in a sum that another regressor is cannot be told from it. */
static void find_determined(const Scaled *e, const Factor *all, FitResult *ret)
{
	double b[MAX_N], part[MAX_N];

	for (size_t i = 0; i < e->n; i++)
		ret->determined[i] = e->in_basis[i];
	for (size_t i = 0; i < e->n; i++) {
		if (e->in_basis[i] || e->scale[i] == 0)
			continue;
		for (size_t k = 0; k < e->n_basis; k++)
			b[k] = e->a[e->basis[k]][i];
		factor_solve(all, b, part);
		for (size_t k = 0; k < e->n_basis; k++)
			ret->determined[e->basis[k]] &= fabs(part[k]) < INVOLVED;
	}
}

/* NNLS: the passive set, and the scaled solution. */
typedef struct Passive {
	bool in[MAX_N];
	size_t set[MAX_N], n;
	double x[MAX_N]; /* by unknown */
} Passive;

static void passive_list(Passive *p, size_t n)
{
	p->n = 0;
	for (size_t i = 0; i < n; i++)
		if (p->in[i])
			p->set[p->n++] = i;
}

static void solve_passive(const Scaled *e, const Passive *p, double *ret)
{
	double b[MAX_N], x[MAX_N];
	Factor f;

	for (size_t k = 0; k < p->n; k++)
		b[k] = e->b[p->set[k]];
	factor(e, p->set, p->n, &f);
	factor_solve(&f, b, x);
	for (size_t k = 0; k < p->n; k++)
		ret[p->set[k]] = x[k];
}

/* Goes towards z as far as nothing becomes negative; what becomes 0 leaves the set. */
static bool step_towards(Passive *p, const double *z)
{
	double part = 1;

	for (size_t k = 0; k < p->n; k++) {
		size_t i = p->set[k];

		if (z[i] <= 0)
			part = MIN(part, p->x[i] / (p->x[i] - z[i]));
	}
	for (size_t k = 0; k < p->n; k++) {
		size_t i = p->set[k];

		p->x[i] += part * (z[i] - p->x[i]);
		if (z[i] <= 0 && p->x[i] <= GRADIENT) {
			p->x[i] = 0;
			p->in[i] = false;
		}
	}
	return part < 1;
}

/* The unknown held at 0 whose rise would lower the residuals most; MAX_N: none. */
static size_t most_wanted(const Scaled *e, const Passive *p)
{
	size_t best = MAX_N;
	double most = 0;

	for (size_t i = 0; i < e->n; i++) {
		double gradient = e->b[i];

		for (size_t j = 0; j < e->n; j++)
			gradient -= e->a[i][j] * p->x[j];
		if (e->in_basis[i] && !p->in[i] && gradient > most + GRADIENT * fabs(e->b[i])) {
			most = gradient;
			best = i;
		}
	}
	return best;
}

static void nnls(const Scaled *e, Passive *ret)
{
	double z[MAX_N];
	size_t wanted;

	*ret = (Passive){};
	/* a set is never tried twice but for rounding, against which the rounds are counted */
	for (size_t round = 0; round < 3 * MAX_N; round++) {
		wanted = most_wanted(e, ret);
		if (wanted == MAX_N)
			break;
		ret->in[wanted] = true;
		do {
			passive_list(ret, e->n);
			solve_passive(e, ret, z);
		} while (step_towards(ret, z));
	}
	passive_list(ret, e->n);
}

static double residual_sd(const FitSums *s, const Scaled *e, const Passive *p)
{
	double squares = s->yy, freedom = s->observations - (double)p->n;

	for (size_t i = 0; i < e->n; i++) {
		squares -= 2 * p->x[i] * e->b[i];
		for (size_t j = 0; j < e->n; j++)
			squares += p->x[i] * e->a[i][j] * p->x[j];
	}
	return freedom > 0.5 ? sqrt(MAX(squares, 0.0) / freedom) : NAN;
}

static void fill_covariance(const Scaled *e, const Passive *p, FitResult *ret)
{
	double variance = ret->residual_sd * ret->residual_sd, column[MAX_N] = {};
	Factor f;

	factor(e, p->set, p->n, &f);
	for (size_t k = 0; k < p->n; k++) {
		size_t i = p->set[k];

		factor_inverse(&f, k, column);
		for (size_t m = 0; m < p->n; m++)
			ret->covariance[i][p->set[m]] =
				variance * column[m] * e->scale[i] * e->scale[p->set[m]];
		ret->sd[i] = sqrt(ret->covariance[i][i]);
	}
}

/* An unknown that is held at 0 may be off by as much as if it were free. */
static void fill_values(const Scaled *e, const Factor *all, const Passive *p, FitResult *ret)
{
	double column[MAX_N];

	for (size_t i = 0; i < e->n; i++) {
		ret->basic[i] = p->x[i] * e->scale[i];
		ret->value[i] = ret->determined[i] ? ret->basic[i] : NAN;
		ret->sd[i] = NAN;
	}
	for (size_t k = 0; k < e->n_basis; k++) {
		size_t i = e->basis[k];

		factor_inverse(all, k, column);
		ret->own[i] = ret->determined[i] ? 1 / column[k] : 0;
		ret->sd[i] = ret->residual_sd * sqrt(column[k]) * e->scale[i];
	}
	fill_covariance(e, p, ret);
	for (size_t i = 0; i < e->n; i++)
		if (!ret->determined[i])
			ret->sd[i] = NAN;
}

int fit_solve(const FitSums *s, FitResult *ret)
{
	Passive p;
	Factor all;
	Scaled e;

	scale(s, &e);
	find_basis(&e);
	if (!e.n_basis || s->observations < (double)e.n_basis)
		return -ENODATA;
	factor(&e, e.basis, e.n_basis, &all);
	nnls(&e, &p);
	*ret = (FitResult){ .n = s->n,
			    .residual_sd = residual_sd(s, &e, &p),
			    .condition = e.most_pivot / e.least_pivot };
	find_determined(&e, &all, ret);
	fill_values(&e, &all, &p, ret);
	return 0;
}
