/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plan/plan.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "plan/plan-work.h"

#define STRICTNESS_STEP (1.0 / 16)
/* States of a search that takes about a millisecond; of a few devices that is all there are. */
#define ROUGH_EFFORT ((size_t)1 << 15)

static void predict_at(const PlanDevice *d, const Setting *s, Prediction *ret)
{
	if (isfinite(d->demand_mb_s))
		predict_demand(d->profile, &d->mix, s, d->demand_mb_s, ret);
	else
		predict(d->profile, &d->mix, s, ret);
}

/* A share of 1 or more is everybody's under max-min, and no promise. */
static double floor_of(const Terms *t, double full_mb_s)
{
	double share = t->floor_share < 1 ? t->floor_share : 0;

	return MIN(MAX(t->floor_mb_s, share * full_mb_s), full_mb_s);
}

/* What the pick does to the device, at its demand. */
static void describe_new(const Work *w, size_t i, PlannedDevice *ret)
{
	const PlanDevice *d = &w->in->devices[i];
	const Pick *pick = &w->picks[i];
	const Frontier *f = w->frontier[i];
	double demand = MAX(d->demand_mb_s, 0.0), bias = bias_of(d), width, full;
	Candidate at = *pick->piece.candidate;
	Prediction p;

	if (at.paced)
		candidate_at(d->profile, &d->mix, &at, pick->cap_w / bias, &at);
	width = pick->piece.hi_cap_w - pick->piece.lo_cap_w;
	ret->mb_s = pick->piece.lo_mb_s;
	if (width > 0)
		ret->mb_s += (pick->piece.hi_mb_s - pick->piece.lo_mb_s) *
			     ((pick->cap_w - pick->piece.lo_cap_w) / width);
	ret->mb_s = MIN(ret->mb_s, demand);
	predict_at(d, &at.setting, &p);
	ret->setting = at.setting;
	if (!d->held && !w->terms[i].protect) {
		ret->setting.redirect = redirect_of(w, i, at.setting.condition);
		ret->setting.idle_latency_us = idle_latency_of(w, i);
	}
	ret->cap_w = pick->cap_w;
	ret->counted_w = pick->watts;
	ret->expect_w = MIN(corrected_w(d, p.watts * bias, ret->cap_w), ret->cap_w);
	ret->p99_us = p.p99_us;
	ret->learned = p.learned;
	ret->error = p.error;
	if (f) {
		full = f->candidates[f->n - 1].mb_s;
	} else {
		predict(d->profile, &d->mix, &SETTING_AS_FOUND, &p);
		full = p.mb_s;
	}
	ret->full_mb_s = MIN(full, demand);
	ret->floor_mb_s = floor_of(&w->terms[i], ret->full_mb_s);
	predict_at(d, &d->current, &p);
	ret->current_learned = p.learned;
	ret->current_w = counted_w(w, i, p.watts * bias, cap_watts(d->profile, &d->current) * bias);
	ret->current_mb_s = MIN(MIN(p.mb_s, demand), ret->full_mb_s);
	ret->worth = worth_of(w, i, ret->mb_s);
	ret->current_worth = worth_of(w, i, ret->current_mb_s);
	ret->stake = stake_of(w, i);
}

static bool same_pick(const Work *w, size_t a, size_t b)
{
	const Pick *p = &w->picks[a], *q = &w->picks[b];

	return are_alike(w, a, b) && p->watts == q->watts && p->cap_w == q->cap_w &&
	       p->share == q->share &&
	       setting_equal(&p->piece.candidate->setting, &q->piece.candidate->setting);
}

/* last: per device of which others are told the same, the one described last. */
static void describe(const Work *w, size_t i, size_t *last, PlannedDevice *all)
{
	size_t *like = &last[w->alike[i]];

	if (w->alike[i] < i && same_pick(w, i, *like))
		all[i] = all[*like];
	else
		describe_new(w, i, &all[i]);
	*like = i;
}

static double above(double w, double limit_w)
{
	return w > limit_w + SHORTFALL_LEAST_W ? w - limit_w : 0;
}

/* Of each group's reserve this share may be spent: 0 or 1. */
static LimitShortfall limit_shortfall(const Work *w, double spent)
{
	LimitShortfall s = { 0 };

	for (size_t k = 0; k < w->in->n_devices + w->in->n_groups; k++) {
		size_t g = k - w->in->n_devices;
		double over = k < w->in->n_devices
				      ? above(w->picks[k].watts, w->in->devices[k].limit_w)
				      : above(group_watts(w, g),
					      w->in->groups[g].limit_w +
						      spent * w->in->groups[g].reserve_w);

		s.worst_w = MAX(s.worst_w, over);
		s.sum_w += over;
	}
	return s;
}

double shortfall_of(const Work *w, const Solution *s)
{
	return s->shortfall_w + limit_shortfall(w, 0).sum_w;
}

static void sum_up(const Work *w, const Solution *s, Plan *p)
{
	for (size_t i = 0; i < p->n_devices; i++) {
		const PlannedDevice *d = &p->devices[i];

		p->cap_w += d->cap_w;
		p->counted_w += d->counted_w;
		p->current_w += d->current_w;
		p->expect_w += d->expect_w;
		p->mb_s += d->mb_s;
		p->full_mb_s += d->full_mb_s;
	}
	p->value = s->total_value;
	p->bound_value = s->bound_value;
	p->optimal = s->optimal;
	p->at_once = w->in->at_once_w > w->in->budget_w;
	p->shortfall_w = above(p->counted_w, p->budget_w);
	p->limit_shortfall_w = limit_shortfall(w, 1).worst_w;
}

static int plan_new(const Work *w, const Solution *s, Plan **ret)
{
	size_t n = w->in->n_devices;
	_cleanup_(plan_freep) Plan *p = calloc(1, sizeof(*p));
	_cleanup_free_ size_t *last = calloc(n + 1, sizeof(*last));
	int r;

	if (!p || !last)
		return -ENOMEM;
	p->devices = calloc(n + 1, sizeof(*p->devices));
	if (!p->devices)
		return -ENOMEM;
	p->n_devices = n;
	p->budget_w = w->in->budget_w;
	for (size_t i = 0; i < n; i++) {
		describe(w, i, last, p->devices);
		p->devices[i].reason = plan_reason(w, i, &p->devices[i], s->shortfall_w > 0);
	}
	r = rest_devices(w, p->devices);
	if (r < 0)
		return r;
	sum_up(w, s, p);
	*ret = TAKE_PTR(p);
	return 0;
}

static int solve_at(Work *w, double strictness, Solution *s)
{
	int r;

	w->strictness = strictness;
	solution_done(s);
	for (size_t i = 0; i < w->in->n_devices; i++)
		w->needed[i] = false;
	r = work_set(w);
	if (r == 0)
		r = solve_groups(w, s);
	if (r == 0)
		r = solve_needed(w, s);
	return r;
}

static double picked_cap_w(const Work *w)
{
	double sum_w = 0;

	for (size_t i = 0; i < w->in->n_devices; i++)
		sum_w += w->picks[i].cap_w;
	return sum_w;
}

/* Where it is only asked on which side of what may be drawn at once a plan is, a small gap to the
 * best one is no matter. *ret_strict: the least strictness found that leaves all within that. */
static int find_strictness(Work *w, double at_once_w, Solution *s, double *ret_strict)
{
	double lax = 0, strict = 1;
	int r = 0;

	w->effort = ROUGH_EFFORT;
	while (r >= 0 && strict - lax > STRICTNESS_STEP) {
		double middle = (lax + strict) / 2;

		r = solve_at(w, middle, s);
		*(picked_cap_w(w) <= at_once_w ? &strict : &lax) = middle;
	}
	w->effort = 0;
	*ret_strict = strict;
	return r;
}

/* As little counts of what can be drawn, but is not expected to be, as leaves all within what may
 * be drawn at once. */
static int solve(Work *w, Solution *s)
{
	double at_once_w = w->in->at_once_w, strict = 1;
	int r;

	if (!(at_once_w > w->in->budget_w))
		return solve_at(w, 1, s);
	r = solve_at(w, 0, s);
	if (r < 0 || picked_cap_w(w) <= at_once_w)
		return r;
	r = find_strictness(w, at_once_w, s, &strict);
	if (r >= 0 && (w->strictness != strict || !s->optimal))
		r = solve_at(w, strict, s);
	while (r >= 0 && strict < 1 && picked_cap_w(w) > at_once_w) {
		strict += STRICTNESS_STEP;
		r = solve_at(w, strict, s);
	}
	return r;
}

int plan_make(const PlanInput *input, Plan **ret)
{
	_cleanup_(work_done) Work w = { 0 };
	_cleanup_(solution_done) Solution s = { 0 };
	int r;

	if (isnan(input->budget_w) || input->budget_w < 0)
		return -EINVAL;
	r = work_new(input, &w);
	if (r == 0)
		r = solve(&w, &s);
	return r < 0 ? r : plan_new(&w, &s, ret);
}

Plan *plan_free(Plan *p)
{
	if (!p)
		return NULL;
	free(p->devices);
	free(p);
	return NULL;
}
