/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fnmatch.h>
#include <math.h>

#include "plan/plan-work.h"

void work_done(Work *w)
{
	curves_forget(w);
	frontier_store_done(&w->frontiers);
	free(w->terms);
	free(w->free_w);
	free(w->is_free);
	free(w->unit_is_free);
	free(w->needed);
	free(w->frontier);
	free(w->fixed);
	free(w->pinned);
	free(w->picks);
	free(w->doubt);
	free(w->alike);
	free(w->bounds);
	free(w->has_alike);
	free(w->curves);
	units_done(&w->units);
}

static int allocate(const PlanInput *in, Work *ret)
{
	size_t n = in->n_devices + 1;
	Work w = {
		.in = in,
		.terms = calloc(n, sizeof(*w.terms)),
		.free_w = calloc(n, sizeof(*w.free_w)),
		.is_free = calloc(n, sizeof(*w.is_free)),
		.unit_is_free = calloc(n, sizeof(*w.unit_is_free)),
		.needed = calloc(n, sizeof(*w.needed)),
		.frontier = calloc(n, sizeof(*w.frontier)),
		.fixed = calloc(n, sizeof(*w.fixed)),
		.pinned = calloc(n, sizeof(*w.pinned)),
		.picks = calloc(n, sizeof(*w.picks)),
		.doubt = calloc(n, sizeof(*w.doubt)),
		.alike = calloc(n, sizeof(*w.alike)),
		.bounds = calloc(n, sizeof(*w.bounds)),
		.has_alike = calloc(n, sizeof(*w.has_alike)),
		.curves = calloc(n, sizeof(*w.curves)),
		.strictness = 1,
	};

	if (!w.terms || !w.free_w || !w.is_free || !w.unit_is_free || !w.needed || !w.frontier ||
	    !w.fixed || !w.pinned || !w.picks || !w.doubt || !w.alike || !w.bounds ||
	    !w.has_alike || !w.curves || units_list(in, &w.units) < 0) {
		work_done(&w);
		return -ENOMEM;
	}
	*ret = w;
	return 0;
}

static bool rule_matches(const PlanInput *in, const PolicyRule *r, const PlanDevice *d)
{
	const char *group = has_group(in, d) ? in->groups[d->group].name : NULL;

	return (d->name && fnmatch(r->match, d->name, 0) == 0) ||
	       (d->model && fnmatch(r->match, d->model, 0) == 0) ||
	       (group && fnmatch(r->match, group, 0) == 0);
}

/* A share of what it draws at most in operation; the whole of it is no limit. */
static double share_limit_w(const Profile *p, double share)
{
	return share < 1 ? share * profile_operating_w(p) : INFINITY;
}

static void add_rule(Terms *t, const PolicyRule *r, const PlanDevice *d)
{
	t->forbidden |= r->forbidden;
	t->protect |= r->protect;
	t->keep_awake |= r->keep_awake;
	t->hold |= r->redirect == REDIRECT_HOLD;
	if (r->weight != 1)
		t->weight = r->weight;
	if (r->floor.given) {
		t->floor_mb_s = r->floor.mb_s;
		t->floor_share = r->floor.share;
	}
	if (r->p99_us > 0)
		t->own.us = (double)r->p99_us;
	if (r->limit.watts > 0)
		t->limit_w = r->limit.watts;
	else if (r->limit.share > 0)
		t->limit_w = share_limit_w(d->profile, r->limit.share);
}

/* Where several rules match, what they forbid adds up; the last weight other than 1, the last floor
 * and the last limit win. */
static Terms terms_of(const PlanInput *in, const PlanDevice *d)
{
	const Policy *p = in->policy;
	Terms t = {
		.weight = 1,
		.own = { INFINITY, P99_SLOW },
		.hits = { INFINITY, 1 },
		.limit_w = INFINITY,
		.floor_share = isfinite(p->fairness) ? p->floor.share : 1,
		.floor_mb_s = p->floor.mb_s,
		.forbidden = in->forbidden | p->forbidden,
	};

	for (size_t i = 0; i < p->n_rules; i++)
		if (rule_matches(in, &p->rules[i], d))
			add_rule(&t, &p->rules[i], d);
	return t;
}

unsigned forbidden_of(const PlanInput *in, const PlanDevice *d)
{
	return terms_of(in, d).forbidden;
}

/* Are the budget, the device's own limit and its group's out of reach? */
static bool is_free(const Work *w, size_t i, const double *group_w)
{
	const PlanDevice *d = &w->in->devices[i];

	return !w->binding && !(d->limit_w < w->free_w[i]) &&
	       !(has_group(w->in, d) && w->in->groups[d->group].limit_w < group_w[d->group]);
}

static void free_units(Work *w)
{
	for (size_t u = 0; u < w->units.n; u++) {
		const Unit *unit = &w->units.units[u];
		bool all = true;

		for (size_t m = 0; m < unit->n; m++)
			all &= w->is_free[unit->members[m]];
		for (size_t m = 0; m < unit->n; m++)
			w->unit_is_free[unit->members[m]] = all;
	}
}

int work_new(const PlanInput *in, Work *ret)
{
	_cleanup_free_ double *group_w = calloc(in->n_groups + 1, sizeof(*group_w));
	double total_w = 0;
	Work w;

	if (!group_w || allocate(in, &w) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < in->n_devices; i++) {
		const PlanDevice *d = &in->devices[i];

		w.terms[i] = terms_of(in, d);
		w.free_w[i] = d->held ? MAX(d->held_w, 0.0) : d->profile->rated_w * bias_of(d);
		total_w += w.free_w[i];
		if (has_group(in, d))
			group_w[d->group] += w.free_w[i];
	}
	tails_fill(in, w.terms);
	w.binding = total_w > in->budget_w;
	for (size_t i = 0; i < in->n_devices; i++)
		w.is_free[i] = is_free(&w, i, group_w);
	free_units(&w);
	if (alike_find(&w) < 0 || (in->at_once_w > in->budget_w && doubts_fill(&w) < 0)) {
		work_done(&w);
		return -ENOMEM;
	}
	*ret = w;
	return 0;
}

/* A device with one setting only. */
static int fix(Work *w, size_t i, const Setting *s, double cap_w)
{
	const PlanDevice *d = &w->in->devices[i];
	size_t first = w->alike[i];
	Prediction p;

	w->frontier[i] = NULL;
	if (first < i && w->needed[i] == w->needed[first]) {
		w->fixed[i] = w->fixed[first];
		return 0;
	}
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
	return 0;
}

static int fix_asleep(Work *w, size_t i, Condition c)
{
	const PlanDevice *d = &w->in->devices[i];
	Setting s = { .power_state = -1, .condition = c };

	return fix(w, i, &s, cap_watts(d->profile, &s) * bias_of(d));
}

static int fix_pinned(Work *w, size_t i)
{
	const PlanDevice *d = &w->in->devices[i];
	Setting s = { .power_state = d->pinned_state };

	return fix(w, i, &s, cap_watts(d->profile, &s) * bias_of(d));
}

static int set(Work *w, size_t i)
{
	const PlanDevice *d = &w->in->devices[i];
	unsigned forbidden = w->terms[i].forbidden;

	if (d->held)
		return fix(w, i, &d->held_setting, w->free_w[i]);
	if (stays_asleep(w, i))
		return fix_asleep(w, i, asleep_condition_of(w, i));
	if (pin_counts(w, i) && allows(w, i, MECHANISM_POWER_STATE))
		return fix_pinned(w, i);
	if (w->terms[i].protect || w->unit_is_free[i])
		return fix(w, i, &SETTING_AS_FOUND, w->free_w[i]);
	if (w->is_free[i]) /* it may follow its unit to sleep, and is not held back awake */
		forbidden |= ~(unsigned)MECHANISM_CONDITION;
	w->frontier[i] = frontier_get(&w->frontiers, d, forbidden, deepest_of(w, i));
	return w->frontier[i] ? 0 : -ENOMEM;
}

int work_set(Work *w)
{
	int r = 0;

	curves_forget(w);
	for (size_t i = 0; r == 0 && i < w->in->n_devices; i++)
		r = set(w, i);
	return r;
}
