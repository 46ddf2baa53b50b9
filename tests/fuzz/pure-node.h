/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A node of plain values, for decide() and admit() alone: no clock, no device, no thread. Bytes say
 * what happens to it; after each event the promises of enforcement are checked. The fuzz target and
 * the property test drive the same. PURE_CHECK(x) is the caller's way to fail. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "control/admit.h"
#include "control/decide.h"

enum { PURE_DEVICES_MAX = 6, PURE_KNOBS = 5, PURE_GROUPS = 2 };

static const Mechanism pure_mechanisms[PURE_KNOBS] = { MECHANISM_POWER_STATE, MECHANISM_PACING,
						       MECHANISM_DEPTH, MECHANISM_CHUNK,
						       MECHANISM_CONDITION };

typedef struct PureDevice {
	Profile *profile;
	Offer offer;
	DeviceInForce in_force;
	KnobInForce knobs[PURE_KNOBS];
	Setting verified;     /* what its knobs say */
	Admitted out;         /* the step that is under way, while in_force.busy */
	Setting before, sent; /* of that step: what was in force, and what is to be */
	double demand_mb_s;
} PureDevice;

typedef struct PureNode {
	PureDevice devices[PURE_DEVICES_MAX];
	size_t n;
	Policy policy;
	Plan *plan;
	double budget_w, group_w; /* group_w: of group 0; INFINITY: none */
	double sum_w;             /* of the caps, when they were last checked */
	uint64_t now_us;
	bool only_demand; /* nothing else has changed: the plan in force may stay */
	bool is_hard;     /* room is left for a motor */
	const uint8_t *bytes;
	size_t left;
} PureNode;

static inline unsigned pure_byte(PureNode *n)
{
	if (!n->left)
		return 0;
	n->left--;
	return *n->bytes++;
}

static inline Profile *pure_profile(bool disk)
{
	Descriptor d = { .kind = disk ? KIND_HDD : KIND_NVME, .model = "pure" };
	static const double max_w[] = { 25, 14, 8 };
	Profile *p = NULL;

	for (unsigned i = 0; !disk && i < 3; i++)
		d.states[d.n_states++] =
			(PowerState){ .present = true, .operational = true, .max_w = max_w[i] };
	if (profile_generic(&d, &p) < 0)
		abort();
	return p;
}

static inline void pure_device_init(PureDevice *d, bool disk, size_t group)
{
	d->profile = pure_profile(disk);
	d->offer = (Offer){ .mechanisms = MECHANISM_PACING | MECHANISM_DEPTH | MECHANISM_CHUNK |
					  (disk ? MECHANISM_CONDITION : MECHANISM_POWER_STATE),
			    .power_states = disk ? 0 : 7,
			    .conditions = disk ? 0x3f : 0,
			    .depth_one = true,
			    .depth_min = 2,
			    .depth_max = 64,
			    .chunk_min_kib = 4,
			    .chunk_max_kib = 1024,
			    .pace_min_w = 0.05 };
	d->verified = SETTING_AS_FOUND;
	d->demand_mb_s = INFINITY;
	d->in_force = (DeviceInForce){ .profile = d->profile,
				       .actual = SETTING_AS_FOUND,
				       .target = SETTING_AS_FOUND,
				       .cap_w = d->profile->rated_w,
				       .bias = 1,
				       .group = group,
				       .knobs = d->knobs,
				       .wears = disk };
	for (size_t k = 0; k < PURE_KNOBS; k++)
		d->knobs[k] = (KnobInForce){ .mechanism = pure_mechanisms[k],
					     .freezes = k == 1 || k == 3 };
}

static inline double pure_rated_w(const PureNode *n)
{
	double w = 0;

	for (size_t i = 0; i < n->n; i++)
		w += n->devices[i].profile->rated_w;
	return w;
}

static inline double pure_sum_w(const PureNode *n)
{
	double w = 0;

	for (size_t i = 0; i < n->n; i++)
		w += n->devices[i].in_force.cap_w;
	return w;
}

static inline void pure_node_init(PureNode *n, const uint8_t *bytes, size_t size)
{
	unsigned what;

	*n = (PureNode){ .bytes = bytes, .left = size, .budget_w = INFINITY, .group_w = INFINITY };
	n->policy = (Policy){ .deepest = CONDITION_STANDBY_Z,
			      .dwell_us = 500000,
			      .hysteresis = 0.02,
			      .demand_headroom = 1.2 };
	n->now_us = 1000000000;
	what = pure_byte(n);
	n->n = 1 + what % PURE_DEVICES_MAX;
	n->is_hard = what / PURE_DEVICES_MAX % 2;
	for (size_t i = 0; i < n->n; i++)
		pure_device_init(&n->devices[i], pure_byte(n) & 1, i % PURE_GROUPS);
	n->sum_w = pure_sum_w(n);
}

static inline void pure_node_done(PureNode *n)
{
	for (size_t i = 0; i < n->n; i++)
		profile_free(n->devices[i].profile);
	plan_free(n->plan);
}

/* The part of a setting that one mechanism makes. */
static inline Setting pure_part(const Setting *s, Mechanism m)
{
	Setting part = SETTING_AS_FOUND;

	setting_take(&part, s, m);
	return part;
}

static inline bool pure_is_to_rise(const PureDevice *d)
{
	return cap_watts(d->in_force.profile, &d->in_force.target) >
	       cap_watts(d->in_force.profile, &d->in_force.actual);
}

/* As knob_set_aim() does. */
static inline void pure_aim(PureDevice *d, const Setting *target)
{
	bool other = !setting_equal(target, &d->in_force.target);

	d->in_force.target = *target;
	if (other)
		d->in_force.exchanges = !pure_is_to_rise(d);
	for (size_t k = 0; k < PURE_KNOBS; k++) {
		Setting want = pure_part(target, d->knobs[k].mechanism);
		Setting is = pure_part(&d->verified, d->knobs[k].mechanism);

		d->knobs[k].pending = !setting_equal(&want, &is);
		d->knobs[k].lets_go = setting_equal(&want, &SETTING_AS_FOUND);
	}
}

static inline bool pure_failed(const PureDevice *d)
{
	for (size_t k = 0; k < PURE_KNOBS; k++)
		if (d->knobs[k].must_wait)
			return true;
	return false;
}

static inline bool pure_held(const PureDevice *d)
{
	return pure_failed(d) ||
	       (d->in_force.busy && pure_mechanisms[d->out.knob] == MECHANISM_CONDITION);
}

static inline void pure_decide(PureNode *n)
{
	PlanDevice devices[PURE_DEVICES_MAX];
	PlanGroup groups[PURE_GROUPS] = { { .name = "a", .limit_w = n->group_w },
					  { .name = "b", .limit_w = INFINITY } };
	Facts f = { .devices = devices,
		    .n_devices = n->n,
		    .groups = groups,
		    .n_groups = PURE_GROUPS,
		    .policy = &n->policy,
		    .spendable_w = n->budget_w,
		    .is_hard = n->is_hard,
		    .cap_w = pure_sum_w(n) };
	Verdict v;

	for (size_t i = 0; i < n->n; i++) {
		const PureDevice *d = &n->devices[i];
		bool asleep = setting_sleeps(&d->in_force.actual);

		devices[i] =
			(PlanDevice){ .name = "device",
				      .model = "pure",
				      .profile = d->profile,
				      .offer = d->offer,
				      .mix = MIX_UNKNOWN,
				      .demand_mb_s = d->demand_mb_s,
				      .limit_w = INFINITY,
				      .group = d->in_force.group,
				      .held = pure_held(d),
				      .held_w = d->in_force.cap_w,
				      .held_setting = d->in_force.actual,
				      .pool = PLAN_NO_POOL,
				      .deepest = asleep || d->demand_mb_s == 0 ? CONDITION_STANDBY_Z
									       : CONDITION_IDLE_B,
				      .deepest_needed = CONDITION_STANDBY_Z,
				      .current = d->in_force.actual,
				      .bias = 1 };
	}
	PURE_CHECK(decide(&f, n->plan, n->only_demand, &v) == 0);
	if (v.keep) {
		plan_free(v.plan);
		return;
	}
	plan_free(n->plan);
	n->plan = v.plan;
	for (size_t i = 0; i < n->n; i++)
		if (!pure_held(&n->devices[i]))
			pure_aim(&n->devices[i], &v.plan->devices[i].setting);
}

static inline void pure_update_cap(PureDevice *d)
{
	d->in_force.cap_w = admit_cap_w(&d->in_force, &d->in_force.actual);
}

static inline void pure_begin(PureNode *n, const Admitted *a)
{
	PureDevice *d = &n->devices[a->device];

	PURE_CHECK(!d->in_force.busy);
	PURE_CHECK(d->knobs[a->knob].pending && !d->knobs[a->knob].must_wait);
	d->in_force.busy = true;
	d->out = *a;
	d->before = d->in_force.actual;
	d->sent = d->in_force.target;
	if (!a->raises)
		return;
	setting_take(&d->in_force.actual, &d->in_force.target, pure_mechanisms[a->knob]);
	pure_update_cap(d);
}

static inline void pure_check_admitted(PureNode *n, const InForce *f, const Admitted *a, size_t k)
{
	double group_w = 0;
	bool raised = false;

	for (size_t i = 0; i < k; i++) {
		PURE_CHECK(!raised || a[i].raises); /* lowerings first */
		raised |= a[i].raises;
		for (size_t j = 0; j < i; j++)
			PURE_CHECK(a[j].device != a[i].device);
	}
	for (size_t i = 0; i < k; i++)
		pure_begin(n, &a[i]);
	if (raised)
		PURE_CHECK(pure_sum_w(n) <= f->limit_w + 1e-6);
	for (size_t i = 0; i < n->n; i++)
		if (n->devices[i].in_force.group == 0)
			group_w += n->devices[i].in_force.cap_w;
	for (size_t i = 0; i < k; i++)
		if (a[i].raises && n->devices[a[i].device].in_force.group == 0)
			PURE_CHECK(group_w <= f->group_limits_w[0] + 1e-6);
}

/* One turn; how many steps went out. */
static inline size_t pure_turn(PureNode *n)
{
	DeviceInForce devices[PURE_DEVICES_MAX];
	double limits_w[PURE_GROUPS] = { n->group_w, INFINITY }, planned_w = 0;
	Admitted admitted[PURE_DEVICES_MAX];
	InForce f = { .devices = devices,
		      .n_devices = n->n,
		      .n_knobs = PURE_KNOBS,
		      .group_limits_w = limits_w,
		      .n_groups = PURE_GROUPS,
		      .spin_ups = { .most = 2, .most_w = INFINITY },
		      .now_us = n->now_us,
		      .rated_w = pure_rated_w(n) };
	size_t k;

	pure_decide(n);
	for (size_t i = 0; i < n->n; i++) {
		devices[i] = n->devices[i].in_force;
		if (devices[i].group == 0)
			planned_w += n->plan->devices[i].cap_w;
	}
	limits_w[0] = fmax(limits_w[0], planned_w);
	f.limit_w = fmax(n->budget_w, n->plan->cap_w);
	k = admit(&f, admitted);
	PURE_CHECK(k <= n->n);
	pure_check_admitted(n, &f, admitted, k);
	/* within the limit, or falling */
	PURE_CHECK(pure_sum_w(n) <= fmax(f.limit_w, n->sum_w) + 1e-6);
	n->sum_w = pure_sum_w(n);
	return k;
}

static inline void pure_succeed(PureNode *n, PureDevice *d)
{
	Mechanism m = pure_mechanisms[d->out.knob];

	if (!d->in_force.busy)
		return;
	if (!d->out.raises) {
		if (!pure_is_to_rise(d))
			d->in_force.may_rise_us = n->now_us + n->policy.dwell_us;
		setting_take(&d->in_force.actual, &d->sent, m);
	}
	setting_take(&d->verified, &d->sent, m);
	d->in_force.busy = false;
	pure_update_cap(d);
	pure_aim(d, &d->in_force.target);
}

static inline void pure_fail(PureDevice *d)
{
	if (!d->in_force.busy)
		return;
	d->in_force.actual = d->before;
	d->in_force.busy = false;
	d->knobs[d->out.knob].must_wait = true;
	pure_update_cap(d);
}

static inline void pure_lose(PureNode *n, PureDevice *d)
{
	if (d->in_force.busy)
		return;
	d->verified = d->in_force.actual = SETTING_AS_FOUND;
	pure_update_cap(d);
	pure_aim(d, &d->in_force.target);
	n->sum_w = INFINITY; /* from outside */
}

static inline void pure_retry(PureDevice *d)
{
	for (size_t k = 0; k < PURE_KNOBS; k++)
		d->knobs[k].must_wait = false;
}

static inline void pure_event(PureNode *n)
{
	unsigned what = pure_byte(n), value = pure_byte(n);
	PureDevice *d = &n->devices[value % n->n];

	n->only_demand = what % 8 == 4;
	switch (what % 8) {
	case 0: n->budget_w = value == 255 ? INFINITY : pure_rated_w(n) * value / 200; break;
	case 1: n->group_w = value > 200 ? INFINITY : pure_rated_w(n) * value / 300; break;
	case 2: pure_fail(d); break;
	case 3: n->now_us += value * 20000; break;
	case 4: d->demand_mb_s = value > 200 ? INFINITY : value % 40 ? value : 0; break;
	case 5: pure_retry(d); break;
	case 6: pure_lose(n, d); break;
	default: pure_succeed(n, d); break;
	}
}

/* Whatever has happened: without a budget, everything gets back to what it was. */
static inline void pure_give_back(PureNode *n)
{
	size_t turns = 0, busy = 1;

	n->budget_w = n->group_w = INFINITY;
	n->only_demand = false;
	while (busy) {
		PURE_CHECK(turns++ < 200);
		n->now_us += 2000000;
		for (size_t i = 0; i < n->n; i++) {
			pure_retry(&n->devices[i]);
			pure_succeed(n, &n->devices[i]);
		}
		busy = pure_turn(n);
	}
	for (size_t i = 0; i < n->n; i++)
		PURE_CHECK(setting_equal(&n->devices[i].verified, &SETTING_AS_FOUND));
}

static inline void pure_node_run(const uint8_t *bytes, size_t size)
{
	PureNode n;

	pure_node_init(&n, bytes, size);
	while (n.left) {
		pure_event(&n);
		(void)pure_turn(&n);
	}
	pure_give_back(&n);
	pure_node_done(&n);
}
