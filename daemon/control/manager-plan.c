/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "control/manager-internal.h"

double managed_cap_w(const Manager *m, const ManagedDevice *md, const Setting *s)
{
	Setting holding = *s;

	if (managed_uncontrolled(m, md))
		holding.pace_w = 0;
	return cap_watts(md->device->profile, &holding) * MAX(md->bias, 1.0);
}

bool managed_asleep(const ManagedDevice *md)
{
	return md->actual.condition > CONDITION_IDLE_B;
}

const Policy *manager_policy_now(const Manager *m)
{
	const Claim *c = m->effective_cookie ? claims_find(m->claims, m->effective_cookie) : NULL;

	return c && c->class == CLASS_EMERGENCY && m->emergency_policy ? m->emergency_policy
								       : m->policy;
}

static double device_limit_w(const Manager *m, const ManagedDevice *md, uint64_t now)
{
	const Claim *c;

	return claims_effective(m->claims, SCOPE_DEVICE, md->device->name,
				md->device->profile->rated_w, now, &c);
}

/* To sleep: its writes are held back already. */
static bool is_on_its_way(const ManagedDevice *md)
{
	return md->held_us && !managed_asleep(md) && md->target.condition > CONDITION_IDLE_B;
}

/* What an earlier run left asleep wakes to be given back, and the others make room for that. */
static double held_w(const Manager *m, const ManagedDevice *md)
{
	if (md->leftover && md->wake_why)
		return MAX(md->cap_w, managed_cap_w(m, md, &SETTING_AS_FOUND));
	return md->cap_w;
}

static void describe_device(const Manager *m, ManagedDevice *md, const Policy *policy,
			    PlanDevice *ret)
{
	uint64_t now = manager_now_us(m);
	double demand = md->demand_mb_s * policy->demand_headroom;

	*ret = (PlanDevice){
		.name = md->device->name,
		.model = md->device->model,
		.profile = md->device->profile,
		.offer = md->offer,
		.mix = md->mix,
		.demand_mb_s = demand,
		.limit_w = device_limit_w(m, md, now),
		.group = PLAN_NO_GROUP,
		.held = managed_held(m, md) || md->device->protected_why,
		.held_w = held_w(m, md),
		.held_setting = md->actual,
		.pool = PLAN_NO_POOL,
		.must_sleep = managed_asleep(md) && !md->wake_why,
		/* without a budget nothing is held back, not even for those that sleep on */
		.holds_writes = managed_redirect(md) && manager_enforcing(m),
		.awake_redirect = md->draining ? REDIRECT_DRAIN : REDIRECT_AS_FOUND,
		.current = is_on_its_way(md) ? md->target : md->actual,
		.bias = MAX(md->bias, 1.0),
	};
	managed_judge_sleep(m, md, policy);
	ret->deepest = md->sleep.deepest;
	ret->deepest_needed = md->sleep.needed;
	ret->rest = md->sleep.rest;
	if (managed_uncontrolled(m, md))
		ret->offer.mechanisms &= ~(unsigned)MECHANISM_PACING;
}

/* The number of the device's pool among those of two or more; PLAN_NO_POOL: it sleeps alone. The
 * first device of a pool gives it its number. */
static size_t pool_of(const Manager *m, size_t device)
{
	const char *name = m->devices[device]->device->pool;
	size_t first = m->n_devices, n = 0;

	for (size_t i = 0; *name && i < m->n_devices; i++)
		if (streq(m->devices[i]->device->pool, name)) {
			first = MIN(first, i);
			n++;
		}
	return n > 1 ? first : PLAN_NO_POOL;
}

/* While disks are on their way to sleep what they save has not arrived: no others follow for that.
 */
static bool any_stopping(const Manager *m)
{
	for (size_t i = 0; i < m->n_devices; i++) {
		const ManagedDevice *md = m->devices[i];

		if ((md->awaits_sleep || (md->busy && md->stepping == MECHANISM_CONDITION)) &&
		    md->target.condition > CONDITION_IDLE_B &&
		    md->target.condition > md->actual.condition)
			return true;
	}
	return false;
}

typedef struct GroupList {
	PlanGroup *groups;
	size_t n;
} GroupList;

static void group_list_done(GroupList *list)
{
	free(list->groups);
}

static double group_rated_w(const Manager *m, const char *group)
{
	double w = 0;

	for (size_t i = 0; i < m->n_devices; i++)
		if (streq(m->devices[i]->device->group, group))
			w += m->devices[i]->device->profile->rated_w;
	return w;
}

static size_t find_group(const GroupList *list, const char *name)
{
	for (size_t i = 0; i < list->n; i++)
		if (streq(list->groups[i].name, name))
			return i;
	return PLAN_NO_GROUP;
}

double manager_group_limit_w(const Manager *m, const char *group)
{
	const Claim *by;

	return claims_effective(m->claims, SCOPE_GROUP, group, group_rated_w(m, group),
				manager_now_us(m), &by);
}

static double group_guard_w(const Manager *m, const ManagedDevice *md)
{
	const ManagedSensor *s = manager_sensor_of(m, SENSOR_OF_GROUP, md);

	return s ? s->guard_w : 0;
}

/* The groups of the devices, each with its limit: INFINITY where no claim names it. */
static int list_groups(const Manager *m, GroupList *ret)
{
	for (size_t i = 0; i < m->n_devices; i++) {
		const char *name = m->devices[i]->device->group;
		PlanGroup *g;

		if (!*name || find_group(ret, name) != PLAN_NO_GROUP)
			continue;
		g = ARRAY_GROW(ret->groups, ret->n);
		if (!g)
			return -ENOMEM;
		g->name = name;
		g->reserve_w = manager_wake_reserve_w(m, name);
		g->limit_w = manager_group_limit_w(m, name) - group_guard_w(m, m->devices[i]) -
			     g->reserve_w;
	}
	return 0;
}

/* For all that they do: spin-ups are what is reserved for. */
static double limit_of(const GroupList *groups, size_t group)
{
	const PlanGroup *g = group < groups->n ? &groups->groups[group] : NULL;

	return g ? g->limit_w + g->reserve_w : INFINITY;
}

static void describe_devices(Manager *m, const GroupList *groups, const Policy *policy,
			     PlanDevice *ret)
{
	bool stopping = any_stopping(m);

	for (size_t i = 0; i < m->n_devices; i++) {
		ManagedDevice *md = m->devices[i];

		describe_device(m, md, policy, &ret[i]);
		ret[i].pool = pool_of(m, i);
		ret[i].group = find_group(groups, md->device->group);
		if (stopping)
			ret[i].deepest_needed = ret[i].deepest;
		md->group_limit_w = limit_of(groups, ret[i].group);
	}
}

int manager_make_plan(Manager *m, double budget_w, unsigned forbidden, const Policy *policy,
		      Plan **ret)
{
	double reserve_w = isfinite(budget_w) ? MIN(manager_wake_reserve_w(m, NULL), budget_w) : 0;
	_cleanup_free_ PlanDevice *devices = calloc(m->n_devices + 1, sizeof(*devices));
	_cleanup_(group_list_done) GroupList groups = {};
	_cleanup_(plan_freep) Plan *plan = NULL;
	PlanInput input;
	int r;

	if (!devices)
		return -ENOMEM;
	r = list_groups(m, &groups);
	if (r < 0)
		return r;
	describe_devices(m, &groups, policy, devices);
	input = (PlanInput){ .devices = devices,
			     .n_devices = m->n_devices,
			     .groups = groups.groups,
			     .n_groups = groups.n,
			     .n_pools = m->n_devices,
			     .policy = policy,
			     .forbidden = forbidden,
			     .budget_w = budget_w - reserve_w };
	r = plan_make(&input, &plan);
	if (r < 0)
		return r;
	/* what is kept free for them for a moment is not missing */
	plan->shortfall_w = MAX(plan->shortfall_w - reserve_w, 0.0);
	*ret = TAKE_PTR(plan);
	return 0;
}

int manager_plan(Manager *m, double budget_w, unsigned forbidden, const char *policy, Plan **ret,
		 char **ret_error)
{
	_cleanup_(policy_freep) Policy *other = NULL;
	int r;

	if (policy) {
		r = policy_find(m->config.policy_directories, policy, &other);
		if (r < 0) {
			*ret_error = text_printf("there is no policy \"%s\"", policy);
			return r;
		}
	}
	manager_freshen(m);
	r = manager_make_plan(m, budget_w, forbidden, other ?: m->policy, ret);
	if (r < 0)
		*ret_error = text_printf("no plan could be made: %s", strerror(-r));
	return r;
}
