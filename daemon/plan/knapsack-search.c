/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Dynamic programming over the core, one class after the other, nearest to the price first
 * (Pisinger: A minimal algorithm for the multiple-choice knapsack problem, 1995). A state is a set
 * of moves made so far, above or below the budget; it is dropped when another draws no more and is
 * worth no less, or when even the cheapest moves left could not bring it to the budget at less than
 * the loss in hand. When none is left, the solution in hand is optimal. */

#include "plan/knapsack-core.h"

#include <errno.h>
#include <math.h>

#define NO_TRACE UINT32_MAX

/* How a state came about. All traces are kept, to find the moves of the best state. */
typedef struct Trace {
	uint32_t parent, move;
} Trace;

typedef struct State {
	Move sum; /* of all moves made; len where one of them is open */
	uint32_t trace;
} State;

typedef struct List {
	State *states; /* by watts */
	size_t n, capacity;
} List;

typedef struct Search {
	Core *core;
	Trace *traces;
	size_t n_traces, capacity;
	uint32_t best; /* NO_TRACE: the core's own */
	double negligible;
	size_t looked, effort;
	double up, down, cheapest; /* of the layers still to come */
	double margin_w;           /* while more twins come: up and down are of what follows them */
	List fixed, open, sum, spare;
} Search;

static int list_push(List *l, const State *s)
{
	if (l->n == l->capacity) {
		size_t capacity = l->capacity ? 2 * l->capacity : 64;
		State *states = reallocarray(l->states, capacity, sizeof(*states));

		if (!states)
			return -ENOMEM;
		l->states = states;
		l->capacity = capacity;
	}
	l->states[l->n++] = *s;
	return 0;
}

static inline void list_swap(List *a, List *b)
{
	List t = *a;

	*a = *b;
	*b = t;
}

static int trace(Search *s, State *st, size_t move)
{
	if (s->n_traces == s->capacity) {
		size_t capacity = s->capacity ? 2 * s->capacity : 256;
		Trace *traces = reallocarray(s->traces, capacity, sizeof(*traces));

		if (!traces)
			return -ENOMEM;
		s->traces = traces;
		s->capacity = capacity;
	}
	s->traces[s->n_traces] = (Trace){ st->trace, move };
	st->trace = s->n_traces++;
	return 0;
}

/* The least loss that layers to come need to make up for a slack (negative: an excess). */
static inline double make_up(const Search *s, double slack)
{
	double far = MAX(fabs(slack) - s->margin_w, 0.0);

	if (far == 0)
		return 0;
	return slack >= 0 ? MIN(s->core->rate, s->up) * far : s->down * far;
}

/* May layers to come make something better of this than the solution in hand? */
static bool promising(const Search *s, const Move *m)
{
	double slack = s->core->slack_w - m->dw;
	double limit = s->core->loss - s->core->tolerance;
	double least = m->loss + make_up(s, slack);

	if (least_loss(m) + s->cheapest >= limit)
		return false;
	if (m->len > 0) { /* convex along the segment: the least is at an end or at the budget */
		least = MIN(least, m->loss + m->dloss + make_up(s, slack - m->len));
		if (slack > 0 && slack < m->len)
			least = MIN(least, m->loss + m->dloss * (slack / m->len));
	}
	return least < limit;
}

/* What a state is worth against the base when it draws dw. */
static inline double worth(const Search *s, const Move *m, double dw)
{
	double x = dw - m->dw;

	if (m->len <= 0 || x <= 0)
		return s->core->rate * m->dw - m->loss;
	x = MIN(x, m->len);
	return s->core->rate * (m->dw + x) - m->loss - m->dloss * (x / m->len);
}

/* a draws no more than b at its least; the worth of both is concave in the watts. */
static bool dominates(const Search *s, const Move *a, const Move *b)
{
	double top = b->dw + b->len;

	return worth(s, a, b->dw) + s->negligible >= worth(s, b, b->dw) &&
	       (b->len <= 0 || worth(s, a, top) + s->negligible >= worth(s, b, top));
}

static bool dominated(const Search *s, const List *l, const Move *m)
{
	enum { LOOK_BACK = 4 };

	for (size_t i = l->n; i > 0 && i + LOOK_BACK > l->n; i--)
		if (dominates(s, &l->states[i - 1].sum, m))
			return true;
	return false;
}

/* Makes a move from a state. 1: worth keeping, 0: not. */
static int step(Search *s, const State *from, size_t move, State *ret)
{
	const Move *m = &s->core->moves[move];
	double loss;
	int r;

	*ret = *from;
	ret->sum.dw += m->dw;
	ret->sum.loss += m->loss;
	if (m->len > 0) {
		ret->sum.len = m->len;
		ret->sum.dloss = m->dloss;
	}
	s->looked++;
	loss = settle(s->core, &ret->sum);
	if (loss < s->core->loss) {
		r = trace(s, ret, move);
		if (r < 0)
			return r;
		s->core->loss = loss;
		s->best = ret->trace;
	}
	return promising(s, &ret->sum);
}

static int keep(Search *s, State *st, uint32_t parent, size_t move)
{
	if (dominated(s, &s->spare, &st->sum))
		return 0;
	if (st->trace == parent) {
		int r = trace(s, st, move);

		if (r < 0)
			return r;
	}
	return list_push(&s->spare, st);
}

/* s->sum becomes the merger of itself with every state of `from` moved. */
static int merge(Search *s, const List *from, size_t move)
{
	size_t i = 0;
	int r;

	s->spare.n = 0;
	for (size_t j = 0; j < from->n; j++) {
		State st;

		r = step(s, &from->states[j], move, &st);
		if (r < 0)
			return r;
		if (r == 0)
			continue;
		for (; i < s->sum.n && s->sum.states[i].sum.dw <= st.sum.dw; i++)
			if (!dominated(s, &s->spare, &s->sum.states[i].sum) &&
			    list_push(&s->spare, &s->sum.states[i]) < 0)
				return -ENOMEM;
		r = keep(s, &st, from->states[j].trace, move);
		if (r < 0)
			return r;
	}
	for (; i < s->sum.n; i++)
		if (!dominated(s, &s->spare, &s->sum.states[i].sum) &&
		    list_push(&s->spare, &s->sum.states[i]) < 0)
			return -ENOMEM;
	list_swap(&s->sum, &s->spare);
	return 0;
}

/* The states that stay as they are in this layer. */
static int start_sum(Search *s, const List *from)
{
	s->sum.n = 0;
	s->looked += from->n;
	for (size_t i = 0; i < from->n; i++)
		if (promising(s, &from->states[i].sum) && list_push(&s->sum, &from->states[i]) < 0)
			return -ENOMEM;
	return 0;
}

static int merge_moves(Search *s, const List *from, const Layer *l, bool open)
{
	int r = 0;

	for (size_t m = l->first; r == 0 && m < l->first + l->n_moves; m++)
		if ((s->core->moves[m].len > 0) == open && s->looked < s->effort)
			r = merge(s, from, m);
	return r;
}

static int search_layer(Search *s, const Layer *l)
{
	int r = start_sum(s, &s->open);

	if (r == 0)
		r = merge_moves(s, &s->open, l, false);
	if (r == 0)
		r = merge_moves(s, &s->fixed, l, true);
	if (r < 0)
		return r;
	list_swap(&s->open, &s->sum);
	r = start_sum(s, &s->fixed);
	if (r == 0)
		r = merge_moves(s, &s->fixed, l, false);
	if (r == 0)
		list_swap(&s->fixed, &s->sum);
	return r;
}

/* Turns each layer's up, down and cheapest into the least of all layers from it on. */
static void accumulate(Core *c)
{
	for (size_t i = c->n_layers; i > 1; i--) {
		Layer *a = &c->layers[i - 2];
		const Layer *b = &c->layers[i - 1];

		a->up = MIN(a->up, b->up);
		a->down = MIN(a->down, b->down);
		a->cheapest = MIN(a->cheapest, b->cheapest);
	}
}

/* Sets what is known at layer i of the layers after it. */
static void look_ahead(Search *s, size_t i)
{
	static const Layer none = { .cheapest = INFINITY, .up = INFINITY, .down = INFINITY };
	const Core *c = s->core;
	size_t n = i + 1 < c->n_twins ? c->n_twins : i + 1;
	const Layer *next = n < c->n_layers ? &c->layers[n] : &none;

	s->up = next->up;
	s->down = next->down;
	s->margin_w = n > i + 1 ? c->twin_margin_w : 0;
	s->cheapest = i + 1 < c->n_layers ? c->layers[i + 1].cheapest : INFINITY;
}

static int take_moves(const Search *s, Move **ret_moves, size_t *ret_n)
{
	const Core *c = s->core;
	size_t n = 0;
	Move *moves;

	for (uint32_t t = s->best; t != NO_TRACE; t = s->traces[t].parent)
		n++;
	if (s->best == NO_TRACE)
		n = c->n_best;
	moves = malloc((n + 1) * sizeof(*moves));
	if (!moves)
		return -ENOMEM;
	n = 0;
	for (uint32_t t = s->best; t != NO_TRACE; t = s->traces[t].parent)
		moves[n++] = c->moves[s->traces[t].move];
	for (size_t i = 0; s->best == NO_TRACE && i < c->n_best; i++)
		moves[n++] = c->best[i];
	*ret_moves = moves;
	*ret_n = n;
	return 0;
}

static void search_done(Search *s)
{
	free(s->traces);
	free(s->fixed.states);
	free(s->open.states);
	free(s->sum.states);
	free(s->spare.states);
}

int core_search(Core *c, size_t effort, Move **ret_moves, size_t *ret_n, bool *ret_proved)
{
	_cleanup_(search_done) Search s = {
		.core = c,
		.best = NO_TRACE,
		.negligible = c->tolerance / (c->n_layers + 1),
		.effort = effort,
	};
	const State start = { .trace = NO_TRACE };
	int r = list_push(&s.fixed, &start);

	accumulate(c);
	for (size_t i = 0; r == 0 && i < c->n_layers && s.looked < effort; i++) {
		look_ahead(&s, i);
		r = search_layer(&s, &c->layers[i]);
		if (s.fixed.n + s.open.n == 0)
			break;
	}
	if (r < 0)
		return r;
	*ret_proved = s.looked < effort;
	return take_moves(&s, ret_moves, ret_n);
}
