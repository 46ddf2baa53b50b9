/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Generalized stochastic Petri nets, described by code: places hold tokens; a timed transition
 * fires after an exponential time, an immediate one at once. (Ajmone Marsan, Conte and Balbo, "A
 * class of generalized stochastic Petri nets", 1984.) A builder that runs out of memory or is given
 * nonsense says so in `error`, which whoever solves the net returns. */

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

#define PETRI_INFINITE UINT_MAX /* servers: each enabling is served at once */
#define PETRI_NOTHING  UINT_MAX

typedef enum PetriArcKind { PETRI_INPUT, PETRI_OUTPUT, PETRI_INHIBITOR } PetriArcKind;

typedef struct PetriArc {
	PetriArcKind kind;
	unsigned place;
	uint16_t tokens;
} PetriArc;

typedef struct PetriTransition {
	double rate;       /* firings a second of one server; the weight of an immediate one */
	unsigned servers;  /* how many enablings are served at a time */
	unsigned priority; /* 0: timed; of the immediate ones the highest goes first */
	unsigned needs;    /* the place of its first input; or PETRI_NOTHING */
	size_t first_arc, n_arcs;
} PetriTransition;

typedef struct PetriNet {
	uint16_t *initial; /* tokens of each place at the start */
	PetriTransition *transitions;
	PetriArc *arcs;
	size_t n_places, n_transitions, n_arcs;
	int error; /* 0, -ENOMEM or -EINVAL */
} PetriNet;

void petri_net_done(PetriNet *n);

/* Each returns the index of what it added. */
unsigned petri_place(PetriNet *n, unsigned tokens);
unsigned petri_timed(PetriNet *n, double rate, unsigned servers);
unsigned petri_immediate(PetriNet *n, double weight, unsigned priority);

/* Arcs of the transition that was added last. An input takes that many tokens, an output brings
 * them, an inhibitor forbids firing while the place holds as many. */
void petri_input(PetriNet *n, unsigned place, unsigned tokens);
void petri_output(PetriNet *n, unsigned place, unsigned tokens);
void petri_inhibitor(PetriNet *n, unsigned place, unsigned tokens);

unsigned petri_degree_of_arcs(const PetriNet *n, const PetriTransition *t, const uint16_t *marking);
/* How many times over the marking enables the transition; 0: not at all. Of most transitions a look
 * at one place says so. */
static inline unsigned petri_degree(const PetriNet *n, const PetriTransition *t,
				    const uint16_t *marking)
{
	return t->needs != PETRI_NOTHING && marking[t->needs] == 0
		       ? 0
		       : petri_degree_of_arcs(n, t, marking);
}

/* Firings a second in this marking: rate by servers at work. */
static inline double petri_rate(const PetriNet *n, const PetriTransition *t,
				const uint16_t *marking)
{
	unsigned degree = petri_degree(n, t, marking);

	return t->rate * (degree < t->servers ? degree : t->servers);
}

/* The highest priority of the immediate transitions that are enabled, and the sum of their weights;
 * 0: the marking is tangible, time passes in it. */
unsigned petri_urgency(const PetriNet *n, const uint16_t *marking, double *ret_weight);
/* Whether the transition is one of those. */
bool petri_is_urgent(const PetriNet *n, const PetriTransition *t, unsigned urgency,
		     const uint16_t *marking);
/* The marking after firing an enabled transition; -EOVERFLOW beyond 65535 tokens in a place. */
int petri_fire(const PetriNet *n, const PetriTransition *t, const uint16_t *from, uint16_t *ret_to);
