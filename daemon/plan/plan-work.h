/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Private to the planner: what plan_make() works with. Arrays are per device, in the input's order.
 */

#include "plan/knapsack.h"
#include "plan/plan.h"

/* A MB/s that nobody asks for now is worth so much of one that is: watts to spare go where they may
 * be used next, and no throughput is given up for it that could be measured. */
#define SPARE_WORTH 1e-7
/* A setting in force is worth so much more, so that equal settings do not take turns. */
#define CURRENT_WORTH 1e-7
/* A disk awake is worth so much more than asleep, in MB/s: more than watts to spare are worth
 * elsewhere, so that no disk is put to sleep for those alone; less than could be measured. */
#define AWAKE_WORTH 1e-3

typedef struct Frontier {
	const Profile *profile;
	Mix mix;
	Offer offer;
	unsigned forbidden;
	Condition deepest;
	size_t n;
	Candidate candidates[];
} Frontier;

/* Devices alike in profile, mix and offer share one frontier; a hash table. */
typedef struct FrontierStore {
	Frontier **slots;
	size_t n, n_slots; /* a power of two */
} FrontierStore;

/* NULL when out of memory. */
const Frontier *frontier_get(FrontierStore *s, const PlanDevice *d, unsigned forbidden,
			     Condition deepest);
void frontier_store_done(FrontierStore *s);

/* What the policy's rules say of one device. */
typedef struct Terms {
	double weight, floor_mb_s;
	double limit_w; /* while a budget binds; INFINITY: none */
	unsigned forbidden;
	bool protect, keep_awake, hold;
} Terms;

/* What its pool decided for a device. */
typedef enum PoolChoice {
	POOL_LEAVES_IT, /* it is in no pool, or the last of its pool awake: it sleeps where that is
			   best */
	POOL_AWAKE,
	POOL_ASLEEP,
} PoolChoice;

/* One choice of the knapsack in the planner's words. */
typedef struct Part {
	const Candidate *candidate;
	double lo_mb_s, hi_mb_s;
} Part;

typedef struct Pick {
	Part part;
	double lo_w, hi_w, watts; /* on the part's range */
	double value;
} Pick;

typedef struct ChoiceList {
	Choice *choices;
	Part *parts;
	size_t n, capacity;
} ChoiceList;

typedef struct Work {
	const PlanInput *in;
	FrontierStore frontiers;
	Terms *terms;
	double *free_w; /* as found, or held */
	bool *is_free;  /* no budget or limit reaches it */
	bool *needed;   /* may sleep as deep as `deepest_needed` */
	PoolChoice *pool_choice;
	const Frontier **frontier; /* NULL: fixed */
	Candidate *fixed;          /* the only candidate, where fixed */
	bool *keep_floor;
	bool *pinned; /* set by its group's limit: pick is final */
	Pick *picks;
	bool binding; /* the budget limits somebody */
} Work;

static inline double bias_of(const PlanDevice *d)
{
	if (!(d->bias > 0) || d->bias == 1)
		return 1;
	return d->bias > 1 ? d->bias : MAX(d->bias, 0.8);
}

/* A shortfall above this is not rounding. */
#define SHORTFALL_LEAST_W 1e-9

static inline bool has_group(const PlanInput *in, const PlanDevice *d)
{
	return d->group < in->n_groups;
}

static inline Condition shallower(Condition a, Condition b)
{
	return a < b ? a : b;
}

static inline Condition deeper(Condition a, Condition b)
{
	return a > b ? a : b;
}

static inline bool condition_is_sleep(Condition c)
{
	return c > CONDITION_IDLE_B;
}

/* plan-prepare.c */
int work_new(const PlanInput *in, Work *ret); /* -ENOMEM */
void work_done(Work *w);
/* Fixes the setting of the device or gives it its frontier, as its pool's choice and `needed` say.
 * -ENOMEM. */
int work_set(Work *w, size_t i);

/* plan-sleep.c: who may sleep, and what follows for what lies above a disk */
/* Is it asleep, and to be left asleep whatever the budget is? */
bool stays_asleep(const Work *w, size_t i);
Condition deepest_of(const Work *w, size_t i);
/* The deepest condition from `least` to `deepest` that can be set; ACTIVE: none. */
Condition condition_within(const Work *w, size_t i, Condition least, Condition deepest);
/* The condition that it sleeps in when it is put to sleep; ACTIVE: it may not be. */
Condition sleep_condition_of(const Work *w, size_t i);
/* The condition of a device that stays asleep: deeper than now only where that is needed. */
Condition asleep_condition_of(const Work *w, size_t i);
/* The least of its limits: the claims' and, while a budget binds, the policy's. */
double limit_of(const Work *w, size_t i);
Redirect redirect_of(const Work *w, size_t i, Condition c);

/* What sleeps and wakes as one: a pool, or a disk by itself. */
typedef struct Unit {
	const size_t *members;
	size_t n;
	bool has_floor;
	double loss; /* of value, per watt that its sleep saves */
} Unit;

/* plan-units.c */
typedef struct Units {
	Unit *units;     /* the pools of the input in their order, then the disks of none */
	size_t *members; /* of all units */
	size_t n;
} Units;

int units_list(const PlanInput *in, Units *ret); /* -ENOMEM */
void units_done(Units *u);
/* How many members would have to be put to sleep so that all sleep. 0: none, or one of them may not
 * sleep. */
size_t unit_to_put_asleep(const Work *w, const Unit *u);
/* Those without a throughput floor first, then by the loss per watt. */
void units_sort(const Work *w, Unit *units, size_t n);

/* plan-choices.c: adds the choices of device i to the list; -ENOMEM. */
int add_choices(const Work *w, size_t i, bool keep_floor, ChoiceList *list);
void choice_list_done(ChoiceList *l);

/* plan-pools.c: decides which pools sleep and solves. */
int solve_pools(Work *w, Solution *ret);
/* plan-needed.c: where a solution is short of watts, puts those disks to sleep that may sleep only
 * where the budget cannot be held otherwise. */
int solve_needed(Work *w, Solution *s);
/* plan.c: by how much the picks miss the limits of groups and devices. */
typedef struct LimitShortfall {
	double worst_w, sum_w;
} LimitShortfall;
/* The budget and all limits together; the picks are the solution's. */
double shortfall_of(const Work *w, const Solution *s);
/* plan-rest.c: lets devices with nothing to do rest; -ENOMEM. */
int rest_devices(const Work *w, PlannedDevice *devices);
/* plan-group.c: solves the whole node, then by itself each group that is over its limit. */
int solve_groups(Work *w, Solution *ret);

/* plan-reason.c */
PlanReason plan_reason(const Work *w, size_t i, const PlannedDevice *d, bool short_of_watts);
