/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Shares: what is fair, what is kept, and what a pool gets. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan-nodes.h"

static Policy fair;

static int read_fair(void **state)
{
	if (read_files(state) < 0)
		return -1;
	fair = fair_policy();
	return 0;
}

typedef struct Shares {
	double least, most, jain;
	size_t n;
} Shares;

static Shares shares_of(const Plan *p)
{
	Shares s = { .least = INFINITY };
	double sum = 0, squares = 0;

	for (size_t i = 0; i < p->n_devices; i++) {
		double x = share_of(&p->devices[i]);

		if (!(p->devices[i].full_mb_s > 0))
			continue;
		s.least = MIN(s.least, x);
		s.most = MAX(s.most, x);
		sum += x;
		squares += x * x;
		s.n++;
	}
	s.jain = squares > 0 ? sum * sum / ((double)s.n * squares) : 1;
	return s;
}

static Plan *fair_plan(Node *n, double budget_w)
{
	n->in.policy = &fair;
	n->in.budget_w = budget_w;
	return checked(n);
}

static void devices_alike_get_shares_alike(void **state)
{
	static const char *const profiles[] = { "samsung-pm9a3", "intel-p5510",
						"seagate-exos-7e2000", "intel-d3-s4510" };
	(void)state;

	for (size_t k = 0; k < ELEMENTSOF(profiles); k++) {
		Node n;

		start(&n, 0);
		for (int i = 0; i < 12; i++)
			add(&n, profiles[k], INFINITY);
		for (int percent = 90; percent >= 50; percent -= 10) {
			_cleanup_(plan_freep) Plan *p = fair_plan(&n, rated(&n) * percent / 100);

			assert_true(shares_of(p).jain >= 0.9);
		}
	}
}

static void nobody_is_starved_for_a_neighbour(void **state)
{
	Node n;
	(void)state;

	mixed(&n, 0);
	for (int percent = 90; percent >= 60; percent -= 5) {
		_cleanup_(plan_freep) Plan *p = fair_plan(&n, rated(&n) * percent / 100);
		Shares s = shares_of(p);

		print_message("%d %%: least %.3f, Jain %.3f, %.0f of %.0f MB/s\n", percent, s.least,
			      s.jain, p->mb_s, p->full_mb_s);
		assert_true(s.least >= 0.25 * (1 - 1e-6));
		assert_true(s.jain >= 0.95);
		assert_true(p->bound_value <= p->value * 1.001);
	}
}

static void where_floors_do_not_fit_the_heavy_keep_theirs_and_the_others_equal_parts(void **state)
{
	PolicyRule rule = { .match = "intel*",
			    .weight = 5,
			    .floor = { .given = true, .share = 0.8 } };
	size_t n_partly = 0;
	Node n;
	(void)state;

	start(&n, 0);
	for (int i = 0; i < 6; i++)
		add(&n, i % 2 ? "samsung-pm9a3" : "intel-p5510", INFINITY);
	for (int percent = 90; percent >= 20; percent -= 2) {
		_cleanup_(plan_freep) Plan *p = NULL;
		double heavy = 1, least = 1, most = 0;

		fair.rules = &rule;
		fair.n_rules = 1;
		p = fair_plan(&n, rated(&n) * percent / 100);
		fair.rules = NULL;
		fair.n_rules = 0;
		for (size_t i = 0; i < 6; i++) {
			double x = share_of(&p->devices[i]);

			if (i % 2 == 0)
				heavy = MIN(heavy, x);
			least = i % 2 ? MIN(least, x) : least;
			most = i % 2 ? MAX(most, x) : most;
		}
		if (least > 0.02 && least < 0.25) { /* more than the least that can be set */
			n_partly++;
			assert_true(most - least < 1e-3);
			assert_true(heavy >= 0.8 * (1 - 1e-6));
		}
	}
	assert_true(n_partly > 2);
}

static void the_smallest_share_is_the_largest_possible_with_max(void **state)
{
	Node n;
	(void)state;

	mixed(&n, 0);
	for (int percent = 85; percent >= 55; percent -= 10) {
		_cleanup_(plan_freep) Plan *proportional = fair_plan(&n, rated(&n) * percent / 100);
		_cleanup_(plan_freep) Plan *max = NULL;

		fair.fairness = INFINITY;
		max = fair_plan(&n, rated(&n) * percent / 100);
		fair.fairness = 1;
		assert_true(shares_of(max).least >= shares_of(proportional).least * (1 - 1e-4));
		assert_true(max->value <= proportional->value * (1 + 1e-3));
	}
}

static void a_pool_has_one_share(void **state)
{
	Node n;
	(void)state;

	mixed(&n, 0);
	n.in.n_pools = 2;
	for (size_t i = 8; i < 16; i++)
		n.devices[i].pool = 0; /* eight disks */
	for (size_t i = 0; i < 4; i++)
		n.devices[i].pool = 1; /* drives of two models, one asked for less */
	n.devices[1].demand_mb_s = 300;
	for (int percent = 90; percent >= 40; percent -= 5) {
		_cleanup_(plan_freep) Plan *p = fair_plan(&n, rated(&n) * percent / 100);
		double sum = 0, slowest = INFINITY;

		for (size_t i = 8; i < 16; i++) {
			sum += p->devices[i].mb_s;
			slowest = MIN(slowest, p->devices[i].mb_s);
		}
		assert_true(8 * slowest >= 0.95 * sum);
	}
}

static void a_lighter_member_draws_no_more_than_its_pool_needs(void **state)
{
	_cleanup_(plan_freep) Plan *p = NULL;
	Node n;
	(void)state;

	start(&n, 0);
	add(&n, "intel-p5510", 1000)->pool = 0;
	add(&n, "intel-p5510", INFINITY)->pool = 0;
	n.in.n_pools = 1;
	n.devices[1].limit_w = 8; /* what holds one member holds the pool */
	p = fair_plan(&n, rated(&n) * 0.95);
	assert_true(share_of(&p->devices[1]) < 0.9);
	assert_true(p->devices[0].cap_w < n.devices[0].profile->rated_w);
}

static void a_ceiling_of_p99_takes_out_slower_settings_and_says_where_none_is_left(void **state)
{
	PolicyRule rule = { .match = "nvme*", .weight = 1 };
	size_t n_slower = 0, n_said = 0;
	double found_us = 0;
	Node n;
	(void)state;

	start(&n, 0);
	for (int i = 0; i < 6; i++)
		add(&n, i % 2 ? "samsung-pm9a3" : "intel-p5510", INFINITY);
	for (int k = 0; k < 6; k++) {
		for (int percent = 90; percent >= 40; percent -= 10) {
			_cleanup_(plan_freep) Plan *p = NULL;

			fair.rules = &rule;
			fair.n_rules = 1;
			p = fair_plan(&n, rated(&n) * percent / 100);
			fair.rules = NULL;
			fair.n_rules = 0;
			for (size_t i = 0; i < 6; i++) {
				const PlannedDevice *d = &p->devices[i];

				n_slower += k == 0 && d->p99_us > 1.5 * found_us;
				n_said += d->reason == PLAN_SLOW;
				if (k > 0 && d->reason != PLAN_SLOW)
					assert_true(d->p99_us <= (double)rule.p99_us * 1.01);
				else if (k > 0)
					assert_true(setting_equal(&d->setting, &SETTING_AS_FOUND));
				if (k == 0 && percent == 90)
					found_us = MAX(found_us, d->p99_us);
			}
		}
		rule.p99_us = (uint64_t)(found_us * (3 - 0.5 * k) / 2);
	}
	assert_true(n_slower > 0 && n_said > 0);
}

/* What nobody asks for now goes to those who may use it next, the heavy ones first, and is taken
 * from no one who asks. */
static void watts_left_over_are_headroom_by_weight(void **state)
{
	PolicyRule rule = { .match = "heavy", .weight = 4 };
	size_t n_more = 0;
	Node n;
	(void)state;

	start(&n, 0);
	for (int i = 0; i < 3; i++)
		add(&n, "samsung-pm9a3", i < 2 ? 50 : INFINITY);
	n.devices[0].name = "heavy";
	fair.rules = &rule;
	fair.n_rules = 1;
	for (int percent = 95; percent >= 70; percent -= 5) {
		_cleanup_(plan_freep) Plan *p = NULL;

		n.devices[2].demand_mb_s = 50;
		p = fair_plan(&n, rated(&n) * percent / 100);
		for (size_t i = 0; i < 3; i++)
			assert_true(share_of(&p->devices[i]) >= 1 - 1e-6);
		assert_true(p->devices[0].cap_w >= p->devices[1].cap_w);
		n_more += p->devices[0].cap_w > p->devices[1].cap_w + 0.5;
		plan_freep(&p);
		n.devices[2].demand_mb_s = INFINITY;
		p = fair_plan(&n, rated(&n) * percent / 100);
		assert_true(share_of(&p->devices[2]) >= 1 - 1e-6);
	}
	assert_true(n_more > 0);
	fair.rules = NULL;
	fair.n_rules = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(devices_alike_get_shares_alike),
		cmocka_unit_test(nobody_is_starved_for_a_neighbour),
		cmocka_unit_test(
			where_floors_do_not_fit_the_heavy_keep_theirs_and_the_others_equal_parts),
		cmocka_unit_test(the_smallest_share_is_the_largest_possible_with_max),
		cmocka_unit_test(a_pool_has_one_share),
		cmocka_unit_test(
			a_ceiling_of_p99_takes_out_slower_settings_and_says_where_none_is_left),
		cmocka_unit_test(a_lighter_member_draws_no_more_than_its_pool_needs),
		cmocka_unit_test(watts_left_over_are_headroom_by_weight),
	};

	return cmocka_run_group_tests(tests, read_fair, free_files);
}
