/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Private to the solution: irreducible Markov chains. */

#include "petri/chain.h"

/* The share of time in each state, in x. -ETIME: it converges too slowly; -ENOMEM. */
int chain_solve(const Chain *c, double *x);
