/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "petri/net.h"

#include <errno.h>
#include <math.h>
#include <string.h>

void petri_net_done(PetriNet *n)
{
	free(n->initial);
	free(n->transitions);
	free(n->arcs);
	*n = (PetriNet){ 0 };
}

static void fail(PetriNet *n, int error)
{
	if (n->error == 0)
		n->error = error;
}

unsigned petri_place(PetriNet *n, unsigned tokens)
{
	uint16_t *place = ARRAY_GROW(n->initial, n->n_places);

	if (!place) {
		fail(n, -ENOMEM);
		return 0;
	}
	if (tokens > UINT16_MAX)
		fail(n, -EINVAL);
	*place = (uint16_t)tokens;
	return (unsigned)n->n_places - 1;
}

static unsigned add_transition(PetriNet *n, PetriTransition new)
{
	PetriTransition *t = ARRAY_GROW(n->transitions, n->n_transitions);

	if (!t) {
		fail(n, -ENOMEM);
		return 0;
	}
	if (!(new.rate > 0 && isfinite(new.rate)) || new.servers == 0)
		fail(n, -EINVAL);
	*t = new;
	t->first_arc = n->n_arcs;
	t->needs = PETRI_NOTHING;
	return (unsigned)n->n_transitions - 1;
}

unsigned petri_timed(PetriNet *n, double rate, unsigned servers)
{
	return add_transition(n, (PetriTransition){ .rate = rate, .servers = servers });
}

unsigned petri_immediate(PetriNet *n, double weight, unsigned priority)
{
	if (priority == 0)
		fail(n, -EINVAL);
	return add_transition(
		n, (PetriTransition){ .rate = weight, .servers = 1, .priority = priority });
}

static void add_arc(PetriNet *n, PetriArcKind kind, unsigned place, unsigned tokens)
{
	PetriTransition *t;
	PetriArc *a;

	if (n->n_transitions == 0 || place >= n->n_places || tokens == 0 || tokens > UINT16_MAX) {
		fail(n, -EINVAL);
		return;
	}
	a = ARRAY_GROW(n->arcs, n->n_arcs);
	if (!a) {
		fail(n, -ENOMEM);
		return;
	}
	*a = (PetriArc){ kind, place, (uint16_t)tokens };
	t = &n->transitions[n->n_transitions - 1];
	t->n_arcs++;
	if (kind == PETRI_INPUT && t->needs == PETRI_NOTHING)
		t->needs = place;
}

void petri_input(PetriNet *n, unsigned place, unsigned tokens)
{
	add_arc(n, PETRI_INPUT, place, tokens);
}

void petri_output(PetriNet *n, unsigned place, unsigned tokens)
{
	add_arc(n, PETRI_OUTPUT, place, tokens);
}

void petri_inhibitor(PetriNet *n, unsigned place, unsigned tokens)
{
	add_arc(n, PETRI_INHIBITOR, place, tokens);
}

/* Nearly every arc takes one token, and a division takes long. */
static unsigned times(unsigned tokens, unsigned taken)
{
	return taken == 1 ? tokens : tokens / taken;
}

unsigned petri_degree_of_arcs(const PetriNet *n, const PetriTransition *t, const uint16_t *marking)
{
	unsigned degree = UINT_MAX;

	for (const PetriArc *a = n->arcs + t->first_arc, *end = a + t->n_arcs; a < end; a++) {
		if (a->kind == PETRI_INPUT)
			degree = MIN(degree, times(marking[a->place], a->tokens));
		else if (a->kind == PETRI_INHIBITOR && marking[a->place] >= a->tokens)
			degree = 0;
		if (degree == 0)
			return 0;
	}
	/* what takes nothing is enabled once, not without end */
	return degree == UINT_MAX ? 1 : degree;
}

unsigned petri_urgency(const PetriNet *n, const uint16_t *marking, double *ret_weight)
{
	unsigned urgency = 0;
	double weight = 0;

	for (size_t i = 0; i < n->n_transitions; i++) {
		const PetriTransition *t = &n->transitions[i];

		if (t->priority == 0 || t->priority < urgency || petri_degree(n, t, marking) == 0)
			continue;
		weight = t->priority > urgency ? t->rate : weight + t->rate;
		urgency = t->priority;
	}
	*ret_weight = weight;
	return urgency;
}

bool petri_is_urgent(const PetriNet *n, const PetriTransition *t, unsigned urgency,
		     const uint16_t *marking)
{
	return t->priority == urgency && petri_degree(n, t, marking) > 0;
}

int petri_fire(const PetriNet *n, const PetriTransition *t, const uint16_t *from, uint16_t *ret_to)
{
	const PetriArc *arcs = n->arcs + t->first_arc;

	memcpy(ret_to, from, n->n_places * sizeof(*from));
	for (size_t i = 0; i < t->n_arcs; i++)
		if (arcs[i].kind == PETRI_INPUT)
			ret_to[arcs[i].place] -= arcs[i].tokens;
	for (size_t i = 0; i < t->n_arcs; i++) {
		if (arcs[i].kind != PETRI_OUTPUT)
			continue;
		if (ret_to[arcs[i].place] > UINT16_MAX - arcs[i].tokens)
			return -EOVERFLOW;
		ret_to[arcs[i].place] += arcs[i].tokens;
	}
	return 0;
}
