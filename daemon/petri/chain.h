/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Private to the solution: an irreducible Markov chain, by what flows into each of its states. */

#include <stddef.h>
#include <stdint.h>

/* No state is taken for less likely than this: shares that are further apart than doubles can tell
 * would leave a group of states without any. */
#define CHAIN_LEAST 1e-30

typedef struct Chain {
	size_t n;
	size_t *row; /* into state i lead the arcs row[i] to row[i + 1] */
	uint32_t *from;
	double *rate;  /* a second */
	double *leave; /* the rate at which each state is left */
} Chain;

/* A chain without arcs yet, with room for so many, and with one row more than it needs. */
int chain_new(size_t n, size_t n_arcs, Chain *ret);
void chain_done(Chain *c);

/* Gauss-Seidel: each state in turn gets what flows in over the rate at which it is left. */
void chain_sweep(const Chain *c, double *x);
/* Grassmann, Taksar and Heyman's elimination. `q` is used up: room for n by n doubles. */
void chain_solve_exactly(const Chain *c, double *q, double *x);
/* Makes them sum up to 1. */
void chain_normalize(double *x, size_t n);
/* What flows into the states and does not leave them, or the other way round, of all that flows. */
double chain_imbalance(const Chain *c, const double *x);
