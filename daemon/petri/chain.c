/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "petri/chain.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/cleanup.h"

#define RAREST   1e-200 /* times a second */
#define FAR_MORE 1e50   /* scaled down before it overflows */

void chain_done(Chain *c)
{
	free(c->row);
	free(c->from);
	free(c->rate);
	free(c->leave);
	*c = (Chain){ 0 };
}

int chain_new(size_t n, size_t n_arcs, Chain *ret)
{
	Chain c = {
		.n = n,
		.row = calloc(n + 2, sizeof(*c.row)),
		.from = calloc(n_arcs + 1, sizeof(*c.from)),
		.rate = calloc(n_arcs + 1, sizeof(*c.rate)),
		.leave = calloc(n + 1, sizeof(*c.leave)),
	};

	if (!c.row || !c.from || !c.rate || !c.leave) {
		chain_done(&c);
		return -ENOMEM;
	}
	*ret = c;
	return 0;
}

void chain_sweep(const Chain *c, double *x)
{
	for (size_t s = 0; s < c->n; s++) {
		double flow = 0;

		for (size_t k = c->row[s]; k < c->row[s + 1]; k++)
			flow += x[c->from[k]] * c->rate[k];
		x[s] = MAX(flow / c->leave[s], CHAIN_LEAST);
	}
}

void chain_normalize(double *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i];
	for (size_t i = 0; i < n; i++)
		x[i] /= sum;
}

double chain_imbalance(const Chain *c, const double *x)
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

/* "Regenerative analysis and steady state distributions for Markov chains", 1985: the last state is
 * taken out of the chain, its flows led past it, until one is left. Nothing is subtracted, so that
 * no digits are lost. A chain that comes back to the states before one of them more rarely than
 * doubles can tell is never there: that state is returned. */
static size_t eliminate(double *q, size_t n)
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
	return first;
}

void chain_solve_exactly(const Chain *c, double *q, double *x)
{
	size_t n = c->n, first;

	memset(q, 0, n * n * sizeof(*q));
	for (size_t s = 0; s < n; s++)
		for (size_t k = c->row[s]; k < c->row[s + 1]; k++)
			q[c->from[k] * n + s] += c->rate[k];
	first = eliminate(q, n);
	memset(x, 0, n * sizeof(*x));
	x[first] = 1;
	for (size_t s = first + 1; s < n; s++) {
		for (size_t i = first; i < s; i++)
			x[s] += x[i] * q[i * n + s];
		if (x[s] > FAR_MORE)
			chain_normalize(x, s + 1);
	}
	chain_normalize(x, n);
}
