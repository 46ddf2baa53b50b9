/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a net does on average, whether it was solved or simulated. */

#include "petri/graph.h"

typedef struct PetriMeans {
	double *tokens; /* in each place */
	double *busy;   /* of each transition: share of time in which it is enabled */
	double *flow;   /* of each transition: firings a second; NaN for an immediate one */
} PetriMeans;

/* Called for a marking with its share of time, or with the seconds that it lasted. */
typedef void (*PetriVisit)(void *context, const uint16_t *marking, double weight);

int petri_means_new(const PetriNet *n, PetriMeans *ret);
void petri_means_done(PetriMeans *m);
/* Adds a marking to the sums; the sums divided by all weights are the means. */
void petri_means_add(PetriMeans *m, const PetriNet *n, const uint16_t *marking, double weight);
void petri_means_divide(PetriMeans *m, const PetriNet *n, double weights);

/* The means of a net in its steady state, from petri_steady()'s shares. */
int petri_means_of(const PetriNet *n, const PetriGraph *g, const double *shares, PetriMeans *ret);

/* Little's law: how long one of so many tokens stays, in seconds, when `flow` of them come a
 * second. */
static inline double petri_response_s(double tokens, double flow)
{
	return tokens / flow;
}
