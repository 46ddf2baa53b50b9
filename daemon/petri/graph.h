/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The Markov chain of a net: its tangible markings and the rates from one to another. */

#include "petri/marking-set.h"
#include "petri/net.h"

typedef struct PetriGraph {
	MarkingSet states; /* in the order of their discovery; weight: probability at the start */
	size_t *row;       /* of state i the arcs row[i] to row[i + 1] */
	uint32_t *to;      /* never the state itself: who stays has not moved */
	double *rate;      /* a second */
	size_t n_arcs;
} PetriGraph;

void petri_graph_done(PetriGraph *g);

/* Explores what can be reached from the roots by their weight, or without roots (NULL) from the
 * net's own start. Vanishing markings, in which an immediate transition is enabled, are eliminated
 * on the way: each firing leads to the tangible markings behind them by their probability.
 *
 * Fails with -E2BIG (more than max_states), -ELOOP (immediate transitions that never end),
 * -EOVERFLOW (tokens without end), -EINVAL and -ENOMEM. */
int petri_explore(const PetriNet *n, const MarkingSet *roots, size_t max_states, PetriGraph *ret);
