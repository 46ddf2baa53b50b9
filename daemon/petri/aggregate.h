/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Private to the solution: irreducible Markov chains whose states are markings. */

#include "petri/marking-set.h"

/* By what flows into each of its states. */
typedef struct Chain {
	size_t n;
	size_t *row; /* into state i lead the arcs row[i] to row[i + 1] */
	uint32_t *from;
	double *rate;  /* a second */
	double *leave; /* the rate at which each state is left */
} Chain;

/* The share of time in each state, in x. State i has the marking list[i]. -ETIME: it converges too
 * slowly; -ENOMEM. */
int chain_solve(const Chain *c, const MarkingSet *markings, const uint32_t *list, double *x);
