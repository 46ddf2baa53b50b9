/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The planner finds one setting per device within the budget. Pure: it takes a struct and returns
 * one. */

#include "model/frontier.h"
#include "plan/policy.h"

#define PLAN_NO_GROUP ((size_t)-1)
#define PLAN_NO_POOL  ((size_t)-1)

typedef struct PlanDevice {
	const char *name, *model; /* for policy rules */
	const Profile *profile;
	Offer offer;
	Mix mix;
	double demand_mb_s; /* INFINITY: as much as it can get */
	double limit_w;     /* claim on this device alone; INFINITY none */
	size_t group;       /* index into groups, or PLAN_NO_GROUP */
	bool held; /* cannot be changed now (unprobed, failed, in transition): counts at held_w */
	double held_w;
	bool starting; /* held while its motor starts: draws held_w, whatever is asked of it */
	Setting held_setting;
	size_t pool; /* sleeps and wakes with the others of it; PLAN_NO_POOL: alone */
	/* Any member of its pool may serve what is asked of it: their sum counts, not the slowest
	 * of them. The same for all members. */
	bool spreads;
	/* The deepest condition that it may be put to where that pays: it has been idle for longer
	 * than it takes to break even, its account has cycles left, and nothing keeps it awake.
	 * CONDITION_IDLE_B: it may not sleep. */
	Condition deepest;
	Condition deepest_needed; /* the deepest one where the budget cannot be held otherwise */
	Condition rest;           /* to be taken even where no watts are needed; ACTIVE: none */
	bool must_sleep;   /* asleep and not due to wake: keeps its condition, budget or not */
	bool holds_writes; /* a cache above keeps writes off it while it sleeps */
	Redirect awake_redirect; /* what that cache does while it is awake: as found, or draining */
	Setting current;         /* preferred among equals, so that plans do not flap */
	double bias; /* measured over modelled watts; 1 when unknown. >1 raises its caps */
	/* What is expected of it above idle, over what its profile says; 0: as it says. Does not
	 * count where its caps do. */
	double correction;
	bool measured; /* that was measured just now: its profile's error counts no more */
	/* While it is measured its power state is pinned: where no limit is asked for it has this
	 * one and is otherwise as found. */
	bool is_pinned;
	int pinned_state;
} PlanDevice;

typedef struct PlanGroup {
	const char *name;
	double limit_w;        /* without what is reserved */
	double reserve_w;      /* kept free for spin-ups to come; using it is no shortfall */
	double floors_yield_w; /* of PlanInput, for its limit */
} PlanGroup;

/* A device whose reads go through a cache first, and that cache, as indices into the devices. */
typedef struct PlanTier {
	size_t disk, cache;
	double misses; /* the share of the reads of what is cached that reach the disk, 0..1 */
} PlanTier;

typedef struct PlanInput {
	const PlanDevice *devices;
	size_t n_devices;
	/* Where a disk and its cache are such a pair, what the policy's p99 promises of the disk is
	 * promised of both together. */
	const PlanTier *tiers;
	size_t n_tiers;
	const PlanGroup *groups;
	size_t n_groups;
	size_t n_pools;
	const Policy *policy;
	unsigned forbidden; /* besides the policy's */
	double budget_w;    /* INFINITY: none; everything is left as found */
	/* What all may draw at once where more than the budget is tolerated for a moment: then what
	 * each is expected to draw is held against the budget, and this against what they can draw.
	 * 0: what they can draw is held against the budget. */
	double at_once_w;
	/* Floors yield where that meets the budget, or misses it by no more than this: 0, what is
	 * about to be saved, or in an emergency INFINITY. Else each unit keeps its floor, and what
	 * lies above it where that is less than a watt. */
	double floors_yield_w;
} PlanInput;

/* Why a device is set as it is. */
typedef enum PlanReason {
	PLAN_UNLIMITED,    /* no budget binds: as found */
	PLAN_SHARE,        /* its share of the budget */
	PLAN_LOW_DEMAND,   /* asks for little: gets what it asks for */
	PLAN_ASLEEP,       /* idle: sleeping saves most */
	PLAN_RESTING,      /* idle: rests, though the budget does not need it */
	PLAN_NEEDED,       /* asleep because the budget cannot be held otherwise */
	PLAN_RULE_LIMIT,   /* a rule of the policy limits it */
	PLAN_DEVICE_LIMIT, /* a claim on this device */
	PLAN_GROUP_LIMIT,  /* a claim on its group */
	PLAN_FLOOR,        /* the least it can draw: the budget is too low */
	PLAN_FLOOR_KEPT,   /* what it is promised: nothing would meet the budget */
	PLAN_LITTLE_SAVED, /* all it asks for: nothing would meet the budget, and less saves no watt
			    */
	PLAN_HELD,         /* cannot be changed now */
	PLAN_PROTECTED,    /* the policy protects it */
	PLAN_NO_KNOB,      /* nothing of it can be set */
	PLAN_SLOW,         /* no setting is as fast as the policy wants it */
	PLAN_SLOW_MISSES,  /* the same of the reads that its cache does not serve */
	PLAN_SLOW_HITS,    /* the same of those that it serves as a cache */
	PLAN_PINNED,       /* a claim pins its power state */
	PLAN_PIN_FORBIDDEN, /* a claim would, and the policy does not allow it */
	PLAN_IDLES_LIGHTLY, /* as found, but that it idles no deeper than the policy's p99 allows
			     */
} PlanReason;

typedef struct PlannedDevice {
	Setting setting;
	double cap_w;        /* can draw at most */
	double counted_w;    /* counts against the budget: cap_w unless more is tolerated */
	double current_w;    /* the same of the setting in force */
	double expect_w;     /* expected draw at its demand */
	double mb_s;         /* expected throughput at its demand */
	double current_mb_s; /* the same of the setting in force */
	double full_mb_s;    /* expected without a budget, at its demand */
	double floor_mb_s;   /* kept if the budget allows; 0: nothing is promised */
	double p99_us;
	double error;
	double learned, current_learned; /* the factors in mb_s and current_mb_s; 1: none */
	/* Of mb_s and current_mb_s, by the policy's objective; what a full share more is worth to
	 * who has nearly all (0 where throughput alone counts). */
	double worth, current_worth, stake;
	PlanReason reason;
} PlannedDevice;

typedef struct Plan {
	PlannedDevice *devices; /* as in the input */
	size_t n_devices;
	double budget_w, cap_w, counted_w, current_w, expect_w, mb_s, full_mb_s;
	double most_mb_s; /* what the watts would give if the sum of MB/s alone counted; 0: unknown
			   */
	double value, bound_value; /* of the weighted objective */
	double motor_w;     /* of the budget, left for the motor of a disk that IO may start */
	double shortfall_w; /* > 0: no settings meet the budget; these miss it by so much */
	double limit_shortfall_w; /* > 0: the same of the limit of a group or device */
	bool optimal;
	bool at_once; /* made with at_once_w: what is expected to be drawn counts */
} Plan;

/* -ENOMEM, or -EINVAL for a budget that is NaN or negative. More watts are worth no less, with
 * three exceptions: the gaps up to bound_value, budgets that cannot be met, for which not all is
 * taken, and `deepest_needed`. Where a budget can just be held without the disks that sleep only
 * where they must, a slightly lower budget may be worth more. */
int plan_make(const PlanInput *input, Plan **ret);
Plan *plan_free(Plan *p);
DEFINE_CLEANUP(Plan *, plan_free);

/* One of the settings that the planner chooses from, with watts as it counts them: what was
 * measured of the device is in them. */
typedef struct PlanCandidate {
	Candidate at;
	double expect_hi_w; /* at the upper end of a paced one */
} PlanCandidate;

/* All of them for one device of the input: its frontier by rising cap_w, SETTING_AS_FOUND last. */
void plan_candidates(const PlanInput *in, size_t device, PlanCandidate ret[FRONTIER_MAX],
		     size_t *ret_n);

/* Is `next`, made with the settings of `held` in force, enough better to be worth the changes? Both
 * made from inputs that differ in demand and in what was learned at most; a held plan that does not
 * fit the budget is always replaced. */
bool plan_worth_changing(const Plan *held, const Plan *next, const Policy *policy);
const char *plan_reason_text(PlanReason r);
