/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Who sleeps and is held off by what lies above it, over the shipped profiles. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan-sleepers.h"

static void what_sleeps_sleeps_on_though_no_budget_binds(void **state)
{
	const double budgets[] = { INFINITY, 1000, 20 };
	Node n;
	(void)state;

	for (size_t k = 0; k < ELEMENTSOF(budgets); k++) {
		_cleanup_(plan_freep) Plan *p = NULL;

		start(&n, budgets[k]);
		add(&n, "samsung-pm9a3", INFINITY);
		put_to_sleep(add(&n, HDD, 50));
		give_cache(&n.devices[1]);
		n.devices[1].current.depth = 1;
		n.devices[1].awake_redirect = REDIRECT_DRAIN;
		p = checked(&n);
		assert_int_equal(p->devices[1].setting.condition, CONDITION_STANDBY_Z);
		assert_int_equal(p->devices[1].setting.redirect, REDIRECT_HOLD);
		assert_int_equal(p->devices[1].setting.depth, 0);
		assert_int_equal(p->devices[1].reason, PLAN_ASLEEP);
		assert_true(p->devices[1].cap_w < 2 && p->devices[1].mb_s == 0);
	}
}

static void what_sleeps_goes_deeper_only_where_that_is_needed(void **state)
{
	const double budgets[] = { 2, 5, INFINITY };
	Node n;
	(void)state;

	for (size_t k = 0; k < ELEMENTSOF(budgets); k++) {
		_cleanup_(plan_freep) Plan *p = NULL;

		start(&n, budgets[k]);
		put_to_sleep(add(&n, "seagate-constellation-es2", 0));
		n.devices[0].current.condition = CONDITION_IDLE_C;
		n.devices[0].deepest = CONDITION_IDLE_C;
		n.devices[0].deepest_needed = CONDITION_STANDBY_Z;
		p = checked(&n);
		assert_int_equal(p->devices[0].setting.condition,
				 k == 0 ? CONDITION_STANDBY_Z : CONDITION_IDLE_C);
		assert_true(p->shortfall_w == 0);
	}
}

static void what_cannot_be_changed_or_is_protected_is_not_kept_asleep(void **state)
{
	_cleanup_(plan_freep) Plan *p = NULL;
	PolicyRule rule = { .match = "kept", .weight = 1, .protect = true };
	Policy policy = *balanced;
	Node n;
	(void)state;

	policy.rules = &rule;
	policy.n_rules = 1;
	start(&n, INFINITY);
	n.in.policy = &policy;
	put_to_sleep(add(&n, HDD, 0));
	n.devices[0].held = true;
	n.devices[0].held_w = 5;
	n.devices[0].held_setting = SETTING_AS_FOUND;
	put_to_sleep(add(&n, HDD, 0));
	n.devices[1].name = "kept";
	p = checked(&n);
	assert_int_equal(p->devices[0].reason, PLAN_HELD);
	assert_int_equal(p->devices[1].reason, PLAN_PROTECTED);
	assert_int_equal(count_asleep(p), 0);
}

static void a_rule_or_the_policy_keeps_disks_awake(void **state)
{
	PolicyRule rule = { .match = "sda", .weight = 1, .keep_awake = true };
	_cleanup_(plan_freep) Plan *free_to = NULL, *ruled = NULL, *limited = NULL;
	Policy policy = *balanced;
	Node n;
	(void)state;

	hungry(&n, 0.5, 4, CONDITION_STANDBY_Z);
	free_to = checked(&n);
	assert_int_equal(count_asleep(free_to), 4);
	n.in.policy = &policy;
	policy.rules = &rule;
	policy.n_rules = 1;
	n.devices[2].name = "sdb";
	ruled = checked(&n);
	assert_int_equal(count_asleep(ruled), 1);
	assert_true(asleep(&ruled->devices[2]));
	policy.n_rules = 0;
	policy.deepest = CONDITION_IDLE_C;
	limited = checked(&n);
	assert_int_equal(limited->devices[2].setting.condition, CONDITION_IDLE_C);
}

static void no_disk_is_put_to_sleep_for_watts_that_nobody_asks_for(void **state)
{
	_cleanup_(plan_freep) Plan *p = NULL;
	Node n;
	(void)state;

	hungry(&n, 0.9, 4, CONDITION_STANDBY_Z);
	n.devices[0].demand_mb_s = n.devices[1].demand_mb_s = 100;
	p = checked(&n);
	assert_true(p->mb_s >= 200 * (1 - 1e-9));
	assert_int_equal(count_asleep(p), 0);
}

static void what_lies_above_holds_while_a_disk_sleeps_and_drains_when_told(void **state)
{
	_cleanup_(plan_freep) Plan *p = NULL, *forbidden = NULL;
	Node n;
	(void)state;

	hungry(&n, 0.5, 4, CONDITION_STANDBY_Z);
	give_cache(&n.devices[2]);
	give_cache(&n.devices[3]);
	n.devices[3].holds_writes = false;
	give_cache(&n.devices[4]);
	n.devices[4].deepest = CONDITION_IDLE_B;
	n.devices[4].awake_redirect = REDIRECT_DRAIN;
	p = checked(&n);
	assert_true(asleep(&p->devices[2]) && asleep(&p->devices[3]) && !asleep(&p->devices[4]));
	assert_int_equal(p->devices[2].setting.redirect, REDIRECT_HOLD);
	assert_int_equal(p->devices[3].setting.redirect, REDIRECT_AS_FOUND);
	assert_int_equal(p->devices[4].setting.redirect, REDIRECT_DRAIN);
	assert_int_equal(p->devices[5].setting.redirect, REDIRECT_AS_FOUND);
	n.in.forbidden = MECHANISM_REDIRECT;
	forbidden = checked(&n);
	assert_true(asleep(&forbidden->devices[2]));
	assert_int_equal(forbidden->devices[2].setting.redirect, REDIRECT_AS_FOUND);
	n.in.forbidden = 0;
	n.in.budget_w = INFINITY;
	plan_freep(&p);
	p = checked(&n);
	assert_int_equal(p->devices[4].setting.redirect, REDIRECT_DRAIN);
	assert_int_equal(p->devices[2].setting.redirect, REDIRECT_AS_FOUND);
}

static void a_disk_that_sleeps_only_where_needed_sleeps_only_then(void **state)
{
	_cleanup_(plan_freep) Plan *enough = NULL, *tight = NULL, *least = NULL;
	size_t n_tight;
	Node n;
	(void)state;

	hungry(&n, 0.9, 6, CONDITION_IDLE_B);
	for (size_t i = 2; i < 8; i++)
		n.devices[i].deepest_needed = CONDITION_STANDBY_Z;
	enough = checked(&n);
	assert_int_equal(count_asleep(enough), 0);

	n.in.budget_w = 0;
	least = checked(&n);
	assert_int_equal(count_asleep(least), 6);
	assert_true(least->shortfall_w > 0);

	for (size_t i = 2; i < 8; i++)
		n.devices[i].deepest_needed = CONDITION_IDLE_B;
	plan_freep(&enough);
	enough = checked(&n); /* what they draw at least when all are awake */
	n.in.budget_w = enough->cap_w - 1;
	for (size_t i = 2; i < 8; i++)
		n.devices[i].deepest_needed = CONDITION_STANDBY_Z;
	tight = checked(&n);
	n_tight = count_asleep(tight);
	print_message("1 W short: %zu of 6 sleep\n", n_tight);
	assert_int_equal(n_tight, 1);
	assert_true(tight->shortfall_w == 0);
	for (size_t i = 2; i < 8; i++)
		if (asleep(&tight->devices[i]))
			assert_int_equal(tight->devices[i].reason, PLAN_NEEDED);
}

static void a_limit_that_cannot_be_held_otherwise_also_needs_sleep(void **state)
{
	_cleanup_(plan_freep) Plan *p = NULL;
	Node n;
	(void)state;

	hungry(&n, 1, 2, CONDITION_IDLE_B);
	n.in.budget_w = INFINITY;
	n.devices[0].limit_w = 0.5; /* cannot be held */
	n.devices[2].limit_w = 2;
	n.devices[2].deepest_needed = n.devices[3].deepest_needed = CONDITION_STANDBY_Z;
	p = checked(&n);
	assert_true(p->limit_shortfall_w > 0);
	assert_int_equal(p->devices[2].reason, PLAN_NEEDED);
	assert_false(asleep(&p->devices[3]));
}

static void draining_alone_is_worth_a_change(void **state)
{
	_cleanup_(plan_freep) Plan *held = NULL, *drains = NULL;
	Node n;
	(void)state;

	start(&n, 10);
	give_cache(add(&n, HDD, 10));
	held = checked(&n);
	n.devices[0].awake_redirect = REDIRECT_DRAIN;
	drains = checked(&n);
	assert_true(plan_worth_changing(held, drains, balanced));
	assert_false(plan_worth_changing(drains, drains, balanced));
}

static void asymmetric_gives_the_watts_to_the_writers_and_caps_the_readers(void **state)
{
	static const char *const directories[] = { "policies", NULL };
	_cleanup_(policy_freep) Policy *asymmetric = NULL;
	_cleanup_(plan_freep) Plan *even = NULL, *p = NULL, *free_to = NULL;
	size_t n_limited = 0, n_even_held = 0;
	Node n;
	(void)state;

	assert_int_equal(policy_find(directories, "asymmetric", &asymmetric), 0);
	start(&n, 0);
	for (int i = 0; i < 4; i++) {
		add(&n, "samsung-pm9a3", INFINITY)->group = i > 0;
		give_cache(&n.devices[i]);
	}
	n.in.n_groups = 2;
	n.groups[0] = (PlanGroup){ "writers", INFINITY };
	n.groups[1] = (PlanGroup){ "readers", INFINITY };
	n.in.budget_w = rated(&n) * 0.6;
	even = checked(&n);
	n.in.policy = asymmetric;
	p = checked(&n);
	for (size_t i = 0; i < 4; i++)
		n_even_held += even->devices[i].mb_s < even->devices[i].full_mb_s;
	assert_true(n_even_held > 0); /* and which of those that are alike, is no matter */
	assert_true(p->devices[0].mb_s == p->devices[0].full_mb_s);
	assert_int_equal(p->devices[0].setting.redirect, REDIRECT_AS_FOUND);
	for (size_t i = 1; i < 4; i++) {
		const PlannedDevice *d = &p->devices[i];

		assert_true(d->cap_w <= 0.5 * profile_operating_w(n.devices[i].profile));
		assert_int_equal(d->reason,
				 d->cap_w == 0.5 * profile_operating_w(n.devices[i].profile)
					 ? PLAN_RULE_LIMIT
					 : PLAN_SHARE);
		n_limited += d->reason == PLAN_RULE_LIMIT;
		assert_int_equal(d->setting.redirect, REDIRECT_HOLD);
	}
	assert_true(n_limited > 0);
	n.in.budget_w = rated(&n); /* binds nobody */
	free_to = checked(&n);
	for (size_t i = 0; i < 4; i++)
		assert_true(setting_equal(&free_to->devices[i].setting, &SETTING_AS_FOUND));
}

static void every_reason_has_words(void **state)
{
	(void)state;

	for (int r = PLAN_UNLIMITED; r <= PLAN_IDLES_LIGHTLY; r++) {
		assert_string_not_equal(plan_reason_text(r), "unknown");
		for (int k = PLAN_UNLIMITED; k < r; k++)
			assert_string_not_equal(plan_reason_text(r), plan_reason_text(k));
	}
	assert_string_equal(plan_reason_text(PLAN_IDLES_LIGHTLY + 1), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_sleeps_sleeps_on_though_no_budget_binds),
		cmocka_unit_test(what_sleeps_goes_deeper_only_where_that_is_needed),
		cmocka_unit_test(what_cannot_be_changed_or_is_protected_is_not_kept_asleep),
		cmocka_unit_test(a_rule_or_the_policy_keeps_disks_awake),
		cmocka_unit_test(no_disk_is_put_to_sleep_for_watts_that_nobody_asks_for),
		cmocka_unit_test(what_lies_above_holds_while_a_disk_sleeps_and_drains_when_told),
		cmocka_unit_test(a_disk_that_sleeps_only_where_needed_sleeps_only_then),
		cmocka_unit_test(a_limit_that_cannot_be_held_otherwise_also_needs_sleep),
		cmocka_unit_test(draining_alone_is_worth_a_change),
		cmocka_unit_test(asymmetric_gives_the_watts_to_the_writers_and_caps_the_readers),
		cmocka_unit_test(every_reason_has_words),
	};

	return cmocka_run_group_tests(tests, read_files, free_files);
}
