/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>

#include "plan/plan-work.h"

/* Units, or what lies in one group of them. */
typedef struct Subset {
	size_t *members;
	Class *classes;
	size_t n, longest;
	double floors_yield_w; /* of the input, or of the group */
} Subset;

static void subset_done(Subset *s)
{
	free(s->members);
	free(s->classes);
}

static bool is_in(const Work *w, size_t i, size_t group)
{
	return group == PLAN_NO_GROUP || w->in->devices[i].group == group;
}

/* PLAN_NO_GROUP: all units. */
static int subset_new(const Work *w, size_t group, Subset *ret)
{
	Subset s = {
		.members = calloc(w->in->n_devices + 1, sizeof(*s.members)),
		.classes = calloc(w->units.n + 1, sizeof(*s.classes)),
	};
	size_t n = 0;

	s.floors_yield_w = group == PLAN_NO_GROUP ? w->in->floors_yield_w
						  : w->in->groups[group].floors_yield_w;
	if (!s.members || !s.classes) {
		subset_done(&s);
		return -ENOMEM;
	}
	for (size_t u = 0; u < w->units.n; u++) {
		const Unit *unit = &w->units.units[u];
		Class *c = &s.classes[s.n];

		*c = (Class){ .members = s.members + n, .unit = unit };
		for (size_t m = 0; m < unit->n; m++)
			if (is_in(w, unit->members[m], group)) {
				s.members[n++] = unit->members[m];
				c->n++;
			}
		s.longest = MAX(s.longest, c->n);
		s.n += c->n > 0;
	}
	*ret = s;
	return 0;
}

static void classes_done(Classes *c)
{
	free(c->list.choices);
	free(c->list.parts);
	free(c->kind);
	free(c->count);
	free(c->example);
	free(c->first);
	free(c->floors);
}

/* One before it of a device alike, with the same choices; itself where there is none. */
static size_t like_class(const Work *w, const Subset *s, size_t c, const size_t *class_of)
{
	const Class *class = &s->classes[c];
	size_t i = class->members[0], first = w->alike[i];

	return class->unit->n == 1 && first < i && are_alike(w, i, first) ? class_of[first] : c;
}

static int classes_new(size_t n, Classes *ret)
{
	ret->kind = calloc(n + 1, sizeof(*ret->kind));
	ret->count = calloc(n + 1, sizeof(*ret->count));
	ret->example = calloc(n + 1, sizeof(*ret->example));
	ret->first = calloc(n + 1, sizeof(*ret->first));
	ret->floors = calloc(n + 1, sizeof(*ret->floors));
	return ret->kind && ret->count && ret->example && ret->first && ret->floors ? 0 : -ENOMEM;
}

static int build(const Work *w, const Subset *s, Curve *curves, Classes *ret)
{
	_cleanup_free_ size_t *class_of = calloc(w->in->n_devices + 1, sizeof(*class_of));
	int r = class_of ? classes_new(s->n, ret) : -ENOMEM;

	for (size_t c = 0; r >= 0 && c < s->n; c++) {
		const Class *class = &s->classes[c];
		size_t like = like_class(w, s, c, class_of), kind = ret->n_kinds;

		class_of[class->members[0]] = c;
		if (like < c) {
			ret->kind[c] = ret->kind[like];
			ret->count[ret->kind[c]]++;
			continue;
		}
		r = add_choices(w, class, curves, &ret->list, &ret->floors[kind]);
		ret->kind[c] = kind;
		ret->example[kind] = c;
		ret->count[kind] = 1;
		ret->first[++ret->n_kinds] = ret->list.n;
	}
	return r;
}

static int take_picks(Work *w, const Subset *s, const Classes *c, const Solution *solution,
		      Curve *curves)
{
	int r = 0;

	for (size_t k = 0; k < s->n && r >= 0; k++) {
		size_t chosen = c->first[c->kind[k]] + solution->choice[k];
		TakenChoice taken = { c->list.choices[chosen], c->list.parts[chosen],
				      solution->watts[k] };

		r = pick_members(w, &s->classes[k], curves, &taken);
	}
	return r;
}

/* Watts that a group leaves to the others are worth their price. */
static void take_price(double price, ChoiceList *l)
{
	for (size_t k = 0; k < l->n; k++) {
		Choice *c = &l->choices[k];

		c->lo_value -= price * c->lo_w;
		c->hi_value -= price * c->hi_w;
		if (c->hi_value >= c->lo_value)
			continue;
		c->hi_value = c->lo_value;
		c->hi_w = c->lo_w;
		l->parts[k].hi_share = l->parts[k].lo_share;
		l->parts[k].hi_own = l->parts[k].lo_own;
	}
}

/* Solves for a budget, where a watt has its price, and writes the picks. */
static int solve_subset(Work *w, const Subset *s, double budget_w, double price, Solution *ret)
{
	_cleanup_free_ Curve *curves = calloc(s->longest + 1, sizeof(*curves));
	_cleanup_(classes_done) Classes c = { .floors_yield_w = s->floors_yield_w };
	Problem p;
	int r = curves ? build(w, s, curves, &c) : -ENOMEM;

	if (r >= 0)
		r = keep_floors(w, s->classes, budget_w, &c);
	if (r < 0)
		return r;
	take_price(price, &c.list);
	p = (Problem){ c.list.choices, c.first, s->n, budget_w, c.kind, c.n_kinds };
	r = knapsack_solve(&p, w->effort, ret);
	return r < 0 ? r : take_picks(w, s, &c, ret, curves);
}

double group_watts(const Work *w, size_t group)
{
	double sum_w = 0;

	for (size_t i = 0; i < w->in->n_devices; i++)
		sum_w += w->in->devices[i].group == group ? w->picks[i].watts : 0;
	return sum_w;
}

/* What sleeps takes all of its unit along. */
static void pin(Work *w, const Class *c)
{
	bool asleep = false;

	for (size_t m = 0; m < c->n; m++) {
		size_t i = c->members[m];

		w->pinned[i] = true;
		asleep |=
			w->frontier[i] && w->picks[i].piece.candidate == asleep_candidate_of(w, i);
	}
	for (size_t m = 0; m < c->unit->n && asleep; m++)
		w->pinned[c->unit->members[m]] = true;
}

/* Solves a group within its limit, and nothing changes it any more. */
static int pin_group(Work *w, size_t group, double price)
{
	_cleanup_(solution_done) Solution solution = {};
	_cleanup_(subset_done) Subset s = {};
	int r = subset_new(w, group, &s);

	if (r >= 0)
		r = solve_subset(w, &s, MAX(w->in->groups[group].limit_w, 0.0), price, &solution);
	for (size_t c = 0; r >= 0 && c < s.n; c++)
		pin(w, &s.classes[c]);
	return r;
}

/* 1: the first group over its limit was pinned; 0: none is over. */
static int pin_a_group(Work *w, double price, bool *done)
{
	for (size_t g = 0; g < w->in->n_groups; g++) {
		if (done[g] || !(group_watts(w, g) > w->in->groups[g].limit_w))
			continue;
		done[g] = true;
		return pin_group(w, g, price) < 0 ? -ENOMEM : 1;
	}
	return 0;
}

int solve_at_price(Work *w, double price, double *ret_bound, Solution *ret)
{
	_cleanup_free_ bool *done = calloc(w->in->n_groups + 1, sizeof(*done));
	_cleanup_(solution_done) Solution s = {};
	_cleanup_(subset_done) Subset all = {};
	bool pinned = false;
	int r = done ? subset_new(w, PLAN_NO_GROUP, &all) : -ENOMEM;

	for (size_t i = 0; i < w->in->n_devices; i++)
		w->pinned[i] = false;
	while (r >= 0) {
		solution_done(&s);
		r = solve_subset(w, &all, w->in->budget_w, 0, &s);
		if (r < 0)
			return r;
		if (!pinned)
			*ret_bound = s.bound_value;
		r = pin_a_group(w, price, done);
		if (r == 0)
			break;
		pinned = true;
	}
	if (r < 0)
		return r;
	*ret = s;
	ret->optimal = s.optimal && !pinned;
	s = (Solution){};
	return pinned;
}
