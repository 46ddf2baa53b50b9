/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plan/plan.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <string.h>

#include "plan/plan-work.h"

/* Below this a sum of watts is only rounded. */
#define SHORTFALL_LEAST_W 1e-9

static void work_done(Work *w)
{
	frontier_store_done(&w->frontiers);
	free(w->terms);
	free(w->free_w);
	free(w->frontier);
	free(w->fixed);
	free(w->keep_floor);
	free(w->pinned);
	free(w->picks);
}

static int work_new(const PlanInput *in, Work *ret)
{
	size_t n = in->n_devices + 1;
	Work w = {
		.in = in,
		.terms = calloc(n, sizeof(*w.terms)),
		.free_w = calloc(n, sizeof(*w.free_w)),
		.frontier = calloc(n, sizeof(*w.frontier)),
		.fixed = calloc(n, sizeof(*w.fixed)),
		.keep_floor = calloc(n, sizeof(*w.keep_floor)),
		.pinned = calloc(n, sizeof(*w.pinned)),
		.picks = calloc(n, sizeof(*w.picks)),
	};

	if (!w.terms || !w.free_w || !w.frontier || !w.fixed || !w.keep_floor || !w.pinned ||
	    !w.picks) {
		work_done(&w);
		return -ENOMEM;
	}
	*ret = w;
	return 0;
}

static bool has_group(const PlanInput *in, const PlanDevice *d)
{
	return d->group < in->n_groups;
}

static bool rule_matches(const PlanInput *in, const PolicyRule *r, const PlanDevice *d)
{
	const char *group = has_group(in, d) ? in->groups[d->group].name : NULL;

	return (d->name && fnmatch(r->match, d->name, 0) == 0) ||
	       (d->model && fnmatch(r->match, d->model, 0) == 0) ||
	       (group && fnmatch(r->match, group, 0) == 0);
}

/* Of several rules forbid and protect add up, the last other weight and floor win. */
static Terms terms_of(const PlanInput *in, const PlanDevice *d)
{
	const Policy *p = in->policy;
	Terms t = { .weight = 1, .forbidden = in->forbidden | p->forbidden };

	for (size_t i = 0; i < p->n_rules; i++) {
		const PolicyRule *r = &p->rules[i];

		if (!rule_matches(in, r, d))
			continue;
		t.forbidden |= r->forbidden;
		t.protect |= r->protect;
		if (r->weight != 1)
			t.weight = r->weight;
		if (r->floor_mb_s > 0)
			t.floor_mb_s = r->floor_mb_s;
	}
	return t;
}

static void predict_at(const PlanDevice *d, const Setting *s, Prediction *ret)
{
	if (isfinite(d->demand_mb_s))
		predict_demand(d->profile, &d->mix, s, d->demand_mb_s, ret);
	else
		predict(d->profile, &d->mix, s, ret);
}

/* A device with one setting only. */
static void fix(Work *w, size_t i, const Setting *s, double cap_w)
{
	const PlanDevice *d = &w->in->devices[i];
	Prediction p;

	predict(d->profile, &d->mix, s, &p);
	w->fixed[i] = (Candidate){
		.setting = *s,
		.cap_w = cap_w,
		.cap_hi_w = cap_w,
		.expect_w = p.watts,
		.mb_s = p.mb_s,
		.mb_s_hi = p.mb_s,
		.p99_us = p.p99_us,
		.error = p.error,
	};
}

/* Are the device's own limit and its group's out of reach? */
static bool is_free(const Work *w, size_t i, const double *group_w)
{
	const PlanDevice *d = &w->in->devices[i];

	return !w->binding && !(d->limit_w < w->free_w[i]) &&
	       !(has_group(w->in, d) && w->in->groups[d->group].limit_w < group_w[d->group]);
}

static int prepare_device(Work *w, size_t i, bool is_free)
{
	const PlanDevice *d = &w->in->devices[i];
	const Policy *policy = w->in->policy;
	Condition deepest = policy->deepest;

	if (d->held) {
		fix(w, i, &d->held_setting, w->free_w[i]);
	} else if (w->terms[i].protect || is_free) {
		fix(w, i, &SETTING_AS_FOUND, w->free_w[i]);
	} else if (d->must_sleep && condition_is_sleep(d->current.condition)) {
		fix(w, i, &d->current, cap_watts(d->profile, &d->current) * bias_of(d));
	} else {
		if (!d->may_sleep && condition_is_sleep(deepest))
			deepest = CONDITION_IDLE_B;
		w->frontier[i] = frontier_get(&w->frontiers, d, w->terms[i].forbidden, deepest);
		return w->frontier[i] ? 0 : -ENOMEM;
	}
	return 0;
}

static int prepare(Work *w)
{
	const PlanInput *in = w->in;
	_cleanup_free_ double *group_w = calloc(in->n_groups + 1, sizeof(*group_w));
	double total_w = 0;
	int r = 0;

	if (!group_w)
		return -ENOMEM;
	for (size_t i = 0; i < in->n_devices; i++) {
		const PlanDevice *d = &in->devices[i];

		w->terms[i] = terms_of(in, d);
		w->free_w[i] = d->held ? MAX(d->held_w, 0.0) : d->profile->rated_w * bias_of(d);
		total_w += w->free_w[i];
		if (has_group(in, d))
			group_w[d->group] += w->free_w[i];
	}
	w->binding = total_w > in->budget_w;
	for (size_t i = 0; r == 0 && i < in->n_devices; i++)
		r = prepare_device(w, i, is_free(w, i, group_w));
	return r;
}

/* What the pick does to the device, at its demand. */
static void describe(const Work *w, size_t i, PlannedDevice *ret)
{
	const PlanDevice *d = &w->in->devices[i];
	const Pick *pick = &w->picks[i];
	const Frontier *f = w->frontier[i];
	double demand = MAX(d->demand_mb_s, 0.0), bias = bias_of(d), width, full;
	Candidate at = *pick->part.candidate;
	Prediction p;

	if (at.paced)
		candidate_at(d->profile, &d->mix, &at, pick->watts / bias, &at);
	width = pick->hi_w - pick->lo_w;
	ret->mb_s = pick->part.lo_mb_s;
	if (width > 0)
		ret->mb_s += (pick->part.hi_mb_s - pick->part.lo_mb_s) *
			     ((pick->watts - pick->lo_w) / width);
	ret->mb_s = MIN(ret->mb_s, demand);
	predict_at(d, &at.setting, &p);
	ret->setting = at.setting;
	ret->cap_w = pick->watts;
	ret->expect_w = MIN(p.watts * bias, ret->cap_w);
	ret->p99_us = p.p99_us;
	ret->error = p.error;
	ret->weight = w->terms[i].weight;
	if (f) {
		full = f->candidates[f->n - 1].mb_s;
	} else {
		predict(d->profile, &d->mix, &SETTING_AS_FOUND, &p);
		full = p.mb_s;
	}
	ret->full_mb_s = MIN(full, demand);
	predict_at(d, &d->current, &p);
	ret->current_mb_s = MIN(MIN(p.mb_s, demand), ret->full_mb_s);
}

/* By how much the worst group or device is above its own limit. */
static double limit_shortfall(const Work *w)
{
	double worst = 0;

	for (size_t i = 0; i < w->in->n_devices; i++)
		worst = MAX(worst, w->picks[i].watts - w->in->devices[i].limit_w);
	for (size_t g = 0; g < w->in->n_groups; g++) {
		double group_w = 0;

		for (size_t i = 0; i < w->in->n_devices; i++)
			group_w += w->in->devices[i].group == g ? w->picks[i].watts : 0;
		worst = MAX(worst, group_w - w->in->groups[g].limit_w);
	}
	return worst > SHORTFALL_LEAST_W ? worst : 0;
}

static int plan_new(const Work *w, const Solution *s, Plan **ret)
{
	size_t n = w->in->n_devices;
	_cleanup_(plan_freep) Plan *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->devices = calloc(n + 1, sizeof(*p->devices));
	if (!p->devices)
		return -ENOMEM;
	p->n_devices = n;
	p->budget_w = w->in->budget_w;
	p->cap_w = s->total_w;
	p->value = s->total_value;
	p->bound_value = s->bound_value;
	p->optimal = s->optimal;
	p->shortfall_w = s->shortfall_w;
	p->limit_shortfall_w = limit_shortfall(w);
	for (size_t i = 0; i < n; i++) {
		PlannedDevice *d = &p->devices[i];

		describe(w, i, d);
		d->reason = plan_reason(w, i, d, s->shortfall_w > 0);
		p->expect_w += d->expect_w;
		p->mb_s += d->mb_s;
		p->full_mb_s += d->full_mb_s;
	}
	*ret = TAKE_PTR(p);
	return 0;
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
		r = prepare(&w);
	if (r == 0)
		r = solve_groups(&w, &s);
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
