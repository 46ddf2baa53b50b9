/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Nodes of disks that sleep, for the planner's tests. */

#include "plan-nodes.h"

#define HDD "seagate-exos-7e2000"

static inline bool asleep(const PlannedDevice *d)
{
	return d->setting.condition > CONDITION_IDLE_B;
}

static inline size_t count_asleep(const Plan *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_devices; i++)
		n += asleep(&p->devices[i]);
	return n;
}

static inline PlanDevice *add_idle(Node *n, Condition deepest)
{
	PlanDevice *d = add(n, HDD, 0);

	d->deepest = d->deepest_needed = deepest;
	return d;
}

static inline void put_to_sleep(PlanDevice *d)
{
	d->must_sleep = true;
	d->current = (Setting){ .power_state = -1, .condition = CONDITION_STANDBY_Z };
}

/* A cache above it. */
static inline void give_cache(PlanDevice *d)
{
	d->offer.mechanisms |= MECHANISM_REDIRECT;
	d->offer.redirects_writes = true;
	d->holds_writes = true;
}

/* Two NVMe drives that take all they can get, and idle disks. */
static inline void hungry(Node *n, double share, size_t n_disks, Condition deepest)
{
	start(n, 0);
	add(n, "samsung-pm9a3", INFINITY);
	add(n, "intel-p5510", INFINITY);
	for (size_t i = 0; i < n_disks; i++)
		add_idle(n, deepest);
	n->in.budget_w = rated(n) * share;
}

static inline void pool_of(Node *n, size_t from, size_t to, size_t pool)
{
	for (size_t i = from; i < to; i++)
		n->devices[i].pool = pool;
	n->in.n_pools = MAX(n->in.n_pools, pool + 1);
}
