/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The whole node as one constant struct, for the pure functions decide() and admit(): they see no
 * clock, no loop, no device and no lock. */

#include "plan/plan.h"

/* What a plan is made of. */
typedef struct Facts {
	PlanDevice *devices;
	size_t n_devices;
	PlanTier *tiers;
	size_t n_tiers;
	PlanGroup *groups;
	size_t n_groups;
	const Policy *policy;
	double spendable_w;    /* the budget less what is kept free; INFINITY: none */
	double at_once;        /* what all may draw at once, over the budget; 0: no more than it */
	bool is_hard;          /* nothing ever is */
	double floors_yield_w; /* of PlanInput */
	double reserve_w;      /* for the spin-ups to come next */
	double cap_w;          /* sum of what the devices can draw now */
} Facts;

/* One knob, as far as it matters whether it may be turned. */
typedef struct KnobInForce {
	Mechanism mechanism;
	bool pending;    /* it does not say what it ought to */
	bool lets_go;    /* it is to be given back */
	bool must_wait;  /* for its next try */
	bool freezes;    /* it stops the queue */
	bool wakes_disk; /* writing it does */
} KnobInForce;

typedef struct DeviceInForce {
	const Profile *profile;
	Setting actual, target;
	double cap_w, bias;
	size_t group; /* index, or PLAN_NO_GROUP */
	const KnobInForce *knobs;
	bool busy;
	bool wanted_awake;    /* those that wait for it do not wait for the dwell */
	bool pacing_leaks;    /* its pace caps nothing */
	bool wears;           /* its cycles are counted */
	bool exchanges;       /* the target allows no more than what was in force before it */
	uint64_t may_rise_us; /* by the policy's dwell; while looks are out: never */
	uint64_t thawed_us;   /* its queue may be stopped again; 0: now */
	uint64_t settled_us;  /* it may be stopped; 0: now */
} DeviceInForce;

typedef struct SpinUps {
	size_t n; /* under way */
	double watts;
	size_t most;   /* at once */
	double most_w; /* INFINITY: counted, not weighed */
} SpinUps;

/* What is in force, and where it ought to go. */
typedef struct InForce {
	const DeviceInForce *devices;
	size_t n_devices, n_knobs;
	const double *group_limits_w;
	size_t n_groups;
	SpinUps spin_ups;
	uint64_t now_us;
	double limit_w; /* INFINITY: none */
	double rated_w;
	bool stopping; /* the daemon ends */
} InForce;

/* A knob that may be turned now. */
typedef struct Admitted {
	size_t device, knob;
	bool raises; /* what the device can draw */
	bool wakes;  /* the disk */
	bool stops;  /* the disk */
	bool wears;  /* a cycle of it */
} Admitted;

static inline bool setting_sleeps(const Setting *s)
{
	return s->condition > CONDITION_IDLE_B;
}

/* May another spin-up of that many watts begin? Of the first one it is never asked. */
bool spin_up_fits(const SpinUps *s, double wake_w);
