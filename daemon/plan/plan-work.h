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

/* What a device does where nothing holds it back. */
typedef struct AsFound {
	double mb_s, p99_us;
	double dynamic_w; /* what that draws above idle */
} AsFound;

typedef struct Frontier {
	const Profile *profile;
	Mix mix;
	Offer offer;
	unsigned forbidden;
	Condition deepest;
	AsFound as_found;
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
AsFound as_found_of(const Profile *p, const Mix *mix);
bool offer_same(const Offer *a, const Offer *b);
bool mix_same(const Mix *a, const Mix *b);

/* A step of a hash over words. */
static inline uint64_t mixed_in(uint64_t hash, uint64_t word)
{
	return (hash ^ word) * 0x9E3779B97F4A7C15ULL ^ hash >> 29;
}

#define P99_SLOW 0.01 /* of the IOs take longer than the 99th percentile */

/* No larger share of the IOs than `slow` may take longer. */
typedef struct Ceiling {
	double us; /* INFINITY: all may */
	double slow;
} Ceiling;

/* What the policy's rules say of one device. */
typedef struct Terms {
	double weight, floor_mb_s, floor_share;
	Ceiling own;    /* of what it serves */
	Ceiling hits;   /* of what it serves as a cache, by the rules of those that it caches */
	double limit_w; /* while a budget binds; INFINITY: none */
	unsigned forbidden;
	bool protect, keep_awake, hold;
} Terms;

/* What the policy and its rules forbid this device. */
unsigned forbidden_of(const PlanInput *in, const PlanDevice *d);

/* A part of a candidate: watts, throughput and share are linear in each other. The share is that of
 * what is asked of the device: 1 is all of it, 2 all that it can give, where nothing is held back.
 */
typedef struct Piece {
	const Candidate *candidate;
	double lo_w, hi_w;         /* count against the budget */
	double lo_cap_w, hi_cap_w; /* can be drawn at most */
	double lo_mb_s, hi_mb_s;
	double lo_share, hi_share;
} Piece;

/* What a device gives for what watts: the least watts that give at least a share are those of the
 * first piece that reaches it. */
typedef struct Curve {
	size_t n;                       /* never 0 */
	bool fixed;                     /* it is as it is whatever the others get */
	double bound;                   /* those of its unit get no larger share */
	bool over_limit;                /* awake it draws more than its limit allows */
	double asked_mb_s, full_mb_s;   /* what is asked of it; what it gives as found */
	double asked_w, full_w;         /* what they draw above idle */
	double as_found_us;             /* its p99 */
	Piece pieces[2 * FRONTIER_MAX]; /* by rising share; no more than n are ever copied */
} Curve;

typedef struct Pick {
	Piece piece;
	double watts, cap_w, share;
	double asked_mb_s, asked_w; /* as in its curve */
} Pick;

/* What is behind one choice of the knapsack. */
typedef struct Part {
	double lo_share, hi_share;
	bool asleep;
	/* where the sum counts, the stride and the share of the member that it moves */
	size_t stride;
	double lo_own, hi_own;
} Part;

typedef struct ChoiceList {
	Choice *choices;
	Part *parts;
	size_t n, capacity;
} ChoiceList;

/* What is planned as one: a pool, whose members get one share unless any of them may serve, or a
 * device by itself. It also sleeps and wakes as one. */
typedef struct Unit {
	const size_t *members;
	size_t n;
	bool spreads; /* what its members give together counts, not the least of them */
	bool has_floor;
	double loss; /* of value, per watt that its sleep saves */
} Unit;

typedef struct Units {
	Unit *units;     /* the pools of the input in their order, then the devices of none */
	size_t *members; /* of all units */
	size_t n;
} Units;

typedef struct Work {
	const PlanInput *in;
	FrontierStore frontiers;
	Terms *terms;
	double *free_w;            /* as found, or held */
	bool *is_free;             /* no budget or limit reaches it */
	bool *unit_is_free;        /* nor another of its unit, with which it would sleep */
	bool *needed;              /* may sleep as deep as `deepest_needed` */
	const Frontier **frontier; /* NULL: fixed */
	Candidate *fixed;          /* the only candidate, where fixed */
	bool *pinned;              /* set by its group's limit: pick is final */
	Pick *picks;
	bool binding; /* the budget limits somebody */
	/* From 0 (what is expected to be drawn counts) to 1 (what can be drawn does) */
	double strictness;
	size_t effort; /* of the knapsack's search; 0: all that it may take */
	double *doubt; /* the joint error of what each draws above idle, relative */
	Units units;
	size_t *alike;   /* the first device of which the planner is told the same */
	bool *has_alike; /* of those first ones: there are others */
	double *bounds;  /* a larger share of its pool is of no use; INFINITY: any may be */
	Curve **curves;  /* theirs, while the settings are as work_set() made them; or NULL */
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
/* Fixes the setting of each device or gives it its frontier, as `needed` says. -ENOMEM. */
int work_set(Work *w);

/* plan-tail.c: how long IOs may take */
void tails_fill(const PlanInput *in, Terms *terms);
/* Does the device keep its ceilings in the setting, whose p99 under its mix this is? */
bool tail_keeps(const Work *w, size_t i, const Setting *s, double p99_us);
/* The reason why it is slow, where it is; PLAN_SHARE: it is not. */
PlanReason tail_reason(const Work *w, size_t i, const PlannedDevice *d);
/* The longest that a single IO may wait for the device to come back. */
double longest_wait_us(const Work *w, size_t i);

/* plan-sleep.c: who may sleep, and what follows for what lies above a disk */
/* Is it asleep, and to be left asleep whatever the budget is? */
bool stays_asleep(const Work *w, size_t i);
bool allows(const Work *w, size_t i, Mechanism m);
Condition deepest_of(const Work *w, size_t i);
/* The deepest condition from `least` to `deepest` that can be set; ACTIVE: none. */
Condition condition_within(const Work *w, size_t i, Condition least, Condition deepest);
/* The condition that it sleeps in when it is put to sleep; ACTIVE: it may not be. */
Condition sleep_condition_of(const Work *w, size_t i);
/* The condition of a device that stays asleep: deeper than now only where that is needed. */
Condition asleep_condition_of(const Work *w, size_t i);
/* What it does asleep; NULL: it may not sleep. */
const Candidate *asleep_candidate_of(const Work *w, size_t i);
/* The least of its limits: the claims' and, while a budget binds, the policy's. */
double limit_of(const Work *w, size_t i);
Redirect redirect_of(const Work *w, size_t i, Condition c);

/* plan-units.c */
int units_list(const PlanInput *in, Units *ret); /* -ENOMEM */
void units_done(Units *u);
/* Those without a throughput floor first, then by the loss per watt. */
void units_sort(const Work *w, Unit *units, size_t n);

/* plan-count.c: what counts against the budget */
int doubts_fill(Work *w); /* -ENOMEM */
/* Does what is expected count for the device, rather than what can be drawn? */
bool counts_expected(const Work *w, size_t i);
/* What is expected of it, as measurements correct it. expect_w and cap_w with the device's bias. */
double corrected_w(const PlanDevice *d, double expect_w, double cap_w);
/* The same two. */
double counted_w(const Work *w, size_t i, double expect_w, double cap_w);

/* plan-alike.c: what is worked out for one of several devices alike is used for the others. */
int alike_find(Work *w); /* -ENOMEM */
/* Are they alike, and is neither set otherwise by now? */
bool are_alike(const Work *w, size_t a, size_t b);
/* False: none is kept. */
bool curve_take_kept(const Work *w, size_t i, Curve *ret);
void curve_keep(const Work *w, size_t i, const Curve *c);
void curves_forget(const Work *w);

/* plan-curve.c */
void curve_build(const Work *w, size_t i, Curve *ret);
/* The share that a throughput makes. */
double curve_share(const Curve *c, double mb_s);
Piece piece_between(const Piece *p, double from, double to); /* parts from 0 to 1 */
/* The first piece that reaches the share; of the last one the end. */
Pick curve_pick(const Curve *c, double share);
static inline double share_along(double lo, double hi, double along)
{
	if (along <= 0)
		return lo;
	return along >= 1 ? hi : lo + (hi - lo) * along;
}
double piece_watts(const Piece *p, double share);
double piece_cap(const Piece *p, double share);

/* plan-value.c: what a share on a piece is worth, by the policy's weight and fairness. */
double value_of(const Work *w, size_t i, const Curve *c, const Piece *p, double share);
/* What all that is asked of it is worth, as a measure. */
double stake_of_curve(const Work *w, size_t i, const Curve *c);
/* What a throughput is worth to a device without what only tells equals apart. */
double worth_of(const Work *w, size_t i, double mb_s);
/* PlannedDevice.stake */
double stake_of(const Work *w, size_t i);
/* From here it bends no more than may be neglected up to the share returned. */
double value_straight_to(const Work *w, double share);

/* What is one class of the knapsack: the members of a unit that are planned now. */
typedef struct Class {
	const size_t *members;
	size_t n;
	const Unit *unit; /* of which these may be a part */
} Class;

/* The choices of all classes; those of devices alike are of one kind, and listed once. */
typedef struct Classes {
	ChoiceList list;
	size_t *kind;    /* of each class */
	size_t *count;   /* of each kind, so many classes */
	size_t *example; /* of each kind, its first class */
	size_t n_kinds;
	size_t *first;         /* offsets into the list, one more than kinds */
	double *floors;        /* the least share of each kind */
	double floors_yield_w; /* of the input, or of the group */
} Classes;

/* What the knapsack has chosen of it: watts within a choice. */
typedef struct TakenChoice {
	Choice choice;
	Part part;
	double watts;
} TakenChoice;

/* plan-choices.c */
/* Appends the choices of a class; curves: room for its members. -ENOMEM. */
int add_choices(const Work *w, const Class *c, Curve *curves, ChoiceList *list, double *ret_floor);
int choice_add(ChoiceList *l, const Choice *choice, const Part *part); /* -ENOMEM */
/* Gives each member what it does at so many watts of the class, within one of its choices. -ENOMEM.
 */
int pick_members(Work *w, const Class *c, Curve *curves, const TakenChoice *taken);

/* plan-spread.c: a pool of which any member may serve. -ENOMEM. */
int add_spread(const Work *w, const Class *c, const Curve *curves, ChoiceList *list);
/* along: from 0 to 1, where on that part. */
int pick_spread(Work *w, const Class *c, const Curve *curves, const Part *part, double along);

/* plan-floors.c: takes out the choices below each class's floor, as far as the budget allows or
 * where nothing would meet it. -ENOMEM. */
int keep_floors(const Work *w, const Class *classes, double budget_w, Classes *ret);

/* plan-needed.c: where a solution is short of watts, puts those disks to sleep that may sleep only
 * where the budget cannot be held otherwise. */
int solve_needed(Work *w, Solution *s);
/* plan.c: by how much the picks miss the limits of groups and devices. */
typedef struct LimitShortfall {
	double worst_w, sum_w;
} LimitShortfall;
/* The budget and all limits together; the picks are the solution's. */
double shortfall_of(const Work *w, const Solution *s);
/* plan-rest.c */
/* Does any limit hold for the device? Where nobody asked for a budget nothing is touched. */
bool limit_holds(const Work *w, size_t i);
/* The budget comes before a pin, and so does what must not be touched. */
static inline bool pin_counts(const Work *w, size_t i)
{
	return w->in->devices[i].is_pinned && !w->terms[i].protect && !limit_holds(w, i);
}
/* What a device with nothing to do rests in while it still serves IO. */
Condition light_rest_of(const Work *w, size_t i);
/* The link's part of it. */
LinkPower link_rest_of(const Work *w, size_t i);
/* Setting.idle_latency_us */
unsigned idle_latency_of(const Work *w, size_t i);
/* Lets devices with nothing to do rest; -ENOMEM. */
int rest_devices(const Work *w, PlannedDevice *devices);
/* plan-group.c: solves the whole node, and by itself each group that is over its limit, where it is
 * charged that price for a watt. *ret_bound: no plan is worth more, with the groups' limits or
 * without. 1: a group was over its limit; -ENOMEM. */
int solve_at_price(Work *w, double price, double *ret_bound, Solution *ret);
/* What the picks of a group draw together. */
double group_watts(const Work *w, size_t group);
/* plan-group-trial.c: the best of what is tried with groups over their limits. -ENOMEM. */
int solve_groups(Work *w, Solution *ret);

/* plan-reason.c */
PlanReason plan_reason(const Work *w, size_t i, const PlannedDevice *d, bool short_of_watts);
