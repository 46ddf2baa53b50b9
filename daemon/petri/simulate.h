/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Simulation of a net, for those with too many states to be solved. */

#include "petri/means.h"

#define PETRI_BATCHES 32

typedef struct PetriRun {
	uint64_t seed;    /* the same seed gives the same run */
	uint64_t firings; /* of timed transitions in each batch */
	PetriVisit visit; /* told every marking and its seconds, the beginning left out; or NULL */
	void *context;
} PetriRun;

/* The means of each batch; two batches before the first are left out, for the net to settle. The
 * caller owns all of them; none when it fails: -EDEADLK (nothing can fire any more), -ELOOP
 * (immediate transitions without end), -EOVERFLOW, -EINVAL, -ENOMEM. */
int petri_simulate(const PetriNet *n, const PetriRun *run, PetriMeans ret[PETRI_BATCHES]);

/* A figure and half the width of the interval that holds its true value with 99 % confidence. */
typedef struct PetriInterval {
	double mean, half;
} PetriInterval;

/* From the same figure of every batch, by Student's distribution. */
PetriInterval petri_interval(const double batches[PETRI_BATCHES]);
