/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The first phase of a plan: every class gets its floor, a least share, those of the highest weight
 * first. Where the budget does not suffice for all of one weight, they get as equal a part of it as
 * possible, and those of less weight none. A budget below what all draw at their least is out of
 * reach: taking the floors would cost what was promised, and would not meet it. */

#include <errno.h>
#include <math.h>

#include "plan/plan-work.h"

/* A part of a floor is found to about a millionth. */
#define BISECTIONS 20
/* Where the budget is out of reach, what lies above a floor is taken for so much or more. */
#define WORTH_TAKING_W 1.0

/* Of all classes of a kind. */
typedef struct Wish {
	size_t kind, count;
	double floor, weight, least_w;
} Wish;

typedef struct Wishes {
	const ChoiceList *list;
	const size_t *first;
	Wish *wishes;
	size_t n;
} Wishes;

static double watts_within(const Choice *c, const Part *p, double share)
{
	double width = p->hi_share - p->lo_share;

	return !p->asleep && share > p->lo_share && width > 0
		       ? c->lo_w + (c->hi_w - c->lo_w) * ((share - p->lo_share) / width)
		       : c->lo_w;
}

/* The least watts of a class that give it the share. */
static double watts_for(const ChoiceList *l, size_t from, size_t to, double share)
{
	double least_w = INFINITY;

	for (; from < to; from++)
		if (share <= 0 || l->parts[from].hi_share >= share)
			least_w = MIN(least_w,
				      watts_within(&l->choices[from], &l->parts[from], share));
	return least_w;
}

static double most_share(const ChoiceList *l, size_t from, size_t to)
{
	double most = 0;

	for (; from < to; from++)
		if (!l->parts[from].asleep)
			most = MAX(most, l->parts[from].hi_share);
	return most;
}

static int heavier_first(const void *a, const void *b)
{
	const Wish *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->kind < y->kind ? -1 : x->kind > y->kind;
}

/* Above the least, for a part of the floors of wishes [from, to). */
static double extra_watts(const Wishes *s, size_t from, size_t to, double part)
{
	double sum_w = 0;

	for (; from < to; from++) {
		const Wish *wish = &s->wishes[from];

		sum_w += (double)wish->count *
			 (watts_for(s->list, s->first[wish->kind], s->first[wish->kind + 1],
				    part * wish->floor) -
			  wish->least_w);
	}
	return sum_w;
}

/* The largest part of their floors that fits into the room. */
static double largest_part(const Wishes *s, size_t from, size_t to, double room_w)
{
	double lo = 0, hi = 1;

	if (extra_watts(s, from, to, 1) <= room_w)
		return 1;
	for (int i = 0; i < BISECTIONS; i++) {
		double mid = (lo + hi) / 2;

		if (extra_watts(s, from, to, mid) <= room_w)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

static void settle_wishes(const Wishes *s, double room_w)
{
	double part = 1;

	for (size_t from = 0, to; from < s->n; from = to) {
		for (to = from; to < s->n && s->wishes[to].weight == s->wishes[from].weight;)
			to++;
		part = part < 1 ? 0 : largest_part(s, from, to, room_w);
		room_w -= part > 0 ? extra_watts(s, from, to, part) : 0;
		for (size_t k = from; k < to; k++)
			s->wishes[k].floor *= part;
	}
}

/* Cuts the choice to the share. False: it is below. */
static bool cut(Choice *c, Part *p, double share)
{
	double part;

	if (p->hi_share < share)
		return false;
	if (p->lo_share >= share || p->asleep)
		return true;
	part = p->hi_share > p->lo_share ? (share - p->lo_share) / (p->hi_share - p->lo_share) : 1;
	c->lo_value += (c->hi_value - c->lo_value) * part;
	c->lo_w += (c->hi_w - c->lo_w) * part;
	p->lo_share = share;
	p->lo_own += (p->hi_own - p->lo_own) * part;
	if (c->lo_w >= c->hi_w) {
		c->lo_w = c->hi_w;
		c->lo_value = c->hi_value;
	}
	return true;
}

static void take_out(ChoiceList *l, size_t *first, size_t n_kinds, const double *floors)
{
	size_t n = 0;

	for (size_t c = 0, from = first[0]; c < n_kinds; c++) {
		size_t to = first[c + 1];

		first[c] = n;
		for (; from < to; from++) {
			if (floors[c] > 0 && !cut(&l->choices[from], &l->parts[from], floors[c]))
				continue;
			l->choices[n] = l->choices[from];
			l->parts[n++] = l->parts[from];
		}
	}
	first[n_kinds] = l->n = n;
}

static double weight_of(const Work *w, const Class *c)
{
	double weight = 0;

	for (size_t m = 0; m < c->n; m++)
		weight = MAX(weight, w->terms[c->members[m]].weight);
	return weight;
}

/* Nothing is promised by max-min fairness itself. */
static double promised(const Work *w, double floor)
{
	return isfinite(w->in->policy->fairness) ? floor : MIN(floor, w->in->policy->floor.share);
}

/* What each keeps where nothing meets the budget: its floor, or all that is asked of it where
 * the difference is not worth taking. */
static void stay_at_floors(const Work *w, Classes *ret)
{
	size_t n = ret->n_kinds;

	for (size_t c = 0; c < n; c++) {
		size_t from = ret->first[c], to = ret->first[c + 1];
		double most = most_share(&ret->list, from, to), asked = MIN(most, 1.0);
		double floor = MIN(promised(w, ret->floors[c]), most);
		double saved_w = watts_for(&ret->list, from, to, asked) -
				 watts_for(&ret->list, from, to, floor);

		ret->floors[c] = saved_w < WORTH_TAKING_W ? MAX(asked, floor) : floor;
	}
	take_out(&ret->list, ret->first, n, ret->floors);
}

static double least_watts(const Classes *c, size_t kind)
{
	return watts_for(&c->list, c->first[kind], c->first[kind + 1], 0);
}

/* What it draws then. What counts is more where caps do, since a cap covers what the profile may be
 * wrong by; who does next to nothing draws what it does idle. */
static double least_draw(const Work *w, const Class *c, double least_w)
{
	double idle_w = 0;

	for (size_t m = 0; m < c->n; m++) {
		const PlanDevice *d = &w->in->devices[c->members[m]];

		idle_w += d->held ? d->held_w : d->profile->idle_w;
	}
	return MIN(least_w, idle_w);
}

int keep_floors(const Work *w, const Class *classes, double budget_w, Classes *ret)
{
	size_t n = ret->n_kinds;
	_cleanup_free_ Wish *wishes = calloc(n + 1, sizeof(*wishes));
	Wishes s = { &ret->list, ret->first, wishes, 0 };
	double missing_w = -budget_w;

	if (!wishes)
		return -ENOMEM;
	for (size_t k = 0; k < n; k++) {
		double least_w = least_watts(ret, k), count = (double)ret->count[k];

		missing_w += count * least_draw(w, &classes[ret->example[k]], least_w);
		budget_w -= count * least_w;
	}
	if (missing_w > ret->floors_yield_w + SHORTFALL_LEAST_W) {
		stay_at_floors(w, ret);
		return 0;
	}
	for (size_t k = 0; k < n; k++) {
		double most = most_share(&ret->list, ret->first[k], ret->first[k + 1]);
		double floor = MIN(ret->floors[k], most);

		if (floor > 0)
			wishes[s.n++] = (Wish){ k, ret->count[k], floor,
						weight_of(w, &classes[ret->example[k]]),
						least_watts(ret, k) };
		ret->floors[k] = 0;
	}
	if (!s.n)
		return 0;
	qsort(wishes, s.n, sizeof(*wishes), heavier_first);
	settle_wishes(&s, MAX(budget_w, 0.0));
	for (size_t k = 0; k < s.n; k++)
		ret->floors[wishes[k].kind] = wishes[k].floor;
	take_out(&ret->list, ret->first, n, ret->floors);
	return 0;
}
