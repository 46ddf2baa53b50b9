/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/decide.h"

#include <math.h>

/* Each time the plan leaves less to the drives, another disk may sleep. */
#define MOTOR_TRIES 4
#define NO_WATTS    0.01

#define MOTOR_LEAST_W 0.5 /* less is not worth another plan */

static int plan_with(const Facts *f, double budget_w, unsigned forbidden, double reserve_w,
		     Plan **ret)
{
	PlanInput input = { .devices = f->devices,
			    .n_devices = f->n_devices,
			    .tiers = f->tiers,
			    .n_tiers = f->n_tiers,
			    .groups = f->groups,
			    .n_groups = f->n_groups,
			    .n_pools = f->n_devices,
			    .policy = f->policy,
			    .forbidden = forbidden,
			    .budget_w = budget_w - reserve_w,
			    .at_once_w =
				    isfinite(budget_w) ? f->at_once * (budget_w - reserve_w) : 0,
			    .floors_yield_w = f->floors_yield_w + reserve_w };
	Plan *plan;
	int r = plan_make(&input, &plan);

	if (r < 0)
		return r;
	/* what is kept free for spin-ups for a moment is not missing */
	plan->shortfall_w = MAX(plan->shortfall_w - reserve_w, 0.0);
	*ret = plan;
	return 0;
}

/* What a disk draws above its sleep while its motor starts, of the disks asleep the most. */
static double start_w(const Facts *f, const Plan *plan)
{
	double most_w = 0;

	for (size_t i = 0; i < plan->n_devices; i++) {
		const PlannedDevice *d = &plan->devices[i];

		if (setting_sleeps(&d->setting))
			most_w =
				MAX(most_w,
				    f->devices[i].profile->conditions[d->setting.condition].wake_w -
					    d->expect_w);
	}
	return most_w;
}

/* What is missing until one motor, which IO starts without asking anybody, fits beside what the
 * drives are expected to draw. Where a moment above the budget is tolerated, or the budget cannot
 * be held anyway, nothing is. */
static double motor_lack_w(const Facts *f, double budget_w, const Plan *plan)
{
	if (!isfinite(budget_w) || !f->is_hard || plan->shortfall_w > 0)
		return 0;
	return plan->expect_w + start_w(f, plan) - budget_w;
}

/* *plan as it is where no plan leaves a motor its watts: who would lose all for that wins nothing.
 */
static int leave_motor(const Facts *f, double budget_w, unsigned forbidden, double reserve_w,
		       Plan **plan)
{
	double lack_w = motor_lack_w(f, budget_w - reserve_w, *plan), motor_reserve_w = 0;

	for (unsigned i = 0; i < MOTOR_TRIES && lack_w > NO_WATTS; i++) {
		_cleanup_(plan_freep) Plan *next = NULL;
		int r;

		motor_reserve_w += lack_w;
		if (reserve_w + motor_reserve_w > budget_w)
			return 0;
		r = plan_with(f, budget_w, forbidden, reserve_w + motor_reserve_w, &next);
		if (r < 0)
			return r;
		lack_w = motor_lack_w(f, budget_w - reserve_w, next);
		if (lack_w > NO_WATTS)
			continue;
		/* of the same budget as one that leaves nothing, so that a plan may be kept */
		next->budget_w = (*plan)->budget_w;
		next->motor_w = motor_reserve_w;
		plan_free(*plan);
		*plan = TAKE_PTR(next);
	}
	return 0;
}

int decide_plan(const Facts *f, double budget_w, unsigned forbidden, Plan **ret)
{
	double reserve_w = isfinite(budget_w) ? MIN(f->reserve_w, budget_w) : 0;
	_cleanup_(plan_freep) Plan *plan = NULL;
	int r = plan_with(f, budget_w, forbidden, reserve_w, &plan);

	if (r >= 0)
		r = leave_motor(f, budget_w, forbidden, reserve_w, &plan);
	if (r >= 0)
		*ret = TAKE_PTR(plan);
	return r;
}

static bool same_settings(const Plan *a, const Plan *b)
{
	if (!a || a->n_devices != b->n_devices)
		return false;
	for (size_t i = 0; i < a->n_devices; i++)
		if (!setting_equal(&a->devices[i].setting, &b->devices[i].setting))
			return false;
	return true;
}

/* A plan that no longer fits what is known of the devices is not worth keeping. */
static bool still_fits(const Facts *f, const Plan *last, double motor_w)
{
	return last && last->n_devices == f->n_devices &&
	       last->motor_w >= motor_w - MOTOR_LEAST_W &&
	       f->cap_w <= MAX(f->spendable_w, last->cap_w) + 1e-6;
}

int decide(const Facts *f, const Plan *last, bool may_keep, Verdict *ret)
{
	Plan *plan;
	int r = decide_plan(f, f->spendable_w, 0, &plan);

	if (r < 0)
		return r;
	*ret = (Verdict){ .plan = plan,
			  .keep = may_keep && still_fits(f, last, plan->motor_w) &&
				  !plan_worth_changing(last, plan, f->policy),
			  .changes = !same_settings(last, plan) };
	return 0;
}
