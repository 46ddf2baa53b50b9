/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "plan/plan-work.h"

/* A gain below this is rounding, however small the policy's hysteresis is. */
#define LEAST_GAIN 1e-6

/* Is the value that the held plan was made for still its value? */
static bool same_terms(const Plan *held, const Plan *next)
{
	for (size_t i = 0; i < held->n_devices; i++)
		if (held->devices[i].full_mb_s != next->devices[i].full_mb_s ||
		    held->devices[i].learned != next->devices[i].current_learned)
			return false;
	return true;
}

/* Does the device or its link begin or end to rest, or does the component above it begin or end to
 * hold or to drain? Such changes do not depend on watts that could make the plan better, so
 * hysteresis does not count for them. Idle times of their own keep them from going to and fro. */
static bool rests_otherwise(const PlannedDevice *held, const PlannedDevice *next)
{
	Condition was = held->setting.condition, is = next->setting.condition;

	if (condition_is_sleep(was) == condition_is_sleep(is) &&
	    held->setting.redirect != next->setting.redirect)
		return true;
	if (held->setting.link != next->setting.link ||
	    held->setting.idle_latency_us != next->setting.idle_latency_us)
		return true;
	return (next->reason == PLAN_RESTING && is > was) ||
	       (held->reason == PLAN_RESTING && is < was);
}

/* A gain counts as a part of all throughput or, where shares count, of all that is at stake. */
static bool is_gain(const Plan *next, double held, double then, double least)
{
	double stake = 0;

	for (size_t i = 0; i < next->n_devices; i++)
		stake += next->devices[i].stake;
	return then > held + (stake > 0 ? stake : held) * least;
}

bool plan_worth_changing(const Plan *held, const Plan *next, const Policy *policy)
{
	double least = MAX(policy->hysteresis, LEAST_GAIN);
	double held_worth = 0, next_worth = 0, held_w;

	if (held->n_devices != next->n_devices || held->budget_w != next->budget_w)
		return true;
	for (size_t i = 0; i < next->n_devices; i++)
		if (rests_otherwise(&held->devices[i], &next->devices[i]))
			return true;
	/* what is expected to be drawn grows with what is asked for */
	held_w = MAX(held->counted_w, next->at_once ? next->current_w : 0);
	/* where neither fits, what they are worth tells: a floor may have come with demand */
	if (held_w > next->budget_w + SHORTFALL_LEAST_W &&
	    (next->counted_w <= next->budget_w || next->counted_w * (1 + least) < held_w))
		return true;
	if (same_terms(held, next))
		return is_gain(next, held->value, next->value, least);
	for (size_t i = 0; i < next->n_devices; i++) {
		held_worth += next->devices[i].current_worth;
		next_worth += next->devices[i].worth;
	}
	return is_gain(next, held_worth, next_worth, least);
}
