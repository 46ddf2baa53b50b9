/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "petri/steady.h"

#include <errno.h>
#include <string.h>

#include "petri/aggregate.h"

#define CHAIN_OUTSIDE UINT32_MAX

/* The chain of n states of the graph; position[] is a state's place among them or CHAIN_OUTSIDE. */
static int make_chain(const PetriGraph *g, const uint32_t *position, size_t n, Chain *ret)
{
	Chain c;
	int r = chain_new(n, g->n_arcs, &c);

	if (r < 0)
		return r;
	for (size_t k = 0; k < g->n_arcs; k++)
		if (position[g->to[k]] != CHAIN_OUTSIDE)
			c.row[position[g->to[k]] + 2]++;
	for (size_t i = 0; i < n; i++)
		c.row[i + 2] += c.row[i + 1];
	for (size_t i = 0; i < g->states.n; i++) {
		for (size_t k = g->row[i]; position[i] != CHAIN_OUTSIDE && k < g->row[i + 1]; k++) {
			size_t at = c.row[position[g->to[k]] + 1]++;

			c.from[at] = position[i];
			c.rate[at] = g->rate[k];
			c.leave[position[i]] += g->rate[k];
		}
	}
	*ret = c;
	return 0;
}

/* Marks what can be reached and lists it in the order of discovery. */
static size_t reach(const size_t *row, const uint32_t *to, size_t start, bool *seen, uint32_t *list)
{
	size_t n = 1;

	list[0] = (uint32_t)start;
	seen[start] = true;
	for (size_t i = 0; i < n; i++)
		for (size_t k = row[list[i]]; k < row[list[i] + 1]; k++)
			if (!seen[to[k]]) {
				seen[to[k]] = true;
				list[n++] = to[k];
			}
	return n;
}

/* Lists the states that are never left once entered. It walks from a state to the last one behind
 * it that knows no way back, until there is none. */
static int closed_class(const PetriGraph *g, const Chain *all, uint32_t *list, size_t *ret_n)
{
	size_t n = all->n, start = 0, n_ahead = 0, n_behind = 0;
	_cleanup_free_ bool *ahead = calloc(n, sizeof(*ahead)),
			    *behind = calloc(n, sizeof(*behind));
	_cleanup_free_ uint32_t *before = calloc(n, sizeof(*before));

	if (!ahead || !behind || !before)
		return -ENOMEM;
	for (bool closed = false; !closed;) {
		memset(ahead, false, n);
		memset(behind, false, n);
		n_ahead = reach(g->row, g->to, start, ahead, list);
		n_behind = reach(all->row, all->from, start, behind, before);
		closed = true;
		for (size_t i = n_ahead; closed && i-- > 0;)
			if (!behind[list[i]]) {
				start = list[i];
				closed = false;
			}
	}
	*ret_n = n_ahead;
	return n_behind == n ? 0 : -ENOTUNIQ;
}

/* The chain of the closed class alone: list[i] is its state i. */
static int closed_chain(const PetriGraph *g, uint32_t *list, Chain *ret)
{
	_cleanup_free_ uint32_t *position = calloc(g->states.n, sizeof(*position));
	_cleanup_(chain_done) Chain all = { 0 };
	size_t n;
	int r;

	if (!position)
		return -ENOMEM;
	for (size_t i = 0; i < g->states.n; i++)
		position[i] = (uint32_t)i;
	r = make_chain(g, position, g->states.n, &all);
	if (r >= 0)
		r = closed_class(g, &all, list, &n);
	if (r < 0)
		return r;
	chain_done(&all);
	memset(position, 0xff, g->states.n * sizeof(*position));
	for (size_t i = 0; i < n; i++)
		position[list[i]] = (uint32_t)i;
	return make_chain(g, position, n, ret);
}

int petri_steady(const PetriGraph *g, double **ret_shares)
{
	size_t n = g->states.n;
	_cleanup_(chain_done) Chain chain = { 0 };
	_cleanup_free_ uint32_t *list = calloc(n, sizeof(*list));
	_cleanup_free_ double *x = calloc(n, sizeof(*x)), *shares = calloc(n, sizeof(*shares));
	int r;

	if (!list || !x || !shares)
		return -ENOMEM;
	r = closed_chain(g, list, &chain);
	if (r >= 0)
		r = chain_solve(&chain, x);
	if (r < 0)
		return r;
	for (size_t i = 0; i < chain.n; i++)
		shares[list[i]] = x[i];
	*ret_shares = TAKE_PTR(shares);
	return 0;
}
