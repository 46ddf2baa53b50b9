/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Nodes of shipped profiles for the planner's tests, and what holds for every plan. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "plan/plan.h"

enum { DEVICES_MAX = 40 };

static ProfileStore *store;
static Policy *balanced;

/* needs all the watts that a drive can draw */
static const Mix heavy_mix = {
	.read_share = 0.1,
	.random_share = 1,
	.read_kib = 256,
	.write_kib = 256,
	.depth = 64,
};

typedef struct Node {
	PlanDevice devices[DEVICES_MAX];
	PlanGroup groups[2];
	PlanInput in;
} Node;

static inline Offer full_offer(const Profile *p)
{
	Offer o = {
		.mechanisms = MECHANISM_DEPTH | MECHANISM_CHUNK | MECHANISM_PACING,
		.depth_one = true,
		.depth_min = 4,
		.depth_max = 256,
		.chunk_min_kib = 4,
		.chunk_max_kib = 1024,
		.pace_min_w = 0.1,
	};

	if (p->kind == KIND_NVME)
		o.mechanisms |= MECHANISM_POWER_STATE;
	if (p->kind == KIND_HDD)
		o.mechanisms |= MECHANISM_CONDITION;
	for (unsigned s = 0; s < PROFILE_STATES_MAX; s++)
		if (p->states[s].present)
			o.power_states |= 1u << s;
	for (unsigned c = 0; c < _CONDITION_MAX; c++)
		if (p->conditions[c].present)
			o.conditions |= 1u << c;
	return o;
}

static inline PlanDevice *add(Node *n, const char *profile, double demand_mb_s)
{
	PlanDevice *d = &n->devices[n->in.n_devices++];
	const Profile *p = profile_store_get(store, profile);

	assert_non_null(p);
	*d = (PlanDevice){
		.name = p->kind == KIND_HDD ? "sda" : "nvme0",
		.model = profile,
		.profile = p,
		.offer = full_offer(p),
		.mix = heavy_mix,
		.demand_mb_s = demand_mb_s,
		.limit_w = INFINITY,
		.group = PLAN_NO_GROUP,
		.pool = PLAN_NO_POOL,
		.current = SETTING_AS_FOUND,
		.bias = 1,
	};
	return d;
}

static inline void start(Node *n, double budget_w)
{
	*n = (Node){ .in = { .policy = balanced, .budget_w = budget_w } };
	n->in.devices = n->devices;
	n->in.groups = n->groups;
}

static inline double rated(const Node *n)
{
	double w = 0;

	for (size_t i = 0; i < n->in.n_devices; i++)
		w += n->devices[i].profile->rated_w;
	return w;
}

static inline void mixed(Node *n, double budget_w)
{
	start(n, budget_w);
	for (int i = 0; i < 8; i++)
		add(n, i % 2 ? "samsung-pm9a3" : "intel-p5510", INFINITY);
	for (int i = 0; i < 16; i++)
		add(n, "seagate-exos-7e2000", INFINITY);
	for (int i = 0; i < 4; i++)
		add(n, "intel-d3-s4510", INFINITY);
}

/* What holds for every plan. */
static inline Plan *checked(const Node *n)
{
	double cap = 0, expect = 0, mb_s = 0;
	Plan *p;

	assert_int_equal(plan_make(&n->in, &p), 0);
	assert_int_equal(p->n_devices, n->in.n_devices);
	for (size_t i = 0; i < p->n_devices; i++) {
		const PlannedDevice *d = &p->devices[i];

		cap += d->cap_w;
		expect += d->expect_w;
		mb_s += d->mb_s;
		assert_true(d->cap_w >= d->expect_w);
		assert_true(d->mb_s >= 0 && d->full_mb_s >= 0);
		assert_true(d->mb_s <= MAX(n->devices[i].demand_mb_s, 0.0));
	}
	assert_true(cap == p->cap_w);
	assert_true(expect == p->expect_w && mb_s == p->mb_s);
	/* the members of pools are added up in another order than the planner does */
	if (p->counted_w > n->in.budget_w + 1e-9)
		assert_true(p->shortfall_w == p->counted_w - n->in.budget_w);
	else
		assert_true(p->shortfall_w == 0);
	assert_true(p->bound_value >= p->value);
	return p;
}

static inline int read_files(void **state)
{
	static const char *const profiles[] = { "policies/profiles", NULL };
	static const char *const policies[] = { "policies", NULL };
	(void)state;

	log_set_max_level(LOG_ERR);
	if (profile_store_read(profiles, &store) < 0)
		return -1;
	if (policy_find(policies, "balanced", &balanced) < 0)
		return -1;
	balanced->fairness = 0;
	balanced->floor = (RuleFloor){};
	return 0;
}

/* As the shipped policies share. */
static inline Policy fair_policy(void)
{
	Policy fair = *balanced;

	fair.fairness = 1;
	fair.floor = (RuleFloor){ .share = 0.25 };
	return fair;
}

static inline double share_of(const PlannedDevice *d)
{
	return d->full_mb_s > 0 ? d->mb_s / d->full_mb_s : 1;
}

static inline int free_files(void **state)
{
	(void)state;
	store = profile_store_free(store);
	balanced = policy_free(balanced);
	return 0;
}
