/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "manager-internal.h"

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

static bool long_enough(uint64_t now, uint64_t since, uint64_t span)
{
	return now >= since && now - since >= span;
}

static bool may_sleep(const ManagedDevice *md, const Policy *p, uint64_t now)
{
	/* nobody looks while nothing is to be enforced: what was idle then may be busy now */
	bool fresh = md->has_counters && now < md->counters.time_us + 2 * LOOK_US;

	return fresh && long_enough(now, md->last_io_us, p->sleep_idle_us) &&
	       (!md->woke_us || long_enough(now, md->woke_us, p->sleep_min_us));
}

static double device_limit_w(const Manager *m, const ManagedDevice *md, uint64_t now)
{
	const Claim *c;

	return claims_effective(m->claims, SCOPE_DEVICE, md->device->name,
				md->device->profile->rated_w, now, &c);
}

static void describe_device(const Manager *m, const ManagedDevice *md, const Policy *policy,
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
		.held_w = md->cap_w,
		.held_setting = md->actual,
		.may_sleep = may_sleep(md, policy, now),
		.must_sleep = managed_asleep(md),
		.current = md->actual,
		.bias = MAX(md->bias, 1.0),
	};
	if (managed_uncontrolled(m, md))
		ret->offer.mechanisms &= ~(unsigned)MECHANISM_PACING;
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
		g->limit_w = manager_group_limit_w(m, name) - group_guard_w(m, m->devices[i]);
	}
	return 0;
}

int manager_make_plan(Manager *m, double budget_w, unsigned forbidden, const Policy *policy,
		      Plan **ret)
{
	_cleanup_free_ PlanDevice *devices = calloc(m->n_devices + 1, sizeof(*devices));
	_cleanup_(group_list_done) GroupList groups = {};
	PlanInput input;
	int r;

	if (!devices)
		return -ENOMEM;
	r = list_groups(m, &groups);
	if (r < 0)
		return r;
	for (size_t i = 0; i < m->n_devices; i++) {
		describe_device(m, m->devices[i], policy, &devices[i]);
		devices[i].group = find_group(&groups, m->devices[i]->device->group);
		m->devices[i]->group_limit_w = devices[i].group == PLAN_NO_GROUP
						       ? INFINITY
						       : groups.groups[devices[i].group].limit_w;
	}
	input = (PlanInput){ .devices = devices,
			     .n_devices = m->n_devices,
			     .groups = groups.groups,
			     .n_groups = groups.n,
			     .policy = policy,
			     .forbidden = forbidden,
			     .budget_w = budget_w };
	return plan_make(&input, ret);
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
