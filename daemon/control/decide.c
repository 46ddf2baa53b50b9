/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/decide.h"

#include <math.h>

int decide_plan(const Facts *f, double budget_w, unsigned forbidden, Plan **ret)
{
	double reserve_w = isfinite(budget_w) ? MIN(f->reserve_w, budget_w) : 0;
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
static bool still_fits(const Facts *f, const Plan *last)
{
	return last && last->n_devices == f->n_devices &&
	       f->cap_w <= MAX(f->spendable_w, last->cap_w) + 1e-6;
}

int decide(const Facts *f, const Plan *last, bool may_keep, Verdict *ret)
{
	Plan *plan;
	int r = decide_plan(f, f->spendable_w, 0, &plan);

	if (r < 0)
		return r;
	*ret = (Verdict){ .plan = plan,
			  .keep = may_keep && still_fits(f, last) &&
				  !plan_worth_changing(last, plan, f->policy),
			  .changes = !same_settings(last, plan) };
	return 0;
}
