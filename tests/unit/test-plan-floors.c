/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Floors on random nodes, with groups, pools and limits of devices: where the settings that keep
 * them all fit, they are kept. */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cases.h"
#include "plan-random.h"

/* The least that the device can be brought down to while it gives its floor; INFINITY: it cannot
 * give it within its limit. */
static double least_for_floor(const Node *n, const Plan *p, size_t i)
{
	const PlannedDevice *d = &p->devices[i];
	PlanCandidate c[FRONTIER_MAX];
	double least_w = INFINITY;
	size_t n_candidates;

	if (n->devices[i].held || n->devices[i].must_sleep || d->reason == PLAN_PROTECTED)
		return d->cap_w;
	plan_candidates(&n->in, i, c, &n_candidates);
	for (size_t k = 0; k < n_candidates; k++) {
		const Candidate *at = &c[k].at;
		double part = at->mb_s < d->floor_mb_s
				      ? (d->floor_mb_s - at->mb_s) / (at->mb_s_hi - at->mb_s)
				      : 0;

		if (!is_asleep(&at->setting) && at->mb_s_hi >= d->floor_mb_s)
			least_w = MIN(least_w, at->cap_w + part * (at->cap_hi_w - at->cap_w));
	}
	return least_w <= n->devices[i].limit_w ? least_w : INFINITY;
}

static bool floors_fit(const Node *n, const Plan *p)
{
	double sum_w = 0, group_w[2] = { 0 };

	for (size_t i = 0; i < p->n_devices; i++) {
		double least_w = least_for_floor(n, p, i);

		sum_w += least_w;
		if (n->devices[i].group < n->in.n_groups)
			group_w[n->devices[i].group] += least_w;
	}
	for (size_t g = 0; g < n->in.n_groups; g++)
		if (group_w[g] > n->groups[g].limit_w)
			return false;
	return sum_w <= n->in.budget_w;
}

/* Only what is idle may sleep. */
static void keep_awake(Node *n)
{
	for (size_t i = 0; i < n->in.n_devices; i++)
		if (n->devices[i].demand_mb_s > 0)
			n->devices[i].deepest = n->devices[i].deepest_needed = CONDITION_IDLE_B;
}

static void floors_are_kept_where_they_fit(void **state)
{
	unsigned long nodes = cases_of(3000), fit = 0, in_groups = 0;
	(void)state;

	for (unsigned long k = 0; k < nodes; k++) {
		_cleanup_(plan_freep) Plan *p = NULL;
		Policy policy;
		Node n;

		draw_node(&n, &policy);
		policy.n_rules = 0;
		policy.latency_weight = 0; /* else who waits counts as given less */
		keep_awake(&n);
		p = checked(&n);
		if (isinf(n.in.budget_w) || !floors_fit(&n, p))
			continue;
		for (size_t i = 0; i < p->n_devices; i++) {
			const PlannedDevice *d = &p->devices[i];

			/* of a pool that spreads the sum counts (test-plan-spread) */
			if (!n.devices[i].held && !n.devices[i].must_sleep && !n.devices[i].spreads)
				assert_true(d->mb_s >= d->floor_mb_s * (1 - 1e-4));
		}
		fit++;
		in_groups += n.in.n_groups > 0;
	}
	print_message("the floors fit %lu nodes, %lu of them with groups\n", fit, in_groups);
	assert_true(fit > nodes / 4 && in_groups > nodes / 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(floors_are_kept_where_they_fit, fairly),
	};

	return cmocka_run_group_tests(tests, read_files, free_files);
}
