/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a device gives for what watts: its frontier in shares of what it is asked for. */

#include <math.h>

#include "plan/plan-work.h"

#define UNTOUCHED_MORE 1e-9 /* of a share: enough to be told apart */

static double between(double lo, double hi, double part)
{
	return lo + (hi - lo) * part;
}

Piece piece_between(const Piece *p, double from, double to)
{
	return (Piece){
		.candidate = p->candidate,
		.lo_w = between(p->lo_w, p->hi_w, from),
		.hi_w = between(p->lo_w, p->hi_w, to),
		.lo_cap_w = between(p->lo_cap_w, p->hi_cap_w, from),
		.hi_cap_w = between(p->lo_cap_w, p->hi_cap_w, to),
		.lo_mb_s = between(p->lo_mb_s, p->hi_mb_s, from),
		.hi_mb_s = between(p->lo_mb_s, p->hi_mb_s, to),
		.lo_share = between(p->lo_share, p->hi_share, from),
		.hi_share = between(p->lo_share, p->hi_share, to),
	};
}

static double part_at(const Piece *p, double share)
{
	double width = p->hi_share - p->lo_share;

	return width > 0 ? CLAMP((share - p->lo_share) / width, 0.0, 1.0) : 0;
}

double piece_watts(const Piece *p, double share)
{
	return between(p->lo_w, p->hi_w, part_at(p, share));
}

double piece_cap(const Piece *p, double share)
{
	return between(p->lo_cap_w, p->hi_cap_w, part_at(p, share));
}

double curve_share(const Curve *c, double mb_s)
{
	if (mb_s < c->asked_mb_s)
		return mb_s / c->asked_mb_s;
	return c->full_mb_s > 0 ? 1 + (mb_s - c->asked_mb_s) / c->full_mb_s : 1;
}

/* With a latency weight of 1, a doubled p99 makes half of a share. It does so where all that is
 * asked for is served, too; to who asks for nothing it does nothing. */
static double share_of(const Work *w, const Curve *c, double mb_s, double p99_us)
{
	double weight = w->in->policy->latency_weight, share = curve_share(c, mb_s);

	if (weight <= 0 || !(p99_us > c->as_found_us) || !(c->as_found_us > 0) ||
	    !(c->asked_mb_s > 0))
		return share;
	return MIN(share, 1.0) * pow(c->as_found_us / p99_us, weight);
}

/* What counts of a candidate that is held to nothing but cap_w, at what is asked of the device. */
static double counted_at(const Work *w, size_t i, const Curve *curve, const Candidate *c,
			 double cap_w)
{
	const PlanDevice *d = &w->in->devices[i];
	Setting s = c->setting;
	Prediction p;

	if (!counts_expected(w, i))
		return cap_w;
	if (!(curve->asked_mb_s > 0)) {
		s.condition = deeper(s.condition, light_rest_of(w, i));
		s.link = link_rest_of(w, i);
	}
	predict_demand(d->profile, &d->mix, &s, curve->asked_mb_s, &p);
	return counted_w(w, i, p.watts * bias_of(d), cap_w);
}

/* Where pacing holds it back it draws what it is paced to. */
static double counted_paced(const Work *w, size_t i, const Candidate *c, double cap_w)
{
	const PlanDevice *d = &w->in->devices[i];
	Candidate at;

	if (!counts_expected(w, i))
		return cap_w;
	candidate_at(d->profile, &d->mix, c, cap_w / bias_of(d), &at);
	return counted_w(w, i, at.expect_w * bias_of(d), cap_w);
}

static Piece piece_of(const Work *w, size_t i, const Curve *curve, const Candidate *c)
{
	const PlanDevice *d = &w->in->devices[i];
	double bias = bias_of(d);
	Piece p = { c, 0, 0, c->cap_w * bias, c->cap_w * bias, c->mb_s, c->mb_s, 0, 0 };
	Candidate top = *c;

	p.lo_share = p.hi_share = share_of(w, curve, c->mb_s, c->p99_us);
	p.lo_w = p.hi_w = counted_at(w, i, curve, c, p.lo_cap_w);
	if (!c->paced || c->cap_hi_w <= c->cap_w)
		return p;
	p.hi_cap_w = c->cap_hi_w * bias;
	if (p.lo_share < 1 || !counts_expected(w, i)) {
		p.lo_w = counted_paced(w, i, c, p.lo_cap_w);
		p.hi_w = counted_paced(w, i, c, p.hi_cap_w);
	} else {
		p.hi_w = p.lo_w + w->strictness * (p.hi_cap_w - p.lo_cap_w);
	}
	p.hi_mb_s = MAX(c->mb_s_hi, c->mb_s);
	if (w->in->policy->latency_weight > 0)
		candidate_at(d->profile, &d->mix, c, c->cap_hi_w, &top);
	p.hi_share = MAX(p.lo_share, share_of(w, curve, p.hi_mb_s, top.p99_us));
	return p;
}

/* As found it may give no more now than the best setting does, but it gives that to whatever comes
 * next, and where what it can draw does not count that costs nothing. */
static bool is_untouched(const Work *w, size_t i, const Piece *p)
{
	return counts_expected(w, i) && setting_equal(&p->candidate->setting, &SETTING_AS_FOUND);
}

/* Below what cheaper pieces give it is of no use, and at what is asked for it bends: what may be
 * drawn above that is not expected to be. */
static void add_piece(const Work *w, size_t i, Curve *c, const Piece *piece)
{
	double reached = c->n ? c->pieces[c->n - 1].hi_share : -INFINITY;
	Piece p = *piece, *asked;

	if (is_untouched(w, i, &p))
		p.lo_share = p.hi_share = MAX(p.hi_share, reached * (1 + UNTOUCHED_MORE));
	if (p.hi_share <= reached || c->n + 2 > ELEMENTSOF(c->pieces))
		return;
	if (p.lo_share < reached)
		p = piece_between(&p, part_at(&p, reached), 1);
	if (p.lo_share < 1 && p.hi_share > 1) {
		double part = (c->asked_mb_s - p.lo_mb_s) / (p.hi_mb_s - p.lo_mb_s);

		asked = &c->pieces[c->n++];
		*asked = piece_between(&p, 0, part);
		p = piece_between(&p, part, 1);
		asked->hi_share = p.lo_share = 1;
		if (counts_expected(w, i))
			p.hi_w = p.lo_w + w->strictness * (p.hi_cap_w - p.lo_cap_w);
	}
	c->pieces[c->n++] = p;
}

/* Cuts the piece to the device's limit. False: nothing is left. */
static bool cut(double limit_w, Piece *p)
{
	if (p->lo_w > limit_w)
		return false;
	if (p->hi_w > limit_w) {
		*p = piece_between(p, 0, (limit_w - p->lo_w) / (p->hi_w - p->lo_w));
		p->hi_w = p->hi_cap_w = limit_w;
	}
	return true;
}

static bool keeps_along(const Work *w, size_t i, const Piece *p, double part)
{
	const PlanDevice *d = &w->in->devices[i];
	Candidate at;

	candidate_at(d->profile, &d->mix, p->candidate,
		     between(p->lo_cap_w, p->hi_cap_w, part) / bias_of(d), &at);
	return tail_keeps(w, i, &at.setting, at.p99_us);
}

/* Cuts the piece to where it is fast enough: more watts wait less. False: nothing is left. */
static bool cut_slow(const Work *w, size_t i, Piece *p)
{
	const Terms *t = &w->terms[i];
	double slow = 0, fast = 1;

	if ((isinf(t->own.us) && isinf(t->hits.us)) || keeps_along(w, i, p, 0))
		return true;
	if (!keeps_along(w, i, p, 1))
		return false;
	while (fast - slow > 1e-3) {
		double part = (slow + fast) / 2;

		*(keeps_along(w, i, p, part) ? &fast : &slow) = part;
	}
	*p = piece_between(p, fast, 1);
	return true;
}

static void add_candidates(const Work *w, size_t i, const Frontier *f, Curve *c)
{
	double limit_w = limit_of(w, i);
	Piece p, least = {};

	for (size_t k = 0; k < f->n; k++) {
		const Candidate *candidate = &f->candidates[k];

		if (condition_is_sleep(candidate->setting.condition))
			continue;
		p = piece_of(w, i, c, candidate);
		if (!cut_slow(w, i, &p) && k + 1 < f->n)
			continue; /* as found it is as fast as it gets */
		if (!least.candidate)
			least = piece_between(&p, 0, 0);
		if (cut(limit_w, &p))
			add_piece(w, i, c, &p);
	}
	c->over_limit = !c->n;
	if (!c->n) /* above its limit, and as near to it as it gets */
		add_piece(w, i, c, &least);
}

/* It is as it is, whatever the others get. */
static void fix(Curve *c, const Piece *p, double watts, double cap_w)
{
	c->fixed = true;
	c->pieces[c->n] = *p;
	c->pieces[c->n].lo_w = c->pieces[c->n].hi_w = watts;
	c->pieces[c->n].lo_cap_w = c->pieces[c->n].hi_cap_w = cap_w;
	c->n++;
}

/* The bias is in its watts. */
static void fix_candidate(const Work *w, size_t i, Curve *c, const Candidate *at)
{
	Piece p = { .candidate = at, .lo_mb_s = at->mb_s, .hi_mb_s = at->mb_s };

	p.lo_share = p.hi_share = curve_share(c, at->mb_s);
	fix(c, &p, w->in->devices[i].starting ? at->cap_w : counted_at(w, i, c, at, at->cap_w),
	    at->cap_w);
}

/* What it is asked for does not depend on what can be set, nor on what is set. Its watts are
 * between idle and saturated, as predict_demand() has them. */
static void fill_terms(const Work *w, size_t i, Curve *c)
{
	const PlanDevice *d = &w->in->devices[i];
	const Frontier *f = w->frontier[i];
	AsFound found = f ? f->as_found : as_found_of(d->profile, &d->mix);

	c->full_mb_s = found.mb_s;
	c->as_found_us = found.p99_us;
	c->asked_mb_s = CLAMP(d->demand_mb_s, 0.0, found.mb_s);
	c->full_w = found.dynamic_w * bias_of(d);
	c->asked_w = found.mb_s > 0 ? c->full_w * (c->asked_mb_s / found.mb_s) : 0;
}

static void build(const Work *w, size_t i, Curve *ret)
{
	const Frontier *f = w->frontier[i];

	ret->n = 0;
	ret->fixed = ret->over_limit = false;
	ret->bound = INFINITY;
	fill_terms(w, i, ret);
	if (w->pinned[i]) {
		fix(ret, &w->picks[i].piece, w->picks[i].watts, w->picks[i].cap_w);
		ret->bound = w->picks[i].share;
		ret->pieces[0].lo_share = ret->pieces[0].hi_share = ret->bound;
	} else if (f) {
		add_candidates(w, i, f, ret);
	} else {
		fix_candidate(w, i, ret, &w->fixed[i]);
	}
}

void curve_build(const Work *w, size_t i, Curve *ret)
{
	if (curve_take_kept(w, i, ret))
		return;
	build(w, i, ret);
	curve_keep(w, i, ret);
}

/* Where two meet, the next one may count less: what it is expected to draw is less. */
static bool is_dearer(const Piece *p, const Piece *next, double share)
{
	return next->lo_share <= share && piece_watts(p, share) > piece_watts(next, share);
}

/* The first piece that reaches the share; of the last one the end. */
Pick curve_pick(const Curve *c, double share)
{
	size_t k = 0;
	Pick p;

	while (k + 1 < c->n && !c->fixed &&
	       (c->pieces[k].hi_share < share ||
		is_dearer(&c->pieces[k], &c->pieces[k + 1], share)))
		k++;
	/* what is as it is, is it whatever share the others of its unit get */
	p = (Pick){ .piece = c->pieces[k], .share = c->fixed ? c->pieces[k].lo_share : share };
	p.watts = piece_watts(&p.piece, p.share);
	p.cap_w = piece_cap(&p.piece, p.share);
	p.asked_mb_s = c->asked_mb_s;
	p.asked_w = c->asked_w;
	return p;
}
