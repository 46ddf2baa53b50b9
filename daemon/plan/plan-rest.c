/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Devices with nothing to do rest, whether the budget needs their watts or not: in a condition that
 * still serves IO, or asleep. The watts that a sleeping one no longer needs are given to nobody:
 * had they been of use, the planner would have put it to sleep for them. */

#include <errno.h>
#include <math.h>

#include "plan/plan-work.h"

/* Does any limit hold for the device? Where nobody asked for a budget nothing is touched. */
static bool in_force(const Work *w, size_t i)
{
	const PlanDevice *d = &w->in->devices[i];

	return isfinite(w->in->budget_w) || isfinite(d->limit_w) ||
	       (has_group(w->in, d) && isfinite(w->in->groups[d->group].limit_w));
}

static bool may_rest(const Work *w, size_t i, const PlannedDevice *planned)
{
	const PlanDevice *d = &w->in->devices[i];

	return !d->held && !w->terms[i].protect && !(d->demand_mb_s > 0) &&
	       planned->setting.condition == CONDITION_ACTIVE &&
	       planned->setting.redirect != REDIRECT_DRAIN && in_force(w, i);
}

/* The deepest condition that the device may rest in, a sleeping one only where `sleep` is set.
 * ACTIVE: it does not rest. */
static Condition rest_of(const Work *w, size_t i, const PlannedDevice *planned, bool sleep)
{
	const PlanDevice *d = &w->in->devices[i];
	Condition deepest = shallower(shallower(d->rest, w->in->policy->rest), deepest_of(w, i));

	if (!may_rest(w, i, planned))
		return CONDITION_ACTIVE;
	if (!sleep || w->terms[i].floor_mb_s > 0)
		deepest = shallower(deepest, CONDITION_IDLE_B);
	return condition_within(w, i, CONDITION_IDLE_A, deepest);
}

Condition light_rest_of(const Work *w, size_t i)
{
	const PlanDevice *d = &w->in->devices[i];

	return condition_within(
		w, i, CONDITION_IDLE_A,
		shallower(shallower(d->rest, w->in->policy->rest), CONDITION_IDLE_B));
}

static void rest(const Work *w, size_t i, Condition c, PlannedDevice *ret)
{
	const PlanDevice *d = &w->in->devices[i];
	double bias = bias_of(d);
	Prediction p;

	if (condition_is_sleep(c)) {
		ret->setting = (Setting){ .power_state = -1, .condition = c };
		ret->setting.redirect = redirect_of(w, i, c);
		ret->cap_w = MIN(ret->cap_w, cap_watts(d->profile, &ret->setting) * bias);
		ret->counted_w = MIN(ret->counted_w, ret->cap_w);
	}
	ret->setting.condition = c;
	predict_demand(d->profile, &d->mix, &ret->setting, 0, &p);
	ret->expect_w = MIN(p.watts * bias, ret->cap_w);
	ret->mb_s = 0;
	ret->p99_us = p.p99_us;
	ret->error = p.error;
	ret->reason = PLAN_RESTING;
}

/* Marks the pools with a member that would be awake, or is in transition. */
static void mark_awake(const Work *w, const PlannedDevice *planned, bool *awake)
{
	for (size_t i = 0; i < w->in->n_devices; i++) {
		const PlanDevice *d = &w->in->devices[i];
		bool asleep = !d->held && condition_is_sleep(planned[i].setting.condition);

		if (d->pool < w->in->n_pools && !asleep &&
		    !condition_is_sleep(rest_of(w, i, &planned[i], true)))
			awake[d->pool] = true;
	}
}

int rest_devices(const Work *w, PlannedDevice *planned)
{
	const PlanInput *in = w->in;
	_cleanup_free_ bool *awake = calloc(in->n_pools + 1, sizeof(*awake));

	if (!awake)
		return -ENOMEM;
	if (in->n_pools > 0)
		mark_awake(w, planned, awake);
	for (size_t i = 0; i < in->n_devices; i++) {
		size_t pool = in->devices[i].pool;
		Condition c = rest_of(w, i, &planned[i], pool >= in->n_pools || !awake[pool]);

		if (c != CONDITION_ACTIVE)
			rest(w, i, c, &planned[i]);
	}
	return 0;
}
