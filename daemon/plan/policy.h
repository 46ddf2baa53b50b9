/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Policies say what an operator prefers: ini files NAME.policy. */

#include "base/cleanup.h"
#include "model/setting.h"

/* A cap on one device, while a budget binds: watts, or a share of what its
 * profile knows it to draw at most in operation. Both 0: none. */
typedef struct RuleLimit {
	double watts, share;
} RuleLimit;

/* What is kept if the budget allows at all: a share of what is asked for, or a throughput. Both 0:
 * nothing. */
typedef struct RuleFloor {
	bool given;
	double share, mb_s;
} RuleFloor;

/* Overrides for the devices a glob names (by name, model or group). */
typedef struct PolicyRule {
	char *match;
	double weight; /* of a MB/s; default 1 */
	RuleFloor floor;
	uint64_t p99_us; /* settings that are slower are not used; 0: all are fast enough */
	unsigned forbidden;
	bool protect;    /* never touched */
	bool keep_awake; /* no condition that stops serving IO */
	RuleLimit limit;
	Redirect redirect; /* HOLD: the component above keeps IO off it while a budget binds */
} PolicyRule;

typedef struct Policy {
	char *name;
	char *description;
	unsigned forbidden;     /* mechanisms never used */
	Condition deepest;      /* deepest condition used */
	Condition rest;         /* of a disk with nothing to do, whether the budget needs it or not;
				 * at most `deepest` */
	uint64_t rest_idle_us;  /* idle for so long before a resting condition that serves IO */
	uint64_t sleep_idle_us; /* idle for so long before a sleeping condition */
	uint64_t sleep_min_us;  /* stay awake for at least so long after waking */
	uint64_t dwell_us;      /* no device is given more sooner than this after a change */
	double hysteresis;      /* a plan must be better by this fraction to replace one that
				 * still fits */
	double demand_headroom; /* plan for observed demand times this */
	double fairness;        /* 0: the sum of MB/s; 1: proportional shares; INFINITY: max-min */
	RuleFloor floor;        /* of everybody whom no rule gives another */
	double latency_weight;  /* 0: throughput only; 1: a doubled p99 halves the value */
	PolicyRule *rules;
	size_t n_rules;
	unsigned ignored; /* lines that were complained of and do not count */
} Policy;

int policy_read(const char *path, Policy **ret);
/* NAME.policy in the first directory that has it; -ENOENT. */
int policy_find(const char *const *directories, const char *name, Policy **ret);
Policy *policy_free(Policy *p);
DEFINE_CLEANUP(Policy *, policy_free);
