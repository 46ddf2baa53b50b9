/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Plans over the shipped profiles. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#include "plan-nodes.h"

static bool as_found(const PlannedDevice *d)
{
	const Setting s = SETTING_AS_FOUND;

	return setting_equal(&d->setting, &s);
}

static void without_a_budget_everything_is_as_found(void **state)
{
	Node n;
	(void)state;

	mixed(&n, INFINITY);
	for (int k = 0; k < 2; k++) {
		_cleanup_(plan_freep) Plan *p = checked(&n);

		for (size_t i = 0; i < p->n_devices; i++) {
			assert_true(as_found(&p->devices[i]));
			assert_int_equal(p->devices[i].reason, PLAN_UNLIMITED);
			assert_true(p->devices[i].mb_s == p->devices[i].full_mb_s);
		}
		n.in.budget_w = rated(&n);
	}
}

static void no_devices_make_an_empty_plan(void **state)
{
	_cleanup_(plan_freep) Plan *p = NULL;
	Node n;
	(void)state;

	start(&n, 10);
	p = checked(&n);
	assert_true(p->cap_w == 0 && p->shortfall_w == 0);
}

static void a_budget_that_is_no_number_is_refused(void **state)
{
	Plan *p;
	Node n;
	(void)state;

	mixed(&n, NAN);
	assert_int_equal(plan_make(&n.in, &p), -EINVAL);
	n.in.budget_w = -1;
	assert_int_equal(plan_make(&n.in, &p), -EINVAL);
}

static void one_device_gets_its_share(void **state)
{
	_cleanup_(plan_freep) Plan *p = NULL;
	Node n;
	(void)state;

	start(&n, 10);
	add(&n, "samsung-pm9a3", INFINITY);
	p = checked(&n);
	assert_int_equal(p->devices[0].reason, PLAN_SHARE);
	assert_true(p->devices[0].mb_s > 0 && p->devices[0].mb_s < p->devices[0].full_mb_s);
	assert_false(as_found(&p->devices[0]));
}

static void more_watts_never_give_less_throughput(void **state)
{
	const double demands[] = { INFINITY, 0, 40, 400, 2000 };
	Node n;
	(void)state;

	for (int k = 0; k < 6; k++) {
		double last_value = 0, last = 0;

		mixed(&n, 0);
		for (size_t i = 0; i < n.in.n_devices; i++) {
			n.devices[i].demand_mb_s = k ? demands[(i * 7 + k) % 5] : INFINITY;
			n.devices[i].deepest = n.devices[i].demand_mb_s == 0 ? CONDITION_STANDBY_Z
									     : CONDITION_IDLE_B;
			n.devices[i].bias = k == 5 ? 0.7 + i % 7 * 0.1 : 1;
		}
		for (int step = 30; step <= 210; step++) {
			_cleanup_(plan_freep) Plan *p = NULL;

			n.in.budget_w = rated(&n) * step / 200;
			p = checked(&n);
			if (p->shortfall_w > 0)
				continue;
			assert_true(p->optimal);
			assert_true(p->value >= last_value * (1 - 1e-9));
			assert_true(p->mb_s >= last * (1 - 1e-6));
			last_value = p->value;
			last = p->mb_s;
		}
		assert_true(last > 0);
	}
}

static void a_device_that_asks_for_little_gets_little(void **state)
{
	_cleanup_(plan_freep) Plan *all = NULL, *few = NULL;
	Node n;
	(void)state;

	start(&n, 24);
	add(&n, "samsung-pm9a3", INFINITY);
	add(&n, "samsung-pm9a3", INFINITY);
	all = checked(&n);
	n.devices[1].demand_mb_s = all->devices[1].full_mb_s / 50;
	few = checked(&n);
	assert_int_equal(few->devices[1].reason, PLAN_LOW_DEMAND);
	assert_true(few->devices[1].mb_s >= n.devices[1].demand_mb_s * (1 - 1e-9));
	/* which of the two that are alike was held is no matter */
	assert_true(few->devices[0].mb_s > MIN(all->devices[0].mb_s, all->devices[1].mb_s));
}

static void an_idle_disk_sleeps_only_when_it_may(void **state)
{
	_cleanup_(plan_freep) Plan *awake = NULL, *asleep = NULL;
	Node n;
	(void)state;

	start(&n, 0);
	add(&n, "seagate-exos-7e2000", INFINITY);
	add(&n, "seagate-exos-7e2000", 0);
	n.in.budget_w = rated(&n) * 0.7;
	awake = checked(&n);
	assert_true(awake->devices[1].setting.condition <= CONDITION_IDLE_B);
	n.devices[1].deepest = CONDITION_STANDBY_Z;
	asleep = checked(&n);
	assert_int_equal(asleep->devices[1].reason, PLAN_ASLEEP);
	assert_true(asleep->devices[1].setting.condition > CONDITION_IDLE_B);
	assert_true(asleep->devices[0].mb_s >= awake->devices[0].mb_s);
}

static void a_disk_that_must_sleep_keeps_its_condition(void **state)
{
	_cleanup_(plan_freep) Plan *p = NULL;
	Node n;
	(void)state;

	start(&n, 20);
	add(&n, "seagate-exos-7e2000", INFINITY);
	add(&n, "seagate-exos-7e2000", 100);
	add(&n, "samsung-pm9a3", 100);
	n.devices[1].must_sleep = true;
	n.devices[1].current.condition = CONDITION_STANDBY_Z;
	p = checked(&n);
	assert_int_equal(p->devices[1].setting.condition, CONDITION_STANDBY_Z);
	assert_int_equal(p->devices[1].reason, PLAN_ASLEEP);
}

static void a_limit_on_a_device_holds_without_a_budget(void **state)
{
	Node n;
	(void)state;

	mixed(&n, INFINITY);
	n.devices[0].limit_w = 11;
	n.devices[1].limit_w = 0.5;
	for (int k = 0; k < 2; k++) {
		_cleanup_(plan_freep) Plan *p = checked(&n);

		assert_true(p->devices[0].cap_w <= 11);
		assert_true(p->devices[0].mb_s > 0);
		assert_int_equal(p->devices[1].reason, PLAN_FLOOR);
		if (k == 0) {
			assert_int_equal(p->devices[0].reason, PLAN_DEVICE_LIMIT);
			assert_true(as_found(&p->devices[2]));
		}
		n.in.budget_w = rated(&n) * 0.7;
	}
}

static void a_group_keeps_to_its_limit_and_the_rest_to_the_budget(void **state)
{
	Node n;
	(void)state;

	mixed(&n, INFINITY);
	n.in.n_groups = 2;
	n.groups[0] = (PlanGroup){ "front", 40 };
	n.groups[1] = (PlanGroup){ "back", INFINITY };
	for (size_t i = 0; i < 8; i++)
		n.devices[i].group = i / 4;
	for (int k = 0; k < 8; k++) {
		_cleanup_(plan_freep) Plan *p = checked(&n);
		double front = 0;

		for (size_t i = 0; i < 4; i++)
			front += p->devices[i].cap_w;
		assert_true(front <= 40);
		if (k == 0) {
			assert_int_equal(p->devices[0].reason, PLAN_GROUP_LIMIT);
			assert_true(as_found(&p->devices[5]));
		}
		n.in.budget_w = rated(&n) * (0.95 - 0.07 * k);
	}
}

static void a_held_device_counts_what_it_draws(void **state)
{
	_cleanup_(plan_freep) Plan *p = NULL;
	Node n;
	(void)state;

	start(&n, 30);
	add(&n, "samsung-pm9a3", INFINITY);
	add(&n, "samsung-pm9a3", INFINITY);
	n.devices[0].held = true;
	n.devices[0].held_w = 20;
	n.devices[0].held_setting = (Setting){ .power_state = 0, .depth = 8 };
	p = checked(&n);
	assert_true(p->devices[0].cap_w == 20);
	assert_true(setting_equal(&p->devices[0].setting, &n.devices[0].held_setting));
	assert_int_equal(p->devices[0].reason, PLAN_HELD);
	assert_true(p->devices[1].cap_w <= 10);
}

static void an_infeasible_budget_gives_the_floor_and_the_shortfall(void **state)
{
	_cleanup_(plan_freep) Plan *p = NULL;
	Node n;
	(void)state;

	mixed(&n, 12.3);
	p = checked(&n);
	assert_true(p->shortfall_w > 0);
	for (size_t i = 0; i < p->n_devices; i++)
		assert_int_equal(p->devices[i].reason, PLAN_FLOOR);
}

static void a_device_without_a_knob_is_said_to_have_none(void **state)
{
	_cleanup_(plan_freep) Plan *p = NULL;
	Node n;
	(void)state;

	start(&n, 20);
	add(&n, "samsung-pm9a3", INFINITY);
	add(&n, "samsung-pm9a3", INFINITY);
	n.devices[1].offer = (Offer){};
	p = checked(&n);
	assert_int_equal(p->devices[0].reason, PLAN_SHARE);
	assert_int_equal(p->devices[1].reason, PLAN_NO_KNOB);
	assert_true(as_found(&p->devices[1]));
}

static void a_floor_is_kept_even_where_the_budget_cannot_be(void **state)
{
	PolicyRule rule = { .match = "intel*",
			    .weight = 0.01,
			    .floor = { .given = true, .mb_s = 50 } };
	Policy policy = *balanced;
	Node n;
	(void)state;

	policy.rules = &rule;
	policy.n_rules = 1;
	start(&n, 20);
	n.in.policy = &policy;
	add(&n, "samsung-pm9a3", INFINITY);
	add(&n, "intel-p5510", INFINITY);
	for (int k = 0; k < 2; k++) {
		_cleanup_(plan_freep) Plan *p = checked(&n);

		assert_true(p->devices[1].mb_s >= 50 * (1 - 1e-9));
		assert_true((p->shortfall_w > 0) == (k == 1));
		n.in.budget_w = 5;
	}
}

static void rules_protect_forbid_and_weigh(void **state)
{
	PolicyRule rules[] = {
		{ .match = "intel-p5510", .weight = 1, .protect = true },
		{ .match = "samsung*", .weight = 1, .forbidden = MECHANISM_ALL & ~MECHANISM_DEPTH },
		{ .match = "seagate*", .weight = 500 },
	};
	_cleanup_(plan_freep) Plan *p = NULL;
	Policy policy = *balanced;
	Node n;
	(void)state;

	policy.rules = rules;
	policy.n_rules = ELEMENTSOF(rules);
	mixed(&n, 0);
	n.in.policy = &policy;
	n.in.budget_w = rated(&n) * 0.75;
	p = checked(&n);
	for (size_t i = 0; i < 24; i++) {
		unsigned used = setting_mechanisms(&p->devices[i].setting);

		if (i >= 8) {
		} else if (i % 2 == 0) {
			assert_int_equal(p->devices[i].reason, PLAN_PROTECTED);
			assert_true(as_found(&p->devices[i]));
		} else {
			assert_int_equal(used & ~MECHANISM_DEPTH, 0);
		}
	}
}

static void a_device_that_draws_more_than_modelled_is_capped_lower(void **state)
{
	_cleanup_(plan_freep) Plan *plain = NULL, *biased = NULL;
	Node n;
	(void)state;

	start(&n, 30);
	add(&n, "samsung-pm9a3", INFINITY);
	add(&n, "samsung-pm9a3", INFINITY);
	plain = checked(&n);
	n.devices[0].bias = n.devices[1].bias = 1.2;
	biased = checked(&n);
	assert_true(biased->mb_s < plain->mb_s);
}

static void latency_weighs_against_settings_that_wait(void **state)
{
	_cleanup_(plan_freep) Plan *fast = NULL, *calm = NULL;
	double fast_us = 0, calm_us = 0;
	Policy policy = *balanced;
	Node n;
	(void)state;

	mixed(&n, 0);
	n.in.budget_w = rated(&n) * 0.6;
	fast = checked(&n);
	policy.latency_weight = 1;
	n.in.policy = &policy;
	calm = checked(&n);
	for (size_t i = 0; i < n.in.n_devices; i++) {
		fast_us += fast->devices[i].p99_us * fast->devices[i].mb_s;
		calm_us += calm->devices[i].p99_us * calm->devices[i].mb_s;
	}
	assert_true(calm->mb_s <= fast->mb_s * (1 + 1e-6));
	assert_true(calm_us / calm->mb_s <= fast_us / fast->mb_s);
}

static void constant_input_never_changes_a_plan(void **state)
{
	Policy policy = *balanced;
	Node n;
	(void)state;

	policy.hysteresis = 0;
	for (int step = 8; step <= 20; step++) {
		_cleanup_(plan_freep) Plan *held = NULL;

		mixed(&n, 0);
		n.in.budget_w = rated(&n) * step / 20;
		held = checked(&n);
		for (int k = 0; k < 3; k++) {
			_cleanup_(plan_freep) Plan *next = NULL;

			for (size_t i = 0; i < n.in.n_devices; i++)
				n.devices[i].current = held->devices[i].setting;
			next = checked(&n);
			assert_false(plan_worth_changing(held, next, &policy));
			assert_true(fabs(next->mb_s - held->mb_s) <= 1e-6 * held->mb_s);
		}
	}
}

static void put_in_force(Node *n, const Plan *p)
{
	for (size_t i = 0; i < n->in.n_devices; i++)
		n->devices[i].current = p->devices[i].setting;
}

static void a_plan_is_replaced_when_it_no_longer_fits_or_a_better_one_is_there(void **state)
{
	_cleanup_(plan_freep) Plan *held = NULL, *lower = NULL, *shifted = NULL, *alike = NULL,
				   *again = NULL;
	Node n;
	(void)state;

	mixed(&n, 0);
	n.in.budget_w = rated(&n) * 0.7;
	held = checked(&n);
	n.in.budget_w *= 0.9;
	lower = checked(&n);
	assert_true(plan_worth_changing(held, lower, balanced));
	n.in.budget_w /= 0.9;
	for (size_t i = 0; i < 8; i++)
		n.devices[i].demand_mb_s = 0;
	n.in.budget_w = held->budget_w;
	shifted = checked(&n);
	assert_true(shifted->mb_s > 0);
	for (size_t i = 0; i < 8; i++)
		n.devices[i].demand_mb_s = 1e9;
	put_in_force(&n, held);
	alike = checked(&n);
	assert_false(plan_worth_changing(held, alike, balanced));
	put_in_force(&n, shifted);
	again = checked(&n);
	assert_true(plan_worth_changing(shifted, again, balanced));
}

static void the_case_study_is_reproduced(void **state)
{
	_cleanup_(plan_freep) Plan *shaped = NULL, *free_choice = NULL;
	const Profile *p = profile_store_get(store, "samsung-pm9a3");
	PlanDevice *d;
	Node n;
	(void)state;

	start(&n, p->rated_w * 0.8);
	d = add(&n, "samsung-pm9a3", INFINITY);
	d->mix = (Mix){ .read_share = 0, .random_share = 1, .write_kib = 256, .depth = 64 };
	free_choice = checked(&n);
	n.in.forbidden = MECHANISM_ALL & ~(MECHANISM_DEPTH | MECHANISM_CHUNK);
	shaped = checked(&n);
	print_message("shaping alone: depth %u, chunk %u KiB, %.0f of %.0f MB/s\n",
		      shaped->devices[0].setting.depth, shaped->devices[0].setting.chunk_kib,
		      shaped->mb_s, shaped->full_mb_s);
	assert_int_equal(shaped->devices[0].setting.depth, 1);
	assert_int_equal(shaped->devices[0].setting.chunk_kib, 256);
	assert_true(shaped->mb_s > 0.55 * shaped->full_mb_s &&
		    shaped->mb_s < 0.65 * shaped->full_mb_s);
	assert_true(free_choice->mb_s >= shaped->mb_s * (1 - 1e-9));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_budget_everything_is_as_found),
		cmocka_unit_test(no_devices_make_an_empty_plan),
		cmocka_unit_test(a_budget_that_is_no_number_is_refused),
		cmocka_unit_test(one_device_gets_its_share),
		cmocka_unit_test(more_watts_never_give_less_throughput),
		cmocka_unit_test(a_device_that_asks_for_little_gets_little),
		cmocka_unit_test(an_idle_disk_sleeps_only_when_it_may),
		cmocka_unit_test(a_disk_that_must_sleep_keeps_its_condition),
		cmocka_unit_test(a_limit_on_a_device_holds_without_a_budget),
		cmocka_unit_test(a_group_keeps_to_its_limit_and_the_rest_to_the_budget),
		cmocka_unit_test(a_held_device_counts_what_it_draws),
		cmocka_unit_test(an_infeasible_budget_gives_the_floor_and_the_shortfall),
		cmocka_unit_test(a_device_without_a_knob_is_said_to_have_none),
		cmocka_unit_test(a_floor_is_kept_even_where_the_budget_cannot_be),
		cmocka_unit_test(rules_protect_forbid_and_weigh),
		cmocka_unit_test(a_device_that_draws_more_than_modelled_is_capped_lower),
		cmocka_unit_test(latency_weighs_against_settings_that_wait),
		cmocka_unit_test(constant_input_never_changes_a_plan),
		cmocka_unit_test(
			a_plan_is_replaced_when_it_no_longer_fits_or_a_better_one_is_there),
		cmocka_unit_test(the_case_study_is_reproduced),
	};

	return cmocka_run_group_tests(tests, read_files, free_files);
}
