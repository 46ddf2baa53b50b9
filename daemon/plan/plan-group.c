/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>

#include "plan/plan-work.h"

/* The choices of a set of devices, as a problem. */
typedef struct Classes {
	ChoiceList list;
	size_t *first;
} Classes;

static void classes_done(Classes *c)
{
	choice_list_done(&c->list);
	free(c->first);
}

static int add_pinned(const Work *w, size_t i, ChoiceList *l)
{
	const Pick *p = &w->picks[i];
	size_t before = l->n;
	int r = add_choices(w, i, false, l);

	if (r < 0)
		return r;
	l->n = before + 1;
	l->choices[before] = (Choice){ p->watts, p->value, p->watts, p->value };
	l->parts[before] = p->part;
	return 0;
}

static int build(const Work *w, const size_t *devices, size_t n, Classes *ret)
{
	Classes c = { .first = malloc((n + 1) * sizeof(*c.first)) };
	int r = c.first ? 0 : -ENOMEM;

	for (size_t k = 0; r == 0 && k < n; k++) {
		size_t i = devices[k];

		c.first[k] = c.list.n;
		r = w->pinned[i] ? add_pinned(w, i, &c.list)
				 : add_choices(w, i, w->keep_floor[i], &c.list);
	}
	if (r < 0) {
		classes_done(&c);
		return r;
	}
	c.first[n] = c.list.n;
	*ret = c;
	return 0;
}

static double least_of(const ChoiceList *l, size_t from, size_t to)
{
	double least = INFINITY;

	for (; from < to; from++)
		least = MIN(least, l->choices[from].lo_w);
	return least;
}

typedef struct Wish {
	size_t device;
	double weight, extra_w; /* what keeping its floor adds to the least */
} Wish;

static int compare_wishes(const void *a, const void *b)
{
	const Wish *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->device < y->device ? -1 : x->device > y->device;
}

static int floor_extra(const Work *w, size_t i, double least_w, double *ret)
{
	_cleanup_(choice_list_done) ChoiceList l = { 0 };
	int r = add_choices(w, i, true, &l);

	if (r == 0)
		*ret = least_of(&l, 0, l.n) - least_w;
	return r;
}

/* The devices with floors, and what keeping each would cost; *ret_least_w without any. */
static int gather_wishes(const Work *w, const size_t *devices, size_t n, Wish *wishes,
			 size_t *ret_n, double *ret_least_w)
{
	_cleanup_(classes_done) Classes c = { 0 };
	int r = build(w, devices, n, &c);

	*ret_n = 0;
	*ret_least_w = 0;
	for (size_t k = 0; r == 0 && k < n; k++) {
		double least_w = least_of(&c.list, c.first[k], c.first[k + 1]);
		const Terms *t = &w->terms[devices[k]];

		*ret_least_w += least_w;
		if (t->floor_mb_s <= 0 || w->pinned[devices[k]])
			continue;
		wishes[*ret_n] = (Wish){ .device = devices[k], .weight = t->weight };
		r = floor_extra(w, devices[k], least_w, &wishes[(*ret_n)++].extra_w);
	}
	return r;
}

/* Floors are kept while the budget can hold them, the heaviest devices' first. */
static int keep_floors(Work *w, const size_t *devices, size_t n, double budget_w)
{
	_cleanup_free_ Wish *wishes = NULL;
	size_t n_wishes = 0;
	double least_w;
	int r;

	for (size_t k = 0; k < n; k++) {
		w->keep_floor[devices[k]] = false;
		n_wishes += w->terms[devices[k]].floor_mb_s > 0;
	}
	if (n_wishes == 0)
		return 0;
	wishes = calloc(n_wishes, sizeof(*wishes));
	if (!wishes)
		return -ENOMEM;
	r = gather_wishes(w, devices, n, wishes, &n_wishes, &least_w);
	if (r < 0)
		return r;
	qsort(wishes, n_wishes, sizeof(*wishes), compare_wishes);
	for (size_t j = 0; j < n_wishes; j++) {
		if (least_w + wishes[j].extra_w > budget_w)
			continue;
		least_w += wishes[j].extra_w;
		w->keep_floor[wishes[j].device] = true;
	}
	return 0;
}

static Pick pick_of(const ChoiceList *l, size_t chosen, double watts)
{
	const Choice *c = &l->choices[chosen];
	double width = c->hi_w - c->lo_w;
	double share = width > 0 ? (watts - c->lo_w) / width : 0;

	return (Pick){
		.part = l->parts[chosen],
		.lo_w = c->lo_w,
		.hi_w = c->hi_w,
		.watts = watts,
		.value = c->lo_value + (c->hi_value - c->lo_value) * share,
	};
}

/* Solves some devices for a budget and writes their picks. */
static int solve_devices(Work *w, const size_t *devices, size_t n, double budget_w, Solution *ret)
{
	_cleanup_(classes_done) Classes c = { 0 };
	Problem p;
	int r = keep_floors(w, devices, n, budget_w);

	if (r < 0)
		return r;
	r = build(w, devices, n, &c);
	if (r < 0)
		return r;
	p = (Problem){ c.list.choices, c.first, n, budget_w };
	r = knapsack_solve(&p, 0, ret);
	for (size_t k = 0; r == 0 && k < n; k++)
		if (!w->pinned[devices[k]])
			w->picks[devices[k]] =
				pick_of(&c.list, c.first[k] + ret->choice[k], ret->watts[k]);
	return r;
}

static size_t members(const Work *w, size_t group, size_t *ret, double *ret_w)
{
	size_t n = 0;

	*ret_w = 0;
	for (size_t i = 0; i < w->in->n_devices; i++)
		if (w->in->devices[i].group == group) {
			*ret_w += w->picks[i].watts;
			ret[n++] = i;
		}
	return n;
}

/* Solves the first group over its limit by itself and pins it. 1: one was; 0: none is over. */
static int pin_a_group(Work *w, size_t *scratch, bool *done)
{
	for (size_t g = 0; g < w->in->n_groups; g++) {
		_cleanup_(solution_done) Solution s = { 0 };
		double group_w;
		size_t n = members(w, g, scratch, &group_w);
		int r;

		if (done[g] || !(group_w > w->in->groups[g].limit_w))
			continue;
		done[g] = true;
		r = solve_devices(w, scratch, n, MAX(w->in->groups[g].limit_w, 0.0), &s);
		if (r < 0)
			return r;
		for (size_t k = 0; k < n; k++)
			w->pinned[scratch[k]] = true;
		return 1;
	}
	return 0;
}

int solve_groups(Work *w, Solution *ret)
{
	size_t n = w->in->n_devices;
	_cleanup_free_ size_t *all = calloc(n + 1, sizeof(*all)),
			      *scratch = calloc(n + 1, sizeof(*scratch));
	_cleanup_free_ bool *done = calloc(w->in->n_groups + 1, sizeof(*done));
	_cleanup_(solution_done) Solution s = { 0 };
	double bound_value =
		0; /* the bound of the node without its groups' limits holds with them as well */
	bool pinned = false;
	int r;

	if (!all || !scratch || !done)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		all[i] = i;
		w->pinned[i] = false;
	}
	for (;;) {
		solution_done(&s);
		r = solve_devices(w, all, n, w->in->budget_w, &s);
		if (r < 0)
			return r;
		if (!pinned)
			bound_value = s.bound_value;
		r = pin_a_group(w, scratch, done);
		if (r < 0)
			return r;
		if (r == 0)
			break;
		pinned = true;
	}
	*ret = s;
	ret->bound_value = MAX(bound_value, s.total_value);
	ret->optimal = s.optimal && !pinned;
	s = (Solution){ 0 };
	return 0;
}
