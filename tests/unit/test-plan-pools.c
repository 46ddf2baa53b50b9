/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Pools that sleep or stay awake as one, over the shipped profiles. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan-instances.h"
#include "plan-sleepers.h"

static void a_pool_sleeps_as_one(void **state)
{
	size_t seen[9] = { 0 };
	Node n;
	(void)state;

	hungry(&n, 0, 8, CONDITION_STANDBY_Z);
	pool_of(&n, 2, 6, 0);
	pool_of(&n, 6, 10, 1);
	for (int step = 40; step >= 4; step--) {
		_cleanup_(plan_freep) Plan *p = NULL;
		size_t first = 0, second = 0;

		n.in.budget_w = rated(&n) * step / 40;
		p = checked(&n);
		for (size_t i = 2; i < 10; i++)
			*(i < 6 ? &first : &second) += asleep(&p->devices[i]);
		assert_true(first % 4 == 0 && second % 4 == 0);
		seen[first + second]++;
	}
	print_message("budgets with 0, 4, 8 asleep: %zu, %zu, %zu\n", seen[0], seen[4], seen[8]);
	assert_true(seen[0] > 0 && seen[8] > 0);
}

static void a_member_that_may_not_sleep_keeps_its_pool_awake(void **state)
{
	_cleanup_(plan_freep) Plan *p = NULL, *held = NULL, *rest = NULL;
	Node n;
	(void)state;

	hungry(&n, 0.4, 8, CONDITION_STANDBY_Z);
	pool_of(&n, 2, 6, 0);
	pool_of(&n, 6, 10, 1);
	n.devices[3].deepest = n.devices[3].deepest_needed = CONDITION_IDLE_B;
	put_to_sleep(&n.devices[4]);
	p = checked(&n);
	assert_int_equal(count_asleep(p), 5);
	assert_true(asleep(&p->devices[4]) && !asleep(&p->devices[2]));
	n.devices[7].held = true;
	n.devices[7].held_w = 5;
	n.devices[7].held_setting = SETTING_AS_FOUND;
	held = checked(&n);
	assert_int_equal(count_asleep(held), 1);
	/* the last one awake of its pool follows the others */
	n.devices[7].held = false;
	for (size_t i = 7; i < 10; i++)
		put_to_sleep(&n.devices[i]);
	rest = checked(&n);
	assert_true(asleep(&rest->devices[6]));
}

static void a_pool_index_that_is_none_means_alone(void **state)
{
	_cleanup_(plan_freep) Plan *p = NULL;
	Node n;
	(void)state;

	hungry(&n, 0.4, 2, CONDITION_STANDBY_Z);
	n.devices[2].pool = n.devices[3].pool = 0;
	n.devices[3].deepest = n.devices[3].deepest_needed = CONDITION_IDLE_B;
	p = checked(&n);
	assert_true(asleep(&p->devices[2]) && !asleep(&p->devices[3]));
}

static void a_pool_with_a_floor_sleeps_last(void **state)
{
	PolicyRule rule = { .match = "floored",
			    .weight = 1,
			    .floor = { .given = true, .mb_s = 5 } };
	_cleanup_(plan_freep) Plan *p = NULL, *kept = NULL, *least = NULL;
	Policy policy = *balanced;
	Node n;
	(void)state;

	policy.rules = &rule;
	policy.n_rules = 1;
	hungry(&n, 0.5, 8, CONDITION_STANDBY_Z);
	n.in.policy = &policy;
	pool_of(&n, 2, 6, 0);
	pool_of(&n, 6, 10, 1);
	n.devices[4].name = "floored";
	p = checked(&n);
	assert_int_equal(count_asleep(p), 4);
	assert_true(asleep(&p->devices[6]));
	n.in.budget_w = 0;
	kept = checked(&n);
	assert_int_equal(count_asleep(kept), 4); /* in vain: nothing meets the budget */
	n.in.floors_yield_w = INFINITY;
	least = checked(&n);
	assert_int_equal(count_asleep(least), 8);
}

static void a_pool_that_sleeps_only_where_needed_does_so_as_one(void **state)
{
	Node n;
	(void)state;

	for (int step = 20; step >= 0; step--) {
		_cleanup_(plan_freep) Plan *p = NULL;
		size_t first = 0;

		hungry(&n, step / 40.0, 8, CONDITION_STANDBY_Z);
		pool_of(&n, 2, 6, 0);
		n.devices[3].deepest = CONDITION_IDLE_B;
		p = checked(&n);
		for (size_t i = 2; i < 6; i++)
			first += asleep(&p->devices[i]);
		assert_true(first == 0 || first == 4);
		if (first == 4)
			assert_int_equal(p->devices[2].reason, PLAN_NEEDED);
		if (step == 0)
			assert_int_equal(first, 4);
	}
}

/* A member cannot keep to its limit awake. Where the budget reaches nobody, too, its pool follows
 * it to sleep; a limit that it can keep to awake leaves the others as found. */
static void a_members_limit_puts_its_pool_to_sleep_whatever_the_budget(void **state)
{
	const double budgets_w[] = { 14, 20, INFINITY };
	(void)state;

	for (size_t b = 0; b < ELEMENTSOF(budgets_w); b++)
		for (int within_reach = 0; within_reach < 2; within_reach++) {
			_cleanup_(plan_freep) Plan *p = NULL;
			Node n;

			start(&n, budgets_w[b]);
			for (int i = 0; i < 2; i++)
				add(&n, "seagate-exos-7e2000", 10)->deepest = CONDITION_STANDBY_Z;
			pool_of(&n, 0, 2, 0);
			n.devices[0].limit_w = within_reach ? 5 : 3;
			p = checked(&n);
			assert_true(p->limit_shortfall_w == 0);
			assert_int_equal(count_asleep(p), within_reach ? 0 : 2);
			if (within_reach)
				assert_int_equal(p->devices[1].reason, PLAN_UNLIMITED);
		}
}

static void many_pools_are_searched_in_steps(void **state)
{
	_cleanup_(plan_freep) Plan *p = NULL;
	Node n;
	(void)state;

	hungry(&n, 0, 38, CONDITION_STANDBY_Z);
	for (size_t k = 0; k < 19; k++) {
		pool_of(&n, 2 + 2 * k, 4 + 2 * k, k);
		n.devices[2 + 2 * k].demand_mb_s = 1 + k;
	}
	n.in.budget_w = rated(&n) * 0.35;
	p = checked(&n);
	print_message("%zu of 38 asleep, worth %.0f, at most %.0f\n", count_asleep(p), p->value,
		      p->bound_value);
	for (size_t k = 0; k < 19; k++)
		assert_int_equal(asleep(&p->devices[2 + 2 * k]), asleep(&p->devices[3 + 2 * k]));
	assert_true(p->shortfall_w == 0);
	assert_true(p->value >= 0.9 * p->bound_value);
}

static uint64_t seed = 7;

/* Pools of disks, busy or idle, beside drives. */
static void draw_pools(Node *n, size_t n_pools)
{
	start(n, 0);
	for (unsigned i = 1 + below(&seed, 3); i > 0; i--)
		add(n, below(&seed, 2) ? "samsung-pm9a3" : "intel-p5510",
		    below(&seed, 2) ? INFINITY : below(&seed, 2000));
	for (size_t k = 0; k < n_pools; k++) {
		size_t from = n->in.n_devices;

		for (unsigned i = 2 + below(&seed, 3); i > 0; i--)
			add_idle(n, CONDITION_STANDBY_Z)->demand_mb_s =
				below(&seed, 2) ? 0 : below(&seed, 150);
		pool_of(n, from, n->in.n_devices, k);
	}
	n->in.budget_w = rated(n) * (0.15 + 0.8 * uniform(&seed));
}

/* The best plan of all sets of pools that may sleep. */
static Plan *best_of_all_sets(const Node *n)
{
	Plan *best = NULL;

	for (size_t set = 0; set < (size_t)1 << n->in.n_pools; set++) {
		Node m = *n;
		Plan *p;

		m.in.devices = m.devices;
		for (size_t i = 0; i < m.in.n_devices; i++) {
			PlanDevice *d = &m.devices[i];

			if (d->pool < n->in.n_pools && set >> d->pool & 1)
				put_to_sleep(d);
			d->deepest = d->deepest_needed = CONDITION_IDLE_B;
		}
		p = checked(&m);
		if (!best || p->shortfall_w < best->shortfall_w ||
		    (p->shortfall_w == best->shortfall_w && p->value > best->value)) {
			plan_free(best);
			best = p;
		} else {
			plan_free(p);
		}
	}
	return best;
}

static void what_all_sets_of_pools_could_give_is_nearly_reached_and_bounded(void **state)
{
	size_t n_best = 0, n_proved = 0, n_short = 0;
	double worst = 0;
	enum { NODES = 400 };
	(void)state;

	for (int k = 0; k < NODES; k++) {
		_cleanup_(plan_freep) Plan *p = NULL, *best = NULL;
		Node n;

		draw_pools(&n, 1 + below(&seed, 6));
		p = checked(&n);
		best = best_of_all_sets(&n);
		assert_true(fabs(p->shortfall_w - best->shortfall_w) < 1e-9);
		n_short += p->shortfall_w > 0;
		if (p->shortfall_w > 0)
			continue;
		assert_true(p->bound_value >= best->value * (1 - 1e-9));
		if (p->optimal)
			assert_true(p->value >= best->value * (1 - 2e-9));
		n_best += p->value >= best->value * (1 - 1e-9);
		n_proved += p->optimal;
		worst = MAX(worst, best->value / p->value - 1);
	}
	print_message("of %d nodes %zu short of watts, %zu at the best, %zu proved; worst %.1f %% "
		      "off\n",
		      NODES, n_short, n_best, n_proved, worst * 100);
	assert_true(n_short < NODES / 4);
	assert_true(n_best > (NODES - n_short) * 8 / 10);
	assert_true(worst < 0.1);
}

static void more_watts_are_worth_no_less_with_pools(void **state)
{
	size_t compared = 0;
	(void)state;

	for (int k = 0; k < 60; k++) {
		double last = 0, full;
		Node n;

		draw_pools(&n, 1 + below(&seed, 9));
		full = rated(&n);
		for (int step = 1; step <= 30; step++) {
			_cleanup_(plan_freep) Plan *p = NULL;

			n.in.budget_w = full * step / 30;
			p = checked(&n);
			if (p->shortfall_w > 0)
				continue;
			assert_true(p->value >= last * (1 - 1e-9));
			last = p->value;
			compared++;
		}
	}
	assert_true(compared > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pool_sleeps_as_one),
		cmocka_unit_test(a_member_that_may_not_sleep_keeps_its_pool_awake),
		cmocka_unit_test(a_pool_index_that_is_none_means_alone),
		cmocka_unit_test(a_pool_with_a_floor_sleeps_last),
		cmocka_unit_test(a_pool_that_sleeps_only_where_needed_does_so_as_one),
		cmocka_unit_test(a_members_limit_puts_its_pool_to_sleep_whatever_the_budget),
		cmocka_unit_test(many_pools_are_searched_in_steps),
		cmocka_unit_test(more_watts_are_worth_no_less_with_pools),
		cmocka_unit_test(what_all_sets_of_pools_could_give_is_nearly_reached_and_bounded),
	};

	return cmocka_run_group_tests(tests, read_files, free_files);
}
