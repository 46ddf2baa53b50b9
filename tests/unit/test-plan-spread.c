/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Pools of which any member may serve what is asked: what they give together counts. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan-sleepers.h"

static Policy fair;

static int read_fair(void **state)
{
	if (read_files(state) < 0)
		return -1;
	fair = fair_policy();
	return 0;
}

static void spread(Node *n, size_t from, size_t to, size_t pool)
{
	pool_of(n, from, to, pool);
	for (size_t i = from; i < to; i++)
		n->devices[i].spreads = true;
}

/* Two legs that are not alike, each asked for so much. */
static void two_legs(Node *n, double budget, double demand_mb_s)
{
	start(n, 0);
	add(n, "samsung-pm9a3", demand_mb_s);
	add(n, "dell-ps1010", demand_mb_s);
	n->in.budget_w = rated(n) * budget;
}

typedef struct Leg {
	PlanCandidate c[FRONTIER_MAX];
	size_t n;
	double demand_mb_s;
} Leg;

/* The most that it gives for so many watts; -1: it draws more. */
static double most_mb_s(const Leg *leg, double watts)
{
	double most = -1;

	for (size_t m = 0; m < leg->n; m++) {
		const Candidate *at = &leg->c[m].at;
		double width = at->cap_hi_w - at->cap_w, more = MAX(at->mb_s_hi - at->mb_s, 0.0);
		double along = width > 0 ? MIN((watts - at->cap_w) / width, 1.0) : 0;

		if (at->cap_w <= watts)
			most = MAX(most, at->mb_s + more * along);
	}
	return MIN(most, leg->demand_mb_s);
}

/* Of all ways to deal out the watts. */
static double best_sum(const Node *n)
{
	double best = 0;
	Leg legs[2];

	for (size_t i = 0; i < 2; i++) {
		plan_candidates(&n->in, i, legs[i].c, &legs[i].n);
		legs[i].demand_mb_s = n->devices[i].demand_mb_s;
	}
	for (double w = 0; w <= n->in.budget_w; w += 0.005) {
		double a = most_mb_s(&legs[0], w), b = most_mb_s(&legs[1], n->in.budget_w - w);

		if (a >= 0 && b >= 0)
			best = MAX(best, a + b);
	}
	return best;
}

/* Of what the best way gives; NAN: none fits the budget. */
static double part_of_best(Node *n, const Policy *policy)
{
	_cleanup_(plan_freep) Plan *p = NULL;
	double best = best_sum(n);

	n->in.policy = policy;
	p = checked(n);
	return best > 0 ? p->mb_s / best : NAN;
}

/* All but nothing is lost; where the watts end within a step of one leg, a step of the other may be
 * a little better. */
static void two_legs_give_together_what_the_best_way_to_deal_out_the_watts_gives(void **state)
{
	const double demands[] = { 400, 1500, INFINITY };
	double sum = 0;
	size_t seen = 0;
	(void)state;

	for (size_t k = 0; k < ELEMENTSOF(demands); k++)
		for (int percent = 35; percent <= 100; percent += 5) {
			double by_throughput, by_share;
			Node n;

			two_legs(&n, percent / 100.0, demands[k]);
			spread(&n, 0, 2, 0);
			by_throughput = part_of_best(&n, balanced);
			by_share = part_of_best(&n, &fair); /* its own alone */
			if (isnan(by_share))
				continue;
			assert_true(by_throughput >= 0.96 && by_share >= 0.96);
			sum += by_throughput + by_share;
			seen += 2;
		}
	assert_true(seen >= 60 && sum >= 0.998 * (double)seen);
}

static void a_pool_that_spreads_is_not_as_slow_as_its_slowest_leg(void **state)
{
	_cleanup_(plan_freep) Plan *common = NULL, *any = NULL;
	Node n;
	(void)state;

	two_legs(&n, 2, INFINITY);
	n.in.policy = &fair;
	pool_of(&n, 0, 2, 0);
	n.devices[0].limit_w = 6;
	n.in.budget_w = rated(&n) * 0.9;
	common = checked(&n);
	assert_true(share_of(&common->devices[0]) < 0.6);
	assert_true(share_of(&common->devices[1]) < 0.9);
	spread(&n, 0, 2, 0);
	any = checked(&n);
	assert_true(any->devices[0].cap_w <= 6);
	assert_true(share_of(&any->devices[1]) > 0.99);
	assert_true(any->mb_s > 1.1 * common->mb_s);
}

static void a_pool_that_spreads_sleeps_as_one(void **state)
{
	size_t seen[5] = { 0 };
	(void)state;

	for (int step = 40; step >= 4; step--) {
		_cleanup_(plan_freep) Plan *p = NULL;
		Node n;

		hungry(&n, step / 40.0, 4, CONDITION_STANDBY_Z);
		spread(&n, 2, 6, 0);
		p = checked(&n);
		seen[count_asleep(p)]++;
	}
	assert_true(seen[0] > 0 && seen[4] > 0);
	assert_int_equal(seen[1] + seen[2] + seen[3], 0);
}

/* Beside a drive that is worth more by the watt. */
static void a_floor_holds_for_what_the_legs_give_together(void **state)
{
	PolicyRule rule = { .match = "nvme1", .weight = 1000 };
	double least = INFINITY;
	Policy policy = fair;
	(void)state;

	policy.floor.share = 0.4;
	policy.rules = &rule;
	policy.n_rules = 1;
	for (int percent = 60; percent <= 75; percent += 5) {
		_cleanup_(plan_freep) Plan *p = NULL;
		double sum = 0, full = 0;
		Node n;

		two_legs(&n, 1, INFINITY);
		spread(&n, 0, 2, 0);
		add(&n, "samsung-pm9a3", INFINITY)->name = "nvme1";
		n.in.policy = &policy;
		n.in.budget_w = rated(&n) * percent / 100;
		p = checked(&n);
		for (size_t i = 0; i < 2; i++) {
			sum += p->devices[i].mb_s;
			full += p->devices[i].full_mb_s;
			least = MIN(least, share_of(&p->devices[i]));
		}
		assert_true(p->shortfall_w == 0);
		assert_true(sum >= 0.4 * full * (1 - 1e-6));
	}
	assert_true(least < 0.35); /* one leg alone may have less */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			two_legs_give_together_what_the_best_way_to_deal_out_the_watts_gives),
		cmocka_unit_test(a_pool_that_spreads_is_not_as_slow_as_its_slowest_leg),
		cmocka_unit_test(a_pool_that_spreads_sleeps_as_one),
		cmocka_unit_test(a_floor_holds_for_what_the_legs_give_together),
	};

	return cmocka_run_group_tests(tests, read_fair, free_files);
}
