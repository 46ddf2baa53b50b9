/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How long a net takes until nothing in it can fire any more: the whole distribution of that time.
 */

#include "petri/graph.h"

/* By uniformization (Jensen): the chain jumps at one steady rate, and after that many jumps it has
 * ended with that probability, whatever the times were. */
typedef struct PetriPassage {
	double jump_rate; /* a second */
	double *ended;    /* by the number of jumps, rising to 1 */
	size_t n;
	double mean_s;
} PetriPassage;

void petri_passage_done(PetriPassage *p);

/* From the graph's weights at its start. -E2BIG: it does not end within 10^7 jumps, or never. */
int petri_passage(const PetriGraph *g, PetriPassage *ret);

/* The probability that it takes no longer than this. */
double petri_passage_within(const PetriPassage *p, double seconds);

/* The time within which a share (above 0, below 1) of what goes one of n ways by these weights,
 * which sum up to 1, has ended. Right to 1e-9 of the time. */
double petri_passage_quantile(const PetriPassage *p, const double *weights, size_t n, double share);
