/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "petri/graph.h"

#include <errno.h>
#include <string.h>

/* A loop of immediate transitions is followed until so little of the probability is left in it. */
#define LOST_MAX   1e-18
#define ROUNDS_MAX 100000

/* The markings behind a vanishing one, worked out in rounds. Those that meet again are one, so that
 * n independent choices cost n rounds and not 2^n ways. */
typedef struct Settling {
	MarkingSet now, next, tangible;
	uint16_t *fired;
} Settling;

static void settling_done(Settling *s)
{
	marking_set_done(&s->now);
	marking_set_done(&s->next);
	marking_set_done(&s->tangible);
	free(s->fired);
}

void petri_graph_done(PetriGraph *g)
{
	marking_set_done(&g->states);
	free(g->row);
	free(g->to);
	free(g->rate);
	*g = (PetriGraph){ 0 };
}

static int settle_one(const PetriNet *n, Settling *s, const uint16_t *marking, double weight)
{
	double sum;
	unsigned urgency = petri_urgency(n, marking, &sum);
	size_t at;
	int r = 0;

	if (urgency == 0)
		return marking_set_add(&s->tangible, marking, weight, &at);
	for (size_t i = 0; r >= 0 && i < n->n_transitions; i++) {
		const PetriTransition *t = &n->transitions[i];

		if (!petri_is_urgent(n, t, urgency, marking))
			continue;
		r = petri_fire(n, t, marking, s->fired);
		if (r >= 0)
			r = marking_set_add(&s->next, s->fired, weight * t->rate / sum, &at);
	}
	return r;
}

/* Leaves in s->tangible where the marking leads, and by which probability. */
static int settle(const PetriNet *n, Settling *s, const uint16_t *marking)
{
	double left = 1;
	size_t at;
	int r;

	marking_set_clear(&s->tangible);
	marking_set_clear(&s->now);
	r = marking_set_add(&s->now, marking, 1, &at);
	for (unsigned round = 0; r >= 0 && left > LOST_MAX; round++) {
		MarkingSet done = s->now;

		if (round == ROUNDS_MAX)
			return -ELOOP;
		marking_set_clear(&s->next);
		for (size_t i = 0; r >= 0 && i < s->now.n; i++)
			r = settle_one(n, s, marking_at(&s->now, i), s->now.weights[i]);
		s->now = s->next;
		s->next = done;
		left = 0;
		for (size_t i = 0; i < s->now.n; i++)
			left += s->now.weights[i];
	}
	return r;
}

static int add_roots(const PetriNet *n, const MarkingSet *roots, Settling *s, PetriGraph *g)
{
	double total = 0;
	int r = 0;

	for (size_t i = 0; i < roots->n; i++)
		total += roots->weights[i];
	for (size_t i = 0; r >= 0 && i < roots->n; i++) {
		size_t at;

		r = settle(n, s, marking_at(roots, i));
		for (size_t k = 0; r >= 0 && k < s->tangible.n; k++)
			r = marking_set_add(&g->states, marking_at(&s->tangible, k),
					    s->tangible.weights[k] * roots->weights[i] / total,
					    &at);
	}
	return r;
}

static int add_arc(PetriGraph *g, size_t *room, size_t to, double rate)
{
	if (g->n_arcs == *room) {
		size_t more = MAX(*room * 2, (size_t)64);
		uint32_t *new_to = reallocarray(g->to, more, sizeof(*new_to));
		double *new_rate;

		if (!new_to)
			return -ENOMEM;
		g->to = new_to;
		new_rate = reallocarray(g->rate, more, sizeof(*new_rate));
		if (!new_rate)
			return -ENOMEM;
		g->rate = new_rate;
		*room = more;
	}
	g->to[g->n_arcs] = (uint32_t)to;
	g->rate[g->n_arcs++] = rate;
	return 0;
}

static int add_target(PetriGraph *g, size_t i, double rate, const uint16_t *target, size_t *room)
{
	size_t to;
	int r = marking_set_add(&g->states, target, 0, &to);

	return r < 0 || to == i ? r : add_arc(g, room, to, rate);
}

/* One firing: the arcs from state i to wherever it leads. */
static int add_firing(const PetriNet *n, Settling *s, PetriGraph *g, size_t i, double rate,
		      const uint16_t *fired, size_t *room)
{
	double weight;
	int r;

	if (petri_urgency(n, fired, &weight) == 0)
		return add_target(g, i, rate, fired, room);
	r = settle(n, s, fired);
	for (size_t k = 0; r >= 0 && k < s->tangible.n; k++)
		r = add_target(g, i, rate * s->tangible.weights[k], marking_at(&s->tangible, k),
			       room);
	return r;
}

static int explore_all(const PetriNet *n, Settling *s, PetriGraph *g)
{
	_cleanup_free_ uint16_t *fired = calloc(n->n_places + 1, sizeof(*fired));
	size_t room = 0;
	int r = fired ? 0 : -ENOMEM;

	for (size_t i = 0; r >= 0 && i < g->states.n; i++) {
		size_t *row = (i & (i + 1)) == 0
				      ? reallocarray(g->row, 2 * (i + 1), sizeof(*g->row))
				      : g->row;

		if (!row)
			return -ENOMEM;
		g->row = row;
		row[i] = g->n_arcs;
		for (size_t k = 0; r >= 0 && k < n->n_transitions; k++) {
			const PetriTransition *t = &n->transitions[k];
			const uint16_t *from = marking_at(&g->states, i);
			double rate = t->priority ? 0 : petri_rate(n, t, from);

			if (!(rate > 0))
				continue;
			r = petri_fire(n, t, from, fired);
			if (r >= 0)
				r = add_firing(n, s, g, i, rate, fired, &room);
		}
		row[i + 1] = g->n_arcs;
	}
	return r;
}

int petri_explore(const PetriNet *n, const MarkingSet *roots, size_t max_states, PetriGraph *ret)
{
	_cleanup_(petri_graph_done) PetriGraph g = { .states = { n->n_places, max_states } };
	_cleanup_(settling_done) Settling s = {
		.now.width = n->n_places,
		.next.width = n->n_places,
		.tangible.width = n->n_places,
		.fired = calloc(n->n_places + 1, sizeof(uint16_t)),
	};
	double one = 1;
	const MarkingSet start = {
		.width = n->n_places, .n = 1, .markings = n->initial, .weights = &one
	};
	int r;

	if (n->error < 0)
		return n->error;
	if (n->n_places == 0)
		return -EINVAL;
	if (!s.fired)
		return -ENOMEM;
	r = add_roots(n, roots ? roots : &start, &s, &g);
	if (r >= 0)
		r = explore_all(n, &s, &g);
	if (r < 0 || g.states.n == 0)
		return r < 0 ? r : -EINVAL;
	*ret = g;
	g = (PetriGraph){ 0 };
	return 0;
}
