/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a limit on the node, a group or a device would come to, before anybody sets it. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "control/advice.h"
#include "control/decide.h"
#include "control/gather.h"

/* The claim that is asked about has no cookie of its own, and 0 means that there is none. */
#define ASKED_COOKIE UINT64_MAX

bool control_plan_covers(const PlanQuery *query, const Device *d)
{
	return query->scope == SCOPE_NODE ||
	       streq(query->target, query->scope == SCOPE_GROUP ? d->group : d->name);
}

/* Of the node: what is asked about is another budget; else the one that it has stays. */
static double budget_w(const Facts *f, const PlanQuery *query)
{
	return query->scope == SCOPE_NODE ? query->budget_w : f->spendable_w;
}

/* The sums of the devices that the limit is on. */
static Plan part_of(const Plan *p, const Fleet *fleet, const PlanQuery *query)
{
	Plan part = *p;

	if (query->scope == SCOPE_NODE)
		return part;
	part.cap_w = part.counted_w = part.current_w = part.expect_w = 0;
	part.mb_s = part.full_mb_s = part.motor_w = 0;
	for (size_t i = 0; i < p->n_devices; i++) {
		const PlannedDevice *d = &p->devices[i];

		if (!control_plan_covers(query, fleet->devices[i]->device))
			continue;
		part.cap_w += d->cap_w;
		part.counted_w += d->counted_w;
		part.current_w += d->current_w;
		part.expect_w += d->expect_w;
		part.mb_s += d->mb_s;
		part.full_mb_s += d->full_mb_s;
	}
	part.budget_w = query->budget_w;
	part.shortfall_w = MAX(part.counted_w - query->budget_w, 0.0);
	return part;
}

/* What shares cost: the same watts by throughput alone. */
static int price(const Facts *f, const Fleet *fleet, const PlanQuery *query, Plan *p)
{
	_cleanup_(plan_freep) Plan *most = NULL;
	Policy by_throughput = *f->policy;
	Facts other = *f;
	int r;

	by_throughput.fairness = 0;
	by_throughput.floor = (RuleFloor){};
	other.policy = &by_throughput;
	r = decide_plan(&other, budget_w(f, query), query->forbidden, &most);
	if (r >= 0)
		p->most_mb_s = MAX(part_of(most, fleet, query).mb_s, p->mb_s);
	return r;
}

/* Where what is expected counts, demand is planned for with less headroom. */
static void tolerate(Facts *f, const Control *c, double tolerance_s)
{
	const Claim *effective = limits_effective(&c->limits);
	double before = gather_headroom(f->policy, f->at_once > 0);

	if (isnan(tolerance_s))
		tolerance_s = effective ? effective->tolerance_s
					: limits_tolerance_s(&c->tools, CLASS_OPERATOR);
	f->is_hard = !(tolerance_s > 0);
	f->at_once = f->is_hard ? 0 : overload_at_once(&c->gauges.overload, tolerance_s);
	for (size_t i = 0; i < f->n_devices; i++)
		f->devices[i].demand_mb_s *= gather_headroom(f->policy, f->at_once > 0) / before;
}

/* The claims in force, and beside them one with the limit that is asked about. */
static int claim_also(Control *held, const PlanQuery *query, LowestClaims *ret)
{
	const Claim asked = { .cookie = ASKED_COOKIE,
			      .class = CLASS_OPERATOR,
			      .scope = query->scope,
			      .target = (char *)query->target,
			      .limit = query->budget_w,
			      .unit = LIMIT_WATTS };
	int r = lowest_claims_find(held->limits.claims, held->tools.now_us, ret);

	if (r >= 0)
		r = lowest_claims_add(ret, &asked);
	if (r < 0)
		return r;
	held->limits.lowest = *ret;
	held->limits.enforcing = true;
	return 0;
}

static int make(const Control *c, const Policy *policy, const PlanQuery *query, Plan **ret)
{
	_cleanup_(lowest_claims_done) LowestClaims lowest = {};
	_cleanup_(plan_freep) Plan *plan = NULL;
	_cleanup_(facts_done) Facts f = {};
	Control held = advice_as_if_held(c);
	int r = query->scope == SCOPE_NODE ? 0 : claim_also(&held, query, &lowest);

	if (r >= 0)
		r = gather_facts(&held, policy, &f);
	if (r >= 0 && query->scope == SCOPE_NODE)
		tolerate(&f, &held, query->tolerance_s);
	if (r >= 0)
		r = decide_plan(&f, budget_w(&f, query), query->forbidden, &plan);
	if (r < 0)
		return r;
	*plan = part_of(plan, &held.fleet, query);
	r = price(&f, &held.fleet, query, plan);
	if (r >= 0)
		*ret = TAKE_PTR(plan);
	return r;
}

int control_plan(const Control *c, const PlanQuery *query, Plan **ret, char **ret_error)
{
	_cleanup_(policy_freep) Policy *other = NULL;
	int r = 0;

	if (query->policy)
		r = policy_find(c->config.policy.directories, query->policy, &other);
	if (r < 0) {
		*ret_error = text_printf("there is no policy \"%s\"", query->policy);
		return r;
	}
	r = make(c, other ?: c->policies.chosen, query, ret);
	if (r < 0)
		*ret_error = text_printf("no plan could be made: %s", strerror(-r));
	return r;
}
