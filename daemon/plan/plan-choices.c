/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The choices of a class: where all its members together may stand. The share is common, because
 * the slowest member is the pace of a pool; what gives a member more than that is of no use. */

#include <errno.h>
#include <math.h>

#include "plan/plan-work.h"

/* On the way up the common share: at which piece each member is. */
typedef struct Walk {
	const Work *w;
	const Class *class;
	const Curve *curves;
	size_t *at;
	double bound;
	double scale; /* what the share is worth to all of the unit, over what to those here */
} Walk;

static int make_room(ChoiceList *l)
{
	if (l->n == l->capacity) {
		size_t capacity = l->capacity ? 2 * l->capacity : 128;
		Choice *choices = reallocarray(l->choices, capacity, sizeof(*choices));
		Part *parts;

		if (!choices)
			return -ENOMEM;
		l->choices = choices;
		parts = reallocarray(l->parts, capacity, sizeof(*parts));
		if (!parts)
			return -ENOMEM;
		l->parts = parts;
		l->capacity = capacity;
	}
	return 0;
}

int choice_add(ChoiceList *l, const Choice *choice, const Part *part)
{
	if (make_room(l) < 0)
		return -ENOMEM;
	l->choices[l->n] = *choice;
	l->parts[l->n++] = *part;
	return 0;
}

static const Piece *piece_at(const Walk *k, size_t m)
{
	return &k->curves[m].pieces[k->at[m]];
}

static double watts_at(const Walk *k, double share)
{
	double sum_w = 0;

	for (size_t m = 0; m < k->class->n; m++)
		sum_w += piece_watts(piece_at(k, m), share);
	return sum_w;
}

/* What a single device gives may be more than what it is needed for. */
static double value_at(const Walk *k, double share)
{
	double sum = 0;

	for (size_t m = 0; m < k->class->n; m++) {
		const Curve *c = &k->curves[m];
		const Piece *p = piece_at(k, m);

		sum += value_of(k->w, k->class->members[m], c, p,
				c->fixed ? MIN(p->lo_share, k->bound) : share);
	}
	return sum * k->scale;
}

/* Where all members stand at one share. */
typedef struct Stand {
	double share, watts, value;
} Stand;

static Stand stand_at(const Walk *k, double share)
{
	return (Stand){ share, watts_at(k, share), value_at(k, share) };
}

static int add_stand(const Stand *at, ChoiceList *l)
{
	const Choice c = { at->watts, at->value, at->watts, at->value };

	return choice_add(l, &c, &(Part){ at->share, at->share });
}

/* In parts that may be taken as linear. */
static int add_between(const Walk *k, double from, double to, ChoiceList *l)
{
	Stand lo = stand_at(k, from), end = stand_at(k, to), hi;
	int r = 0;

	if (end.watts <= lo.watts)
		return add_stand(&end, l);
	for (; r >= 0 && lo.share < to; lo = hi) {
		double next = value_straight_to(k->w, lo.share);
		Choice c;

		hi = next < to ? stand_at(k, next) : end;
		c = (Choice){ lo.watts, lo.value, hi.watts, MAX(hi.value, lo.value) };
		if (c.hi_w > c.lo_w)
			r = choice_add(l, &c, &(Part){ lo.share, hi.share });
	}
	return r;
}

/* The share at which the next member comes to the end of what it does now. */
static double next_end(const Walk *k, double share)
{
	double next = INFINITY;

	for (size_t m = 0; m < k->class->n; m++) {
		const Piece *p = piece_at(k, m);

		if (!k->curves[m].fixed)
			next = MIN(next, share < p->lo_share ? p->lo_share : p->hi_share);
	}
	return next;
}

/* False: a member has no more to give, so that the share cannot grow. */
static bool advance(Walk *k, double share)
{
	for (size_t m = 0; m < k->class->n; m++) {
		if (k->curves[m].fixed || piece_at(k, m)->hi_share > share)
			continue;
		if (++k->at[m] >= k->curves[m].n)
			return false;
	}
	return true;
}

static int add_awake(Walk *k, ChoiceList *l)
{
	double share = INFINITY, next;
	Stand least;
	int r;

	for (size_t m = 0; m < k->class->n; m++)
		if (!k->curves[m].fixed)
			share = MIN(share, k->curves[m].pieces[0].lo_share);
	if (!isfinite(share))
		share = 0; /* all are fixed */
	least = stand_at(k, share);
	r = add_stand(&least, l);
	while (r >= 0 && isfinite(next = next_end(k, share))) {
		next = MIN(next, MAX(k->bound, share));
		if (next > share)
			r = add_between(k, share, next, l);
		share = next;
		if (share >= k->bound || !advance(k, share))
			break;
	}
	return r;
}

/* All of a unit sleeps, or nothing. What its group's limit has pinned awake stays so. */
static bool may_sleep(const Walk *k)
{
	const Unit *u = k->class->unit;
	bool any = false;

	for (size_t m = 0; m < k->class->n; m++)
		if (k->w->pinned[k->class->members[m]])
			return false;
	for (size_t m = 0; m < u->n; m++) {
		if (!asleep_candidate_of(k->w, u->members[m]))
			return false;
		any |= k->w->frontier[u->members[m]] != NULL;
	}
	return any;
}

static double asleep_watts(const Work *w, size_t i)
{
	const Candidate *c = asleep_candidate_of(w, i);

	return w->frontier[i] ? c->cap_w * bias_of(&w->in->devices[i]) : c->cap_w;
}

/* Who may sleep asks for so little that a share of it need not be kept; a throughput that a rule
 * names is. */
static int add_asleep(const Walk *k, ChoiceList *l)
{
	Part part = { .asleep = true, .hi_share = INFINITY };
	Choice c = {};

	for (size_t m = 0; m < k->class->n; m++)
		c.lo_w += asleep_watts(k->w, k->class->members[m]);
	for (size_t m = 0; m < k->class->n; m++)
		if (k->w->terms[k->class->members[m]].floor_mb_s > 0)
			part.hi_share = 0;
	c.hi_w = c.lo_w;
	return choice_add(l, &c, &part);
}

/* A group's limit that holds some members of a unit holds all of it. */
static double scale_of(const Walk *k)
{
	const Class *c = k->class;
	double here = 0, all = 0;

	if (c->n == c->unit->n)
		return 1;
	for (size_t m = 0; m < c->n; m++)
		here += stake_of_curve(k->w, c->members[m], &k->curves[m]);
	for (size_t m = 0; m < c->unit->n; m++) {
		Curve other;

		curve_build(k->w, c->unit->members[m], &other);
		all += stake_of_curve(k->w, c->unit->members[m], &other);
	}
	return here > 0 ? all / here : 1;
}

static int start_walk(const Work *w, const Class *class, Curve *curves, Walk *ret)
{
	Walk k = { w, class, curves, calloc(class->n + 1, sizeof(*k.at)), INFINITY, 1 };

	if (!k.at)
		return -ENOMEM;
	for (size_t m = 0; m < class->n; m++) {
		curve_build(w, class->members[m], &curves[m]);
		k.bound = MIN(k.bound, MIN(curves[m].bound, w->bounds[class->members[m]]));
	}
	k.scale = scale_of(&k);
	*ret = k;
	return 0;
}

static bool is_over_limit(const Walk *k)
{
	for (size_t m = 0; m < k->class->n; m++)
		if (k->curves[m].over_limit)
			return true;
	return false;
}

/* Who asks for nothing needs none but what a rule keeps free. */
static double floor_of_member(const Walk *k, size_t m)
{
	const Curve *c = &k->curves[m];
	const Terms *t = &k->w->terms[k->class->members[m]];
	double floor = c->asked_mb_s > 0 ? t->floor_share : 0;

	if (c->fixed)
		return 0;
	return t->floor_mb_s > 0 ? MAX(floor, curve_share(c, t->floor_mb_s)) : floor;
}

/* The largest floor of its members; where their sum counts, what the floors come to together. */
static double floor_of(const Walk *k)
{
	double largest = 0, sum = 0, asked = 0;

	for (size_t m = 0; m < k->class->n; m++) {
		double floor = floor_of_member(k, m);

		largest = MAX(largest, floor);
		sum += k->curves[m].asked_mb_s * floor;
		asked += k->curves[m].asked_mb_s;
	}
	return k->class->unit->spreads && asked > 0 ? sum / asked : largest;
}

int add_choices(const Work *w, const Class *class, Curve *curves, ChoiceList *l, double *ret_floor)
{
	size_t before = l->n;
	Walk k;
	int r = start_walk(w, class, curves, &k);

	if (r < 0)
		return r;
	*ret_floor = floor_of(&k);
	if (may_sleep(&k))
		r = add_asleep(&k, l);
	if (r >= 0 && !(l->n > before && is_over_limit(&k)))
		r = class->unit->spreads ? add_spread(w, class, curves, l) : add_awake(&k, l);
	free(k.at);
	return r;
}

static void pick_asleep(Work *w, const Unit *u)
{
	for (size_t m = 0; m < u->n; m++) {
		size_t i = u->members[m];
		double watts = asleep_watts(w, i);

		w->picks[i] = (Pick){
			.piece = { asleep_candidate_of(w, i), watts, watts, watts, watts },
			.watts = watts,
			.cap_w = watts,
			.asked_mb_s = MAX(w->in->devices[i].demand_mb_s, 0.0),
		};
	}
}

/* What rounding made too much of is taken from one whose watts may be any. */
static void trim(Work *w, const Class *class, double watts)
{
	double sum_w = 0;

	for (size_t m = 0; m < class->n; m++)
		sum_w += w->picks[class->members[m]].watts;
	for (size_t m = 0; m < class->n && sum_w > watts; m++) {
		Pick *p = &w->picks[class->members[m]];
		double less_w = MAX(p->watts - 2 * (sum_w - watts), p->piece.lo_w);

		if (w->pinned[class->members[m]])
			continue;
		sum_w -= p->watts - less_w;
		p->cap_w = MAX(p->cap_w - (p->watts - less_w), p->piece.lo_cap_w);
		p->watts = less_w;
	}
}

static void pick_common(Work *w, const Class *class, const Curve *curves, const Part *part,
			double along)
{
	double share = share_along(part->lo_share, part->hi_share, along);

	for (size_t m = 0; m < class->n; m++)
		if (!w->pinned[class->members[m]])
			w->picks[class->members[m]] = curve_pick(&curves[m], share);
}

int pick_members(Work *w, const Class *class, Curve *curves, const TakenChoice *taken)
{
	const Choice *choice = &taken->choice;
	double width = choice->hi_w - choice->lo_w;
	double along = width > 0 ? (taken->watts - choice->lo_w) / width : 1;
	int r = 0;

	if (taken->part.asleep) {
		pick_asleep(w, class->unit);
		return 0;
	}
	for (size_t m = 0; m < class->n; m++)
		curve_build(w, class->members[m], &curves[m]);
	if (class->unit->spreads)
		r = pick_spread(w, class, curves, &taken->part, along);
	else
		pick_common(w, class, curves, &taken->part, along);
	trim(w, class, taken->watts);
	return r;
}
