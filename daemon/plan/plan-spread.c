/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A pool of which any member may serve what is asked: mirrors that read from either leg. What its
 * members give together counts, and which of them gives it is an inner choice: each goes as far as
 * that is the cheapest. They go in strides, along the lower hulls of their curves, the cheapest
 * stride first; where a budget ends within a stride, that member's own pieces are the choices. */

#include <errno.h>
#include <math.h>

#include "plan/plan-work.h"

#define ENDS_MAX (2 * (2 * FRONTIER_MAX))

/* An end of a piece. */
typedef struct End {
	double share, watts, given; /* given: what counts of the share, in MB/s */
} End;

/* Of one member, from where it stands to one of its ends. */
typedef struct Stride {
	size_t member, order;
	double from, to; /* shares */
	double rate;     /* MB/s per watt */
} Stride;

typedef struct Strides {
	Stride *list;
	size_t n;
} Strides;

/* Where all members stand on the way. */
typedef struct Stands {
	const Work *w;
	const Class *class;
	const Curve *curves;
	Pick *picks;
} Stands;

static double given(const Curve *c, double share)
{
	return c->asked_mb_s * MIN(share, 1.0) + SPARE_WORTH * c->full_mb_s * MAX(share - 1, 0.0);
}

static size_t list_ends(const Curve *c, End *ret)
{
	size_t n = 0;

	for (size_t k = 0; k < c->n; k++) {
		const Piece *p = &c->pieces[k];

		ret[n++] = (End){ p->lo_share, p->lo_w, given(c, p->lo_share) };
		if (p->hi_share > p->lo_share)
			ret[n++] = (End){ p->hi_share, p->hi_w, given(c, p->hi_share) };
	}
	return n;
}

static double rate_between(const End *a, const End *b)
{
	return b->watts > a->watts ? (b->given - a->given) / (b->watts - a->watts) : INFINITY;
}

/* Moves the cheapest end and the corners of the hull above it to the front. */
static size_t hull(End *ends, size_t n)
{
	size_t least = 0, k = 1;

	for (size_t i = 1; i < n; i++)
		if (ends[i].watts <= ends[least].watts)
			least = i;
	ends[0] = ends[least];
	for (size_t i = least + 1; i < n; i++) {
		if (ends[i].given <= ends[k - 1].given)
			continue;
		while (k > 1 && rate_between(&ends[k - 1], &ends[i]) >=
					rate_between(&ends[k - 2], &ends[k - 1]))
			k--;
		ends[k++] = ends[i];
	}
	return k;
}

static int cheapest_first(const void *a, const void *b)
{
	const Stride *x = a, *y = b;

	if (x->rate != y->rate)
		return x->rate > y->rate ? -1 : 1;
	if (x->member != y->member)
		return x->member < y->member ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Members begin where they draw least. */
static int list_strides(const Curve *curves, size_t n_members, Stands *s, Strides *ret)
{
	size_t most = 0, n = 0;
	Stride *list;

	for (size_t m = 0; m < n_members; m++)
		most += 2 * curves[m].n;
	list = calloc(most + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (size_t m = 0; m < n_members; m++) {
		End ends[ENDS_MAX];
		size_t k = hull(ends, list_ends(&curves[m], ends));

		s->picks[m] = curve_pick(&curves[m], ends[0].share);
		for (size_t i = 1; i < k && !curves[m].fixed; i++)
			list[n++] = (Stride){ m, i, ends[i - 1].share, ends[i].share,
					      rate_between(&ends[i - 1], &ends[i]) };
	}
	qsort(list, n, sizeof(*list), cheapest_first);
	*ret = (Strides){ list, n };
	return 0;
}

/* Of what is asked of them together; above 1 that of what they could give besides. */
static double share_of(const Stands *s)
{
	double asked = 0, full = 0, served = 0, spare = 0;

	for (size_t m = 0; m < s->class->n; m++) {
		const Curve *c = &s->curves[m];

		asked += c->asked_mb_s;
		full += c->full_mb_s;
		served += c->asked_mb_s * MIN(s->picks[m].share, 1.0);
		spare += c->full_mb_s * MAX(s->picks[m].share - 1, 0.0);
	}
	if (served < asked)
		return served / asked;
	return full > 0 ? 1 + spare / full : 1;
}

typedef struct Stand {
	double own, share, watts, value; /* own: the share of the member that moves */
} Stand;

static Stand stand_of(const Stands *s, double own)
{
	Stand at = { own, share_of(s), 0, 0 };

	for (size_t m = 0; m < s->class->n; m++) {
		const Pick *p = &s->picks[m];

		at.watts += p->watts;
		at.value +=
			value_of(s->w, s->class->members[m], &s->curves[m], &p->piece, at.share);
	}
	return at;
}

/* The member on that piece of its curve, at that share of its own. */
static Stand stand_at(const Stands *s, size_t m, const Piece *p, double own)
{
	s->picks[m].piece = *p;
	s->picks[m].share = own;
	s->picks[m].watts = piece_watts(p, own);
	return stand_of(s, own);
}

static int add(const Stand *lo, const Stand *hi, size_t stride, ChoiceList *l)
{
	Choice c = { lo->watts, lo->value, hi->watts, MAX(hi->value, lo->value) };
	Part part = { lo->share, hi->share, false, stride, lo->own, hi->own };

	return choice_add(l, &c, &part);
}

/* In parts that may be taken as linear. */
static int add_piece(const Stands *s, size_t m, const Piece *p, size_t stride, ChoiceList *l)
{
	Stand lo = stand_at(s, m, p, p->lo_share), end = stand_at(s, m, p, p->hi_share), hi;
	double per_own;
	int r = 0;

	if (p->hi_share <= 1) /* what others give besides counts when all of it is served */
		end.share = MIN(end.share, 1.0);
	per_own = (end.share - lo.share) / (end.own - lo.own);
	if (end.watts <= lo.watts)
		return add(&end, &end, stride, l);
	for (; r >= 0 && lo.own < end.own; lo = hi) {
		double more = value_straight_to(s->w, lo.share) - lo.share;

		hi = per_own > 0 && lo.own + more / per_own < end.own
			     ? stand_at(s, m, p, lo.own + more / per_own)
			     : end;
		if (hi.watts > lo.watts)
			r = add(&lo, &hi, stride, l);
	}
	return r;
}

/* All that the member can do on that way, while the others stay where they are. */
static int add_stride(const Stands *s, const Strides *strides, size_t k, ChoiceList *l)
{
	const Stride *stride = &strides->list[k];
	const Curve *c = &s->curves[stride->member];
	int r = 0;

	for (size_t i = 0; i < c->n && r >= 0; i++) {
		const Piece *p = &c->pieces[i];

		if (p->lo_share > stride->from && p->lo_share <= stride->to) {
			Stand at = stand_at(s, stride->member, p, p->lo_share);

			r = add(&at, &at, k, l);
		}
		if (r >= 0 && p->hi_share > p->lo_share && p->lo_share >= stride->from &&
		    p->hi_share <= stride->to)
			r = add_piece(s, stride->member, p, k, l);
	}
	s->picks[stride->member] = curve_pick(c, stride->to);
	return r;
}

static int start(const Work *w, const Class *class, const Curve *curves, Stands *s,
		 Strides *strides)
{
	*s = (Stands){ w, class, curves, calloc(class->n + 1, sizeof(Pick)) };
	return s->picks ? list_strides(curves, class->n, s, strides) : -ENOMEM;
}

int add_spread(const Work *w, const Class *class, const Curve *curves, ChoiceList *l)
{
	Strides strides = {};
	Stands s;
	int r = start(w, class, curves, &s, &strides);

	if (r >= 0) {
		Stand least = stand_of(&s, 0);

		/* no stride is taken: as if none of the first were */
		least.own = strides.n ? strides.list[0].from : 0;
		r = add(&least, &least, 0, l);
	}
	for (size_t k = 0; k < strides.n && r >= 0; k++)
		r = add_stride(&s, &strides, k, l);
	free(strides.list);
	free(s.picks);
	return r;
}

int pick_spread(Work *w, const Class *class, const Curve *curves, const Part *part, double along)
{
	Strides strides = {};
	Stands s;
	int r = start(w, class, curves, &s, &strides);

	for (size_t k = 0; r >= 0 && k < strides.n && k <= part->stride; k++) {
		const Stride *stride = &strides.list[k];
		double own = k < part->stride ? stride->to
					      : share_along(part->lo_own, part->hi_own, along);

		s.picks[stride->member] = curve_pick(&curves[stride->member], own);
	}
	for (size_t m = 0; m < class->n && r >= 0; m++)
		if (!w->pinned[class->members[m]])
			w->picks[class->members[m]] = s.picks[m];
	free(strides.list);
	free(s.picks);
	return r;
}
