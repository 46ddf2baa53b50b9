/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Private to the planner: what plan_make() works with. Arrays are per device, in the input's order.
 */

#include "plan/knapsack.h"
#include "plan/plan.h"

/* A MB/s that nobody asks for now is worth so much of one that is: watts to spare go where they may
 * be used next, and no throughput is given up for it that could be measured. */
#define SPARE_WORTH 1e-7
/* A setting in force is worth so much more, so that equals do not take turns. */
#define CURRENT_WORTH 1e-7

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
	unsigned forbidden;
	bool protect;
} Terms;

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
	double *free_w;            /* as found, or held */
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

static inline bool condition_is_sleep(Condition c)
{
	return c > CONDITION_IDLE_B;
}

/* plan-choices.c: adds the choices of device i to the list; -ENOMEM. */
int add_choices(const Work *w, size_t i, bool keep_floor, ChoiceList *list);
void choice_list_done(ChoiceList *l);

/* plan-group.c: solves some devices for a budget and writes their picks. */
int solve_devices(Work *w, const size_t *devices, size_t n, double budget_w, Solution *ret);
/* The whole node, then group by group whoever is over its limit. */
int solve_groups(Work *w, Solution *ret);

/* plan-reason.c */
PlanReason plan_reason(const Work *w, size_t i, const PlannedDevice *d, bool short_of_watts);
