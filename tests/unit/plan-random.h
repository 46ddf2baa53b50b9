/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Random nodes, whatever may come together. */

#include "plan-nodes.h"

static uint64_t seed = 42;
static bool shares_fairly; /* and with floors, as the shipped policies but throughput do */

static inline int by_throughput(void **state)
{
	(void)state;
	shares_fairly = false;
	return 0;
}

static inline int fairly(void **state)
{
	(void)state;
	shares_fairly = true;
	return 0;
}

static inline unsigned below(unsigned n)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return (unsigned)(seed * 0x2545F4914F6CDD1DULL >> 33) % n;
}

static inline void draw_state_of(PlanDevice *d)
{
	d->demand_mb_s = below(3) ? below(4000) : INFINITY;
	if (below(4) == 0)
		d->demand_mb_s = 0;
	d->deepest = d->deepest_needed = below(3) == 0 ? CONDITION_STANDBY_Z : CONDITION_IDLE_B;
	d->rest = below(3) == 0 ? below(_CONDITION_MAX) : CONDITION_ACTIVE;
	d->holds_writes = below(2);
	d->awake_redirect = below(4) == 0 ? REDIRECT_DRAIN : REDIRECT_AS_FOUND;
	if (below(2))
		d->offer.mechanisms |= MECHANISM_REDIRECT;
	if (d->profile->kind != KIND_HDD)
		d->offer.mechanisms |= MECHANISM_LINK;
	d->bias = below(2) ? 1 : 0.5 + below(100) / 100.0;
	if (below(6) == 0)
		d->limit_w = below(25);
	if (below(8) == 0) {
		d->held = true;
		d->held_w = below(20);
	}
	if (below(8) == 0 && d->profile->kind == KIND_HDD) {
		d->must_sleep = true;
		d->current.condition = CONDITION_STANDBY_Z;
	}
	if (below(3) == 0)
		d->current.depth = 1;
}

static inline void draw_node(Node *n, Policy *policy)
{
	static const char *const names[] = { "samsung-pm9a3", "intel-p5510", "dell-ps1010",
					     "seagate-exos-7e2000", "intel-d3-s4510" };
	unsigned count = below(12), groups = below(3), pools = below(4), spread = below(8);

	start(n, 0);
	*policy = shares_fairly ? fair_policy() : *balanced;
	policy->latency_weight = below(2);
	policy->n_rules = below(3);
	n->in.policy = policy;
	n->in.n_groups = groups;
	for (unsigned g = 0; g < groups; g++)
		n->groups[g] = (PlanGroup){ "group", below(3) ? below(80) : INFINITY };
	for (unsigned i = 0; i < count; i++) {
		PlanDevice *d = add(n, names[below(ELEMENTSOF(names))], INFINITY);

		draw_state_of(d);
		d->group = groups && below(2) ? below(groups) : PLAN_NO_GROUP;
		/* an index past the last is none */
		if (d->profile->kind == KIND_HDD && below(4))
			d->pool = below(pools + 1);
		d->spreads = d->pool < pools && spread >> d->pool & 1;
	}
	n->in.n_pools = pools;
	policy->rest = below(2) ? CONDITION_STANDBY_Z : CONDITION_IDLE_B;
	n->in.forbidden = below(3) ? 0 : 1u << below(8);
	n->in.budget_w = below(10) ? rated(n) * (0.1 + below(100) / 100.0) : INFINITY;
}

static inline bool is_asleep(const Setting *s)
{
	return s->condition > CONDITION_IDLE_B;
}
