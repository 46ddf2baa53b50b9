/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plan/knapsack-hull.h"

#include <errno.h>
#include <string.h>

static int compare_items(const void *a, const void *b)
{
	const Item *x = a, *y = b;

	if (x->w != y->w)
		return x->w < y->w ? -1 : 1;
	if (x->v != y->v)
		return x->v > y->v ? -1 : 1;
	return x->choice < y->choice ? -1 : x->choice > y->choice;
}

/* The ends of a class's choices, by watts. */
static size_t gather(const Choice *choices, size_t n, Item *ret)
{
	bool sorted = true;
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		ret[k++] = (Item){ choices[i].lo_w, choices[i].lo_value, i, false };
		if (choices[i].hi_w > choices[i].lo_w)
			ret[k++] = (Item){ choices[i].hi_w, choices[i].hi_value, i, true };
	}
	for (size_t i = 1; sorted && i < k; i++)
		sorted = compare_items(&ret[i - 1], &ret[i]) < 0;
	if (!sorted)
		qsort(ret, k, sizeof(*ret), compare_items);
	return k;
}

static double rate_between(const Item *a, const Item *b)
{
	return (b->v - a->v) / (b->w - a->w);
}

/* Andrew's monotone chain in place: corners of rising value and strictly falling rate. */
static size_t hull(Item *items, size_t n)
{
	size_t k = 1;

	for (size_t i = 1; i < n; i++) {
		if (items[i].v <= items[k - 1].v)
			continue;
		while (k > 1 && rate_between(&items[k - 1], &items[i]) >=
					rate_between(&items[k - 2], &items[k - 1]))
			k--;
		items[k++] = items[i];
	}
	return k;
}

static int build_hulls(const Problem *p, Relaxation *r)
{
	size_t n_kinds = problem_kinds(p), n_ends = 2 * p->first[n_kinds], n = 0;
	Item *fitted;

	r->corners = malloc((n_ends + 1) * sizeof(*r->corners));
	r->first = malloc((n_kinds + 1) * sizeof(*r->first));
	r->at = calloc(p->n_classes + 1, sizeof(*r->at));
	if (!r->corners || !r->first || !r->at)
		return -ENOMEM;
	for (size_t k = 0; k < n_kinds; k++) {
		const Choice *choices = p->choices + p->first[k];
		size_t ends = gather(choices, p->first[k + 1] - p->first[k], r->corners + n);

		r->first[k] = n;
		n += hull(r->corners + n, ends);
	}
	r->first[n_kinds] = n;
	fitted = realloc(r->corners, (n + 1) * sizeof(*fitted));
	if (fitted)
		r->corners = fitted;
	return 0;
}

static Step *build_steps(const Relaxation *r, size_t n_classes, size_t *ret_n)
{
	size_t most = 0, n = 0;
	Step *steps;

	for (size_t c = 0; c < n_classes; c++) {
		size_t k = problem_kind(r->problem, c);

		most += r->first[k + 1] - r->first[k];
	}
	steps = malloc((most + 1) * sizeof(*steps));
	for (size_t c = 0; steps && c < n_classes; c++) {
		size_t k = problem_kind(r->problem, c), first = r->first[k];

		for (size_t i = first + 1; i < r->first[k + 1]; i++)
			steps[n++] = (Step){
				.rate = rate_between(&r->corners[i - 1], &r->corners[i]),
				.dw = r->corners[i].w - r->corners[i - 1].w,
				.class = c,
				.corner = i - first,
			};
	}
	*ret_n = n;
	return steps;
}

/* A total order, so that the same problem always breaks at the same step. */
static inline bool better(const Step *a, const Step *b)
{
	if (a->rate != b->rate)
		return a->rate > b->rate;
	if (a->class != b->class)
		return a->class < b->class;
	return a->corner < b->corner;
}

static inline void swap_steps(Step *a, Step *b)
{
	Step t = *a;

	*a = *b;
	*b = t;
}

/* Moves a middling step to its place among [lo, hi), better ones before it, and sums those. */
static size_t partition(Step *s, size_t lo, size_t hi, double *ret_better_w)
{
	size_t mid = lo + (hi - lo) / 2, last = hi - 1, m = lo;
	double w = 0;

	if (better(&s[mid], &s[lo]))
		swap_steps(&s[mid], &s[lo]);
	if (better(&s[last], &s[mid]))
		swap_steps(&s[last], &s[mid]);
	if (better(&s[mid], &s[lo]))
		swap_steps(&s[mid], &s[lo]);
	swap_steps(&s[mid], &s[last]);
	for (size_t i = lo; i < last; i++)
		if (better(&s[i], &s[last])) {
			w += s[i].dw;
			swap_steps(&s[i], &s[m++]);
		}
	swap_steps(&s[m], &s[last]);
	*ret_better_w = w;
	return m;
}

/* Partitions until the best steps that fit into `room`, up to the first that does not, stand before
 * the returned index: linear time on average, without sorting them all. */
static size_t find_break(Step *s, size_t n, double room)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		double w;
		size_t m = partition(s, lo, hi, &w);

		if (w > room) {
			hi = m;
			continue;
		}
		room -= w;
		if (s[m].dw > room)
			return m;
		room -= s[m].dw;
		lo = m + 1;
	}
	return lo;
}

static void sum_base(Relaxation *r, size_t n_classes)
{
	r->base_w = r->base_v = 0;
	for (size_t c = 0; c < n_classes; c++) {
		r->base_w += relaxation_base(r, c)->w;
		r->base_v += relaxation_base(r, c)->v;
	}
}

int relax(const Problem *p, double budget_w, Relaxation *ret)
{
	_cleanup_(relaxation_done) Relaxation r = { .problem = p, .break_class = p->n_classes };
	_cleanup_free_ Step *steps = NULL;
	size_t n, taken;
	int e = build_hulls(p, &r);

	if (e < 0)
		return e;
	steps = build_steps(&r, p->n_classes, &n);
	if (!steps)
		return -ENOMEM;
	sum_base(&r, p->n_classes);
	r.least_w = r.base_w;
	/* the margin keeps the sum of the corners chosen, in whatever order it is taken, within the
	 * budget; a step that fits to the last bit is left to the search */
	taken = find_break(steps, n, budget_w - r.least_w - rounding_of(p->n_classes, budget_w));
	for (size_t i = 0; i < taken; i++)
		r.at[steps[i].class] = MAX(r.at[steps[i].class], steps[i].corner);
	if (taken < n) {
		r.rate = steps[taken].rate;
		r.break_class = steps[taken].class;
	}
	sum_base(&r, p->n_classes);
	*ret = r;
	r = (Relaxation){ 0 };
	return 0;
}

void relaxation_done(Relaxation *r)
{
	free(r->corners);
	free(r->first);
	free(r->at);
}
