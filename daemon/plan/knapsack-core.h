/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What is left to decide after the relaxation. With the break step's rate r as the price of a watt,
 * every departure from the base costs a loss, r * watts - value >= 0, and every watt left over
 * costs r. A solution is worth the relaxation's bound less its losses, so the search looks for the
 * least total loss, and a choice that loses more by itself than a solution in hand is out for good.
 */

#include "plan/knapsack-hull.h"

/* A departure of one class from its base corner: to an end of a choice or, where `len` is set, to
 * somewhere on a segment. At most one class of an optimal solution need be inside a segment: of
 * two, the one worth less a watt could give to the other. */
typedef struct Move {
	double dw, loss;   /* at the lower end */
	double len, dloss; /* watts to the upper end, loss added there */
	uint32_t class, choice;
	bool top; /* fixed at the upper end */
} Move;

/* A class with moves that may still be worth their loss. */
typedef struct Layer {
	size_t first, n_moves;
	double cheapest; /* least loss */
	double up, down; /* least loss per watt more, per watt less */
	double order;
} Layer;

typedef struct Core {
	double slack_w; /* the base leaves so much of the budget; more by what rounding may hide */
	double rate;
	double tolerance; /* value not worth looking for */
	double loss;      /* of the best solution in hand */
	Move best[2];     /* its moves, as long as no search has found better */
	size_t n_best;
	Move *moves;
	Layer *layers; /* twins of the break class, then the nearest to the price first */
	size_t n_layers, n_twins;
	double twin_margin_w;
} Core;

/* Twins are classes with the very choices of the break class. All of them can step over the break
 * at no loss, so that losses do not bound their states. This bounds them: any solution can be dealt
 * out among the twins so that its watts, summed up twin by twin, keep within twin_margin_w of the
 * straight line from the base to where it leaves the last twin (Steinitz's lemma in one dimension;
 * the twins' own bases are dealt out evenly). A state further off need not be kept. */
int core_build(const Problem *p, const Relaxation *r, double budget_w, double tolerance, Core *ret);
void core_done(Core *c);

/* Total loss of a solution at (dw, loss), its open segment filled with what is left. */
static inline double settle(const Core *c, const Move *m)
{
	double slack = c->slack_w - m->dw, fill;

	if (slack < 0)
		return __builtin_inf();
	fill = m->len < slack ? m->len : slack;
	return m->loss + (m->len > 0 ? m->dloss * (fill / m->len) : 0) + c->rate * (slack - fill);
}

static inline double least_loss(const Move *m)
{
	return m->dloss < 0 ? m->loss + m->dloss : m->loss;
}

/* knapsack-search.c: the least loss over all layers. At most `effort` states are looked at;
 * -ENOMEM. *ret_moves: the moves of the best solution, to be freed. */
int core_search(Core *c, size_t effort, Move **ret_moves, size_t *ret_n, bool *ret_proved);
