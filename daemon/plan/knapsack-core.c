/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plan/knapsack-core.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static inline Move move_to(const Item *base, double rate, double w, double v)
{
	double dw = w - base->w, loss = rate * dw - (v - base->v);

	return (Move){ .dw = dw, .loss = loss > 0 ? loss : 0 };
}

/* The moves that a choice allows: its lower end, its upper end, the segment between. Those that
 * draw more and give less than the base are left out. */
static size_t moves_of(const Core *c, const Item *base, const Choice *ch, Move ret[3])
{
	Move lo = move_to(base, c->rate, ch->lo_w, ch->lo_value), hi, open;
	size_t n = 0;

	if (ch->lo_w < base->w || ch->lo_value > base->v)
		ret[n++] = lo;
	if (ch->hi_w <= ch->lo_w)
		return n;
	hi = move_to(base, c->rate, ch->hi_w, ch->hi_value);
	hi.top = true;
	if (ch->hi_w < base->w || ch->hi_value > base->v)
		ret[n++] = hi;
	if (ch->lo_w < base->w || ch->hi_value > base->v) {
		open = lo;
		open.len = ch->hi_w - ch->lo_w;
		open.dloss = hi.loss - lo.loss;
		ret[n++] = open;
	}
	return n;
}

static void keep_better(Core *c, const Move *first, const Move *second)
{
	Move sum = *second;
	double loss;

	if (first) {
		sum.dw += first->dw;
		sum.loss += first->loss;
	}
	loss = settle(c, &sum);
	if (loss >= c->loss)
		return;
	c->loss = loss;
	c->n_best = 0;
	c->best[c->n_best++] = *second;
	if (first)
		c->best[c->n_best++] = *first;
}

/* Tries each single move, alone or after `first`: a good solution in hand before the search rules
 * out most moves. */
static void try_single_moves(Core *c, const Problem *p, const Relaxation *r, const Move *first)
{
	/* of one kind, at one corner, the first class has the same moves as all others */
	_cleanup_free_ bool *seen = calloc(r->first[problem_kinds(p)] + 1, sizeof(*seen));

	for (size_t i = 0; i < p->n_classes; i++) {
		const Item *base = relaxation_base(r, i);

		if ((first && first->class == i) || (seen && seen[base - r->corners]))
			continue;
		if (seen)
			seen[base - r->corners] = true;
		for (size_t k = problem_from(p, i); k < problem_to(p, i); k++) {
			Move m[3];
			size_t n = moves_of(c, base, &p->choices[k], m);

			for (size_t j = 0; j < n; j++) {
				if (least_loss(&m[j]) >= c->loss)
					continue;
				m[j].class = i;
				m[j].choice = k - problem_from(p, i);
				keep_better(c, first, &m[j]);
			}
		}
	}
}

static Move break_move(const Core *c, const Relaxation *r)
{
	const Item *base = relaxation_base(r, r->break_class);
	Move m = move_to(base, c->rate, base[1].w, base[1].v);

	m.class = r->break_class;
	m.choice = base[1].choice;
	m.top = base[1].top;
	return m;
}

static void ratio(double dw, double loss, Layer *l)
{
	if (dw > 0)
		l->up = MIN(l->up, loss / dw);
	else if (dw < 0)
		l->down = MIN(l->down, loss / -dw);
}

/* Counts, or with `moves` also writes, the moves of one class that may still be of use. */
static size_t class_moves(const Core *c, const Problem *p, const Relaxation *r, size_t class,
			  Move *moves, Layer *l)
{
	const Item *base = relaxation_base(r, class);
	size_t kept = 0;

	for (size_t k = problem_from(p, class); k < problem_to(p, class); k++) {
		Move m[3];
		size_t n = moves_of(c, base, &p->choices[k], m);

		for (size_t j = 0; j < n; j++) {
			if (least_loss(&m[j]) >= c->loss - c->tolerance)
				continue;
			if (moves) {
				m[j].class = class;
				m[j].choice = k - problem_from(p, class);
				moves[kept] = m[j];
				l->cheapest = MIN(l->cheapest, least_loss(&m[j]));
				ratio(m[j].dw, m[j].loss, l);
				if (m[j].len > 0)
					ratio(m[j].dw + m[j].len, m[j].loss + m[j].dloss, l);
			}
			kept++;
		}
	}
	return kept;
}

static inline double nearness(const Layer *l)
{
	return MIN(l->up, l->down);
}

static int compare_layers(const void *a, const void *b)
{
	const Layer *x = a, *y = b;

	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static bool is_twin(const Problem *p, const Relaxation *r, size_t class)
{
	size_t a = problem_from(p, class), b = problem_from(p, r->break_class);
	size_t n = problem_to(p, class) - a;

	return n == problem_to(p, r->break_class) - b &&
	       (a == b || memcmp(p->choices + a, p->choices + b, n * sizeof(*p->choices)) == 0);
}

/* The twins come first; those that have taken the break step are spread evenly among those that
 * have not. */
static void order_layers(Core *c, const Problem *p, const Relaxation *r)
{
	size_t n[2] = { 0 }, seen[2] = { 0 };
	double span = 0;

	for (size_t i = 0; i < c->n_layers; i++) {
		Layer *l = &c->layers[i];
		size_t class = c->moves[l->first].class;

		l->order = is_twin(p, r, class) ? -1 : nearness(l);
		n[r->at[class] == r->at[r->break_class]] += l->order < 0;
	}
	for (size_t i = 0; i < c->n_layers; i++) {
		Layer *l = &c->layers[i];
		bool kind = r->at[c->moves[l->first].class] == r->at[r->break_class];
		double least = 0, most = 0;

		if (l->order >= 0)
			continue;
		l->order = (seen[kind]++ + 0.5) / n[kind] - 1;
		for (size_t k = l->first; k < l->first + l->n_moves; k++) {
			least = MIN(least, c->moves[k].dw);
			most = MAX(most, c->moves[k].dw + c->moves[k].len);
		}
		span = MAX(span, most - least);
	}
	c->n_twins = n[0] + n[1];
	c->twin_margin_w = c->slack_w + 3 * span;
}

static int collect(Core *c, const Problem *p, const Relaxation *r)
{
	size_t n_moves = 0, n_layers = 0;

	for (size_t i = 0; i < p->n_classes; i++) {
		size_t n = class_moves(c, p, r, i, NULL, NULL);

		n_moves += n;
		n_layers += n > 0;
	}
	c->moves = malloc((n_moves + 1) * sizeof(*c->moves));
	c->layers = malloc((n_layers + 1) * sizeof(*c->layers));
	if (!c->moves || !c->layers)
		return -ENOMEM;
	n_moves = 0;
	for (size_t i = 0; i < p->n_classes; i++) {
		Layer l = {
			.first = n_moves, .cheapest = INFINITY, .up = INFINITY, .down = INFINITY
		};

		l.n_moves = class_moves(c, p, r, i, c->moves + n_moves, &l);
		if (l.n_moves == 0)
			continue;
		n_moves += l.n_moves;
		c->layers[c->n_layers++] = l;
	}
	order_layers(c, p, r);
	qsort(c->layers, c->n_layers, sizeof(*c->layers), compare_layers);
	return 0;
}

int core_build(const Problem *p, const Relaxation *r, double budget_w, double tolerance, Core *ret)
{
	Core c = {
		.slack_w = budget_w - r->base_w + rounding_of(p->n_classes, budget_w),
		.rate = r->rate,
		.tolerance = tolerance,
	};
	int e = 0;

	c.loss = c.rate * c.slack_w;
	if (r->break_class < p->n_classes && c.loss > c.tolerance) {
		Move m = break_move(&c, r);

		try_single_moves(&c, p, r, NULL);
		if (c.loss > c.tolerance)
			try_single_moves(&c, p, r, &m);
		if (c.loss > c.tolerance)
			e = collect(&c, p, r);
	}
	if (e < 0)
		core_done(&c);
	else
		*ret = c;
	return e;
}

void core_done(Core *c)
{
	free(c->moves);
	free(c->layers);
}
