/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Private to the solution: a chain, the chain of groups of its states, the chain of groups of
 * those, and so on, until the last is small enough to be solved exactly. */

#include "petri/chain.h"

#define LEVELS_MAX 16 /* each has a quarter of the states of the one before it, or less */
#define EXACT_MAX  200

typedef struct Level {
	Chain chain;
	double *x;
	double *given;   /* what x was by the level before it */
	uint32_t *group; /* of each state, which is a state of the next level */
	uint32_t *arc;   /* of each arc the next level's; UINT32_MAX: inside of a group */
} Level;

typedef struct Levels {
	Level of[LEVELS_MAX];
	size_t n;
	double *exact; /* room for the last one's rates from each state to each */
} Levels;

/* The chain and x stay the caller's and have to outlive the levels. x is a first guess, above 0; by
 * it states are grouped. */
int levels_new(const Chain *c, double *x, Levels *ret);
void levels_done(Levels *l);

/* Brings the first level's x nearer to the solution; it sums up to 1. */
void levels_cycle(Levels *l);
