/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plan/plan-work.h"

/* Does the device draw all that its own limit leaves it? Then the limit, not its share, holds it.
 */
static bool at_own_limit(const Work *w, size_t i, const PlannedDevice *d)
{
	const Frontier *f = w->frontier[i];
	double bias = bias_of(&w->in->devices[i]), limit = limit_of(w, i), most = 0;

	if (!(limit < w->free_w[i]))
		return false;
	for (size_t k = 0; k < f->n && f->candidates[k].cap_w * bias <= limit; k++)
		most = MIN(f->candidates[k].cap_hi_w * bias, limit);
	return d->cap_w >= most * (1 - 1e-9);
}

/* No settings of all meet the budget. */
static PlanReason reason_where_short(const Work *w, size_t i, const PlannedDevice *d)
{
	const PlanDevice *in = &w->in->devices[i];
	const Candidate *least = w->frontier[i]->candidates;

	least += condition_is_sleep(least->setting.condition);
	if (d->cap_w <= least->cap_w * bias_of(in) * (1 + 1e-9))
		return PLAN_FLOOR;
	return d->mb_s >= MIN(d->full_mb_s, in->demand_mb_s) * (1 - 1e-9) ? PLAN_LITTLE_SAVED
									  : PLAN_FLOOR_KEPT;
}

static PlanReason reason_unlimited(const PlannedDevice *d)
{
	return d->setting.idle_latency_us ? PLAN_IDLES_LIGHTLY : PLAN_UNLIMITED;
}

PlanReason plan_reason(const Work *w, size_t i, const PlannedDevice *d, bool short_of_watts)
{
	const PlanDevice *in = &w->in->devices[i];
	PlanReason slow;

	if (in->held)
		return PLAN_HELD;
	if (w->terms[i].protect)
		return PLAN_PROTECTED;
	if (pin_counts(w, i))
		return allows(w, i, MECHANISM_POWER_STATE) ? PLAN_PINNED : PLAN_PIN_FORBIDDEN;
	if (condition_is_sleep(d->setting.condition))
		return w->needed[i] && !stays_asleep(w, i) ? PLAN_NEEDED : PLAN_ASLEEP;
	if (w->is_free[i])
		return reason_unlimited(d);
	if (w->frontier[i]->n < 2 && (w->binding || short_of_watts))
		return PLAN_NO_KNOB;
	slow = tail_reason(w, i, d);
	if (slow != PLAN_SHARE && in->demand_mb_s > 0)
		return slow;
	if (d->cap_w > in->limit_w)
		return PLAN_FLOOR;
	if (short_of_watts && !w->pinned[i])
		return reason_where_short(w, i, d);
	if (at_own_limit(w, i, d))
		return limit_of(w, i) < in->limit_w ? PLAN_RULE_LIMIT : PLAN_DEVICE_LIMIT;
	if (w->pinned[i])
		return PLAN_GROUP_LIMIT;
	if (!w->binding || (counts_expected(w, i) && d->cap_w >= w->free_w[i]))
		return reason_unlimited(d);
	if (d->cap_w < w->free_w[i] && d->mb_s >= in->demand_mb_s * (1 - 1e-9))
		return PLAN_LOW_DEMAND;
	return PLAN_SHARE;
}

const char *plan_reason_text(PlanReason r)
{
	static const char *const texts[] = {
		[PLAN_UNLIMITED] = "no budget binds: as found",
		[PLAN_SHARE] = "its share of the budget",
		[PLAN_LOW_DEMAND] = "asks for little: gets what it asks for",
		[PLAN_ASLEEP] = "idle: sleeping saves most",
		[PLAN_RESTING] = "idle: rests, though the budget does not need it",
		[PLAN_NEEDED] = "asleep: the budget cannot be held otherwise",
		[PLAN_RULE_LIMIT] = "a rule of the policy limits it",
		[PLAN_DEVICE_LIMIT] = "a claim limits this device",
		[PLAN_GROUP_LIMIT] = "a claim limits its group",
		[PLAN_FLOOR] = "the least it can draw: the budget is too low",
		[PLAN_FLOOR_KEPT] = "keeps its floor: nothing would meet the budget",
		[PLAN_LITTLE_SAVED] = "nothing would meet the budget; less saves no watt here",
		[PLAN_HELD] = "cannot be changed now: held as it is",
		[PLAN_PROTECTED] = "protected by the policy: as found",
		[PLAN_NO_KNOB] = "nothing of it can be set: as found",
		[PLAN_SLOW] = "no setting keeps its p99: as found",
		[PLAN_SLOW_MISSES] = "no setting keeps the p99 of its cache's misses: as found",
		[PLAN_SLOW_HITS] = "no setting keeps the p99 of what it caches: as found",
		[PLAN_PINNED] = "a claim pins its power state",
		[PLAN_PIN_FORBIDDEN] = "the policy forbids what a claim pins: as found",
		[PLAN_IDLES_LIGHTLY] = "no budget binds; idle states keep the policy's p99",
	};

	return (unsigned)r < ELEMENTSOF(texts) ? texts[r] : "unknown";
}
