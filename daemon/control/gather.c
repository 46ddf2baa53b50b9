/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/gather.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "control/cache-watch.h"
#include "control/caps.h"
#include "control/consent.h"
#include "control/correct.h"
#include "control/obedience.h"
#include "control/pools.h"
#include "control/rest.h"
#include "control/served.h"
#include "control/tiers.h"
#include "control/trust.h"
#include "control/waking.h"

#define EXPECTED_HEADROOM 1.02
#define TOLERATED_LEAST   0.01 /* of the budget: less is not worth a thought */

/* What all may draw at once, over the budget; 0: nothing is tolerated, or too little to count. */
static double at_once(const Control *c)
{
	double part =
		overload_at_once_w(&c->gauges.overload, &c->limits, &c->tools) / c->limits.budget_w;

	return part > 1 + TOLERATED_LEAST ? part : 0;
}

static bool is_hard(const Control *c)
{
	const Claim *effective = limits_effective(&c->limits);

	return effective && !(effective->tolerance_s > 0);
}

bool gather_counts_expected(const Control *c)
{
	return at_once(c) > 0;
}

/* While what the devices can draw counts because too much was drawn, what is measured of them
 * counts too. */
static double strict_w(const Control *c)
{
	return c->gauges.overload.strict_until_us ? correct_excess_w(&c->fleet) : 0;
}

/* The budget less what is kept free. */
static double spendable_w(const Control *c, bool counts_expected)
{
	double budget_w = c->limits.budget_w - c->config.limit.guard_w;

	if (isinf(budget_w))
		return INFINITY;
	if (counts_expected)
		budget_w -= correct_margin_w(&c->gauges, &c->fleet) +
			    (isnan(c->gauges.measured_w) ? c->gauges.guard_w : 0);
	else
		budget_w -= MAX(c->gauges.guard_w, strict_w(c));
	return MAX(budget_w, 0.0);
}

const Policy *gather_policy(const Control *c)
{
	return policies_for(&c->policies, limits_effective(&c->limits));
}

static bool moves_condition(const Managed *md)
{
	return md->errands.busy && md->errands.mechanism == MECHANISM_CONDITION &&
	       md->knobs.target.condition != md->knobs.actual.condition;
}

bool gather_is_held(const Managed *md, uint64_t now_us)
{
	return !md->knobs.probed || waking_under_way(md) || errands_overdue(md, now_us) ||
	       md->knobs.leftover || md->rest.awaits || obedience_holds(md) || moves_condition(md);
}

/* What an earlier run left asleep wakes to be given back, and the others make room for that. */
static double held_w(const Managed *md, uint64_t now_us)
{
	if (md->knobs.leftover && waking_is_wanted(md))
		return MAX(md->caps.now_w, caps_of(md, &SETTING_AS_FOUND, now_us));
	return md->caps.now_w;
}

/* To sleep: its writes are held back already. */
static bool is_on_its_way(const Managed *md)
{
	return md->cache.held_us && !managed_asleep(md) && setting_sleeps(&md->knobs.target);
}

/* As judged by the policy in force; a dry run may ask by another one. */
static SleepLimits limits_by(const Control *c, const Managed *md, const Policy *policy)
{
	char why[REST_WHY_SIZE];

	return policy == gather_policy(c) ? md->rest.limits
					  : rest_limits(md, policy, &c->tools, why);
}

double gather_headroom(const Policy *p, bool counts_expected)
{
	return counts_expected ? MIN(EXPECTED_HEADROOM, p->demand_headroom) : p->demand_headroom;
}

static void describe_pin(const Control *c, const Managed *md, PlanDevice *ret)
{
	bool waits;
	const Claim *pin = limits_pin_of(&c->limits, &c->fleet, md, &waits);

	ret->is_pinned = pin && !waits;
	if (ret->is_pinned)
		ret->pinned_state = (int)pin->power_state;
}

static void describe_device(const Control *c, const Managed *md, const Policy *policy,
			    PlanDevice *ret)
{
	SleepLimits limits = limits_by(c, md, policy);
	uint64_t now_us = c->tools.now_us;

	*ret = (PlanDevice){
		.name = md->device->name,
		.model = md->device->model,
		.profile = md->device->profile,
		.offer = obedience_offer(md),
		.mix = served_mix(md, &c->fleet),
		.demand_mb_s = served_demand_mb_s(md, &c->fleet),
		.limit_w = limits_of_device_w(&c->limits, md),
		.group = PLAN_NO_GROUP,
		.held = gather_is_held(md, now_us) || md->device->protected_why,
		.held_w = held_w(md, now_us),
		.starting = waking_under_way(md) || md->knobs.leftover,
		.held_setting = md->knobs.actual,
		.pool = PLAN_NO_POOL,
		.deepest = limits.deepest,
		.deepest_needed = limits.needed,
		.rest = limits.rest,
		.must_sleep = managed_asleep(md) && !waking_is_wanted(md),
		/* without a budget nothing is held back, not even for those that sleep on */
		.holds_writes = knob_set_redirect(md) && c->limits.enforcing,
		.awake_redirect = md->cache.draining ? REDIRECT_DRAIN : REDIRECT_AS_FOUND,
		.current = is_on_its_way(md) ? md->knobs.target : md->knobs.actual,
		.bias = MAX(md->trust.bias, 1.0),
		.correction = md->trust.correction,
		.measured = md->trust.is_measured,
	};
	describe_pin(c, md, ret);
	if (trust_is_uncontrolled(md, now_us))
		ret->offer.mechanisms &= ~(unsigned)MECHANISM_PACING;
}

/* Of no pool, those that serve in common are as one. */
static size_t number_in_common(const Fleet *f, size_t device)
{
	const Managed *md = f->devices[device];
	size_t first = f->n, n = 0;

	for (size_t i = 0; md->served.outpaced && i < f->n; i++)
		if (served_in_common(f->devices[i], md)) {
			first = MIN(first, i);
			n++;
		}
	return n > 1 ? first : PLAN_NO_POOL;
}

/* Pools of two or more have the number of their first device. What turns sleeps as one, what is
 * flash serves on: of one pool these are two. */
static int number_pools(const Control *c, PlanDevice *devices)
{
	const Fleet *f = &c->fleet;
	_cleanup_free_ size_t *numbers = calloc(f->n + 1, sizeof(*numbers));
	_cleanup_free_ size_t *firsts = calloc(2 * f->n + 2, sizeof(*firsts)); /* one more */

	if (!numbers || !firsts || pools_number(f, numbers) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < f->n; i++) {
		const Device *d = f->devices[i]->device;
		size_t *first = &firsts[2 * numbers[i] + (d->kind == KIND_HDD)];

		devices[i].spreads = numbers[i] && pools_spread(&c->config, d->pool);
		if (!numbers[i])
			devices[i].pool = number_in_common(f, i);
		else if (*first)
			devices[i].pool = devices[*first - 1].pool = *first - 1;
		else
			*first = i + 1;
	}
	return 0;
}

static bool is_stopping(const Managed *md)
{
	bool moves = md->errands.busy && md->errands.mechanism == MECHANISM_CONDITION;

	return (md->rest.awaits || moves) && setting_sleeps(&md->knobs.target) &&
	       md->knobs.target.condition > md->knobs.actual.condition;
}

/* While disks are on their way to sleep what they save has not arrived: no others follow for that.
 */
static bool any_stopping(const Fleet *f)
{
	for_each_device(const Managed, md, f) if (is_stopping(md)) return true;
	return false;
}

static SpinUps spin_ups(const Control *c)
{
	SpinUps s = { .most = c->config.sleep.spinups_at_once, .most_w = c->config.sleep.spinup_w };

	for_each_device(const Managed, md, &c->fleet) if (waking_under_way(md))
	{
		s.watts += md->waking.watts;
		s.n++;
	}
	return s;
}

static const Claim *lowest_claim(const Control *c, ClaimScope scope, const char *target,
				 double operating_w)
{
	uint64_t by = 0;

	lowest_claims_limit_w(&c->limits.lowest, scope, target, operating_w, &by);
	return by ? claims_find(c->limits.claims, by) : NULL;
}

static const Claim *more_urgent(const Claim *a, const Claim *b)
{
	return !a || (b && b->class > a->class) ? b : a;
}

/* Also where a lower limit of another class is in force. */
static const Claim *emergency_of(const Control *c, const Managed *md)
{
	const Claim *claim;

	for (size_t i = 0; (claim = claims_get(c->limits.claims, i)); i++)
		if (claim->class == CLASS_EMERGENCY && !claim->pins &&
		    claim_active(claim, c->tools.now_us) && limits_claim_covers(claim, md))
			return claim;
	return NULL;
}

const Claim *gather_binding_claim(const Control *c, const Managed *md)
{
	const char *group = md->device->group;
	const Claim *claim = emergency_of(c, md);

	if (claim)
		return claim;
	claim = limits_effective(&c->limits);
	if (*group)
		claim = more_urgent(claim, lowest_claim(c, SCOPE_GROUP, group,
							limits_operating_w(&c->fleet, group)));
	return more_urgent(claim,
			   lowest_claim(c, SCOPE_DEVICE, md->device->name, md->trust.operating_w));
}

/* Is the lowest claim one? group NULL: on the node. */
static bool is_emergency(const Control *c, const char *group)
{
	const Claim *claim =
		group ? lowest_claim(c, SCOPE_GROUP, group, limits_operating_w(&c->fleet, group))
		      : limits_effective(&c->limits);

	return claim && claim->class == CLASS_EMERGENCY;
}

/* In an emergency everything is taken. So it is until disks on their way to sleep have arrived, if
 * that is all that is missing. */
static double floors_yield_w(const Control *c, const char *group)
{
	double sum_w = is_emergency(c, group) ? INFINITY : 0;

	for_each_device(const Managed, md,
			&c->fleet) if (is_stopping(md) &&
				       (!group || streq(group, md->device->group))) sum_w +=
		MAX(md->caps.now_w - caps_of(md, &md->knobs.target, c->tools.now_us), 0.0);
	return sum_w;
}

/* What a plan must leave for the spin-ups to come next; group NULL: of all. In an emergency they
 * wait. */
static double wake_reserve_w(const Control *c, const char *group)
{
	SpinUps s = spin_ups(c);
	double reserve_w = 0;

	if (is_emergency(c, NULL))
		return 0;
	for_each_device(const Managed, md, &c->fleet)
	{
		double wake_w = md->device->profile->conditions[md->knobs.actual.condition].wake_w;

		if (!waking_is_wanted(md) || !managed_asleep(md))
			continue;
		if (!spin_up_fits(&s, wake_w))
			break;
		s.n++;
		s.watts += wake_w;
		/* what it can draw awake is in the plan */
		if (!group || streq(group, md->device->group))
			reserve_w += MAX(wake_w - md->device->profile->idle_w, 0);
	}
	return reserve_w;
}

static size_t group_index(const PlanGroup *groups, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (streq(groups[i].name, name))
			return i;
	return PLAN_NO_GROUP;
}

/* The groups of the devices, each with its limit: INFINITY where no claim names it. */
static int list_groups(const Control *c, Facts *f)
{
	for_each_device(const Managed, md, &c->fleet)
	{
		const char *name = md->device->group;
		PlanGroup *g;

		if (!*name || group_index(f->groups, f->n_groups, name) != PLAN_NO_GROUP)
			continue;
		g = ARRAY_GROW(f->groups, f->n_groups);
		if (!g)
			return -ENOMEM;
		g->name = name;
		g->reserve_w = wake_reserve_w(c, name);
		g->floors_yield_w = floors_yield_w(c, name) + g->reserve_w;
		g->limit_w = limits_of_group_w(&c->limits, &c->fleet, name) -
			     gauges_group_guard_w(&c->gauges, md) - g->reserve_w;
	}
	return 0;
}

static int describe_devices(const Control *c, Facts *f)
{
	double headroom = gather_headroom(f->policy, f->at_once > 0);
	bool stopping = any_stopping(&c->fleet);

	for (size_t i = 0; i < c->fleet.n; i++) {
		const Managed *md = c->fleet.devices[i];
		PlanDevice *d = &f->devices[i];

		describe_device(c, md, f->policy, d);
		d->demand_mb_s *= headroom;
		d->group = group_index(f->groups, f->n_groups, md->device->group);
		if (stopping)
			d->deepest_needed = d->deepest;
	}
	return number_pools(c, f->devices);
}

void facts_done(Facts *f)
{
	free(f->devices);
	free(f->tiers);
	free(f->groups);
}

int gather_facts(const Control *c, const Policy *policy, Facts *ret)
{
	Facts f = { .n_devices = c->fleet.n,
		    .policy = policy,
		    .at_once = at_once(c),
		    .is_hard = is_hard(c),
		    .floors_yield_w = floors_yield_w(c, NULL),
		    .reserve_w = wake_reserve_w(c, NULL),
		    .cap_w = caps_sum_w(&c->fleet) };
	int r;

	f.spendable_w = spendable_w(c, f.at_once > 0);
	f.devices = calloc(c->fleet.n + 1, sizeof(*f.devices));
	r = f.devices ? list_groups(c, &f) : -ENOMEM;
	if (r >= 0)
		r = describe_devices(c, &f);
	if (r >= 0)
		r = tiers_find(&c->fleet, &f.tiers, &f.n_tiers);
	if (r < 0) {
		facts_done(&f);
		return r;
	}
	*ret = f;
	return 0;
}

static void describe_knobs(const Control *c, const Managed *md, KnobInForce *ret)
{
	for_each_knob(const HeldKnob, hk, &md->knobs) *ret++ =
		(KnobInForce){ .mechanism = hk->knob->mechanism,
			       .pending = hk->pending,
			       .lets_go = streq(hk->wanted.text, hk->original.text),
			       .must_wait = obedience_of(md, hk)->retry_at_us ||
					    consent_is_awaited(md, hk, &c->tools),
			       .freezes = hk->knob->freezes,
			       .wakes_disk = hk->knob->wakes };
}

/* What the fallback plan has taken is given back as soon as that has done its work. */
static uint64_t may_rise_us(const Control *c, const Managed *md, const Policy *policy)
{
	if (!policy || overload_was_strict(&c->gauges.overload, md->knobs.tightened_us))
		return 0;
	return md->knobs.tightened_us + (policy->dwell_us << md->knobs.vain);
}

static void describe_in_force(const Control *c, const Managed *md, const Policy *policy,
			      DeviceInForce *ret)
{
	uint64_t now_us = c->tools.now_us;

	*ret = (DeviceInForce){
		.profile = md->device->profile,
		.actual = md->knobs.actual,
		.target = md->knobs.target,
		.cap_w = md->caps.now_w,
		.bias = md->trust.bias,
		.group = PLAN_NO_GROUP,
		.knobs = ret->knobs,
		.busy = md->errands.busy || !md->knobs.probed ||
			(md->errands.next & ERRAND_RESET), /* what is sent now is lost */
		.wanted_awake = waking_is_wanted(md),
		.pacing_leaks = trust_is_uncontrolled(md, now_us),
		.wears = md->wear.account,
		.exchanges = md->knobs.exchanges,
		.may_rise_us = may_rise_us(c, md, policy),
		.thawed_us = knob_set_thawed_us(md),
		.settled_us = rest_settled_us(md, now_us),
	};
}

/* A group's limit, or what the plan gives it where that is below what cannot be avoided. */
static void limit_groups(const Fleet *f, DeviceInForce *devices, double *limits_w, size_t *n)
{
	const char *names[f->n + 1];

	*n = 0;
	for (size_t i = 0; i < f->n; i++) {
		const Managed *md = f->devices[i];
		double planned_w = 0;
		size_t g = 0;

		if (!*md->device->group)
			continue;
		while (g < *n && !streq(names[g], md->device->group))
			g++;
		devices[i].group = g;
		if (g < *n)
			continue;
		for_each_device(const Managed, other,
				f) if (streq(other->device->group, md->device->group)) planned_w +=
			other->planned.device.cap_w;
		names[(*n)++] = md->device->group;
		limits_w[g] = MAX(md->planned.group_limit_w, planned_w);
	}
}

void in_force_done(InForce *f)
{
	free((void *)f->devices);
	free((void *)f->group_limits_w);
}

int gather_in_force(const Control *c, InForce *ret)
{
	size_t n = c->fleet.n, n_knobs = knob_count();
	DeviceInForce *devices =
		calloc(1, (n + 1) * (sizeof(*devices) + n_knobs * sizeof(KnobInForce)));
	double *limits_w = calloc(n + 1, sizeof(*limits_w)), plan_w;
	const Policy *policy = gather_policy(c);
	/* what they tell is planned for in a moment, and may take a raise back */
	bool looking = errands_looks_out(&c->fleet) > 0;
	KnobInForce *knobs;

	if (!devices || !limits_w) {
		free(devices);
		free(limits_w);
		return -ENOMEM;
	}
	knobs = (KnobInForce *)(devices + n);
	for (size_t i = 0; i < n; i++, knobs += n_knobs) {
		devices[i].knobs = knobs;
		describe_knobs(c, c->fleet.devices[i], knobs);
		describe_in_force(c, c->fleet.devices[i], policy, &devices[i]);
		if (looking)
			devices[i].may_rise_us = USEC_NEVER;
	}
	/* below the floor the plan is the limit: nothing goes above what cannot be avoided */
	plan_w = c->enforcement.plan ? c->enforcement.plan->cap_w : 0;
	*ret = (InForce){ .devices = devices,
			  .n_devices = n,
			  .n_knobs = n_knobs,
			  .group_limits_w = limits_w,
			  .spin_ups = spin_ups(c),
			  .now_us = c->tools.now_us,
			  .limit_w = MAX(spendable_w(c, gather_counts_expected(c)), plan_w),
			  .rated_w = limits_rated_w(&c->fleet),
			  .stopping = c->tools.stopping };
	limit_groups(&c->fleet, devices, limits_w, &ret->n_groups);
	return 0;
}
