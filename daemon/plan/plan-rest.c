/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Devices with nothing to do rest, whether the budget needs their watts or not: in a condition that
 * still serves IO, or asleep. The watts that a sleeping one no longer needs are given to nobody:
 * had they been of use, the planner would have put it to sleep for them. */

#include <errno.h>
#include <math.h>

#include "plan/plan-work.h"

bool limit_holds(const Work *w, size_t i)
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
	       planned->setting.redirect != REDIRECT_DRAIN && limit_holds(w, i);
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

/* The link of an idle drive sleeps where its profile knows what that saves, where the policy lets
 * disks rest in idle_b, which takes as long to come back from (slides of Xie et al.: 0.3 s; OCP:
 * idle_b below 0.65 s), and where nobody whom it promises a response time would wait for it. The
 * watts of a condition were measured with the link as it was, so that of the two the condition is
 * taken. */
LinkPower link_rest_of(const Work *w, size_t i)
{
	const PlanDevice *d = &w->in->devices[i];
	bool allowed = d->profile->kind != KIND_NVME && allows(w, i, MECHANISM_LINK) &&
		       shallower(d->rest, w->in->policy->rest) >= CONDITION_IDLE_B &&
		       light_rest_of(w, i) == CONDITION_ACTIVE &&
		       d->profile->link_recovery_s * 1e6 <= longest_wait_us(w, i);

	return allowed && d->profile->link_saving_w > 0 ? LINK_MEDIUM_DIPM : LINK_AS_FOUND;
}

/* An NVMe drive that idles enters states by itself from which its next IO takes a while to bring it
 * back. Under a budget those stay, because they save watts, but for the ones that take longer than
 * the policy promises: to enter and to leave, because an IO may come at the worst moment. The
 * kernel compares what is set with the time to leave a state alone. */
unsigned idle_latency_of(const Work *w, size_t i)
{
	const Profile *p = w->in->devices[i].profile;
	double most_us = longest_wait_us(w, i), below_us = INFINITY;

	if (p->kind != KIND_NVME || !allows(w, i, MECHANISM_LINK) || !limit_holds(w, i))
		return 0;
	for (unsigned n = 0; n < p->n_states; n++) {
		const PowerState *s = &p->states[n];

		if (s->present && !s->operational && (double)s->entry_us + s->exit_us > most_us)
			below_us = MIN(below_us, (double)s->exit_us);
	}
	return isfinite(below_us) ? (unsigned)MAX(MIN(most_us, below_us - 1), 1.0) : 0;
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
	if (c == CONDITION_ACTIVE)
		ret->setting.link = link_rest_of(w, i);
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

		if (c != CONDITION_ACTIVE ||
		    (may_rest(w, i, &planned[i]) && link_rest_of(w, i) != LINK_AS_FOUND))
			rest(w, i, c, &planned[i]);
	}
	return 0;
}
