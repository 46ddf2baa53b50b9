/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Devices with nothing to do rest, over the shipped profiles. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan-sleepers.h"

/* A disk that rests, beside one that works. */
static void resting(Node *n, Condition c, double budget_w)
{
	start(n, budget_w);
	add_idle(n, CONDITION_STANDBY_Z)->rest = c;
	add(n, HDD, 100);
}

static void an_idle_disk_rests_though_the_watts_are_not_needed(void **state)
{
	static const Condition asked[] = { CONDITION_IDLE_A, CONDITION_IDLE_B, CONDITION_STANDBY_Y,
					   CONDITION_STANDBY_Z };
	Policy policy = *balanced;
	Node n;
	(void)state;

	policy.rest = CONDITION_STANDBY_Z;
	for (size_t k = 0; k < ELEMENTSOF(asked); k++) {
		_cleanup_(plan_freep) Plan *p = NULL;
		const PlannedDevice *d;
		const Profile *profile;

		resting(&n, asked[k], 1000);
		n.in.policy = &policy;
		profile = n.devices[0].profile;
		give_cache(&n.devices[0]);
		p = checked(&n);
		d = &p->devices[0];
		assert_int_equal(d->reason, PLAN_RESTING);
		assert_true(d->setting.condition <= asked[k] &&
			    profile->conditions[d->setting.condition].present);
		assert_true(d->expect_w == profile->conditions[d->setting.condition].watts);
		assert_true(asleep(d) ? d->cap_w < 2 : d->cap_w == profile->rated_w);
		assert_int_equal(d->setting.redirect,
				 asleep(d) ? REDIRECT_HOLD : REDIRECT_AS_FOUND);
		assert_int_equal(asleep(d), asked[k] > CONDITION_IDLE_B);
		assert_int_equal(p->devices[1].reason, PLAN_UNLIMITED);
	}
}

static Condition rest_under(const Node *n, PlanReason *ret_reason)
{
	_cleanup_(plan_freep) Plan *p = checked(n);

	*ret_reason = p->devices[0].reason;
	return p->devices[0].setting.condition;
}

static void a_disk_rests_only_where_all_allow_it(void **state)
{
	PolicyRule rule = { .match = "sda", .weight = 1, .keep_awake = true };
	Policy policy = *balanced;
	PlanReason reason;
	Node n;
	(void)state;

	resting(&n, CONDITION_IDLE_B, INFINITY);
	assert_int_equal(rest_under(&n, &reason), CONDITION_ACTIVE); /* no budget */
	assert_int_equal(reason, PLAN_UNLIMITED);
	n.devices[0].limit_w = 100;
	assert_int_equal(rest_under(&n, &reason), CONDITION_IDLE_B);
	n.devices[0].demand_mb_s = 0.1;
	assert_int_equal(rest_under(&n, &reason), CONDITION_ACTIVE);
	n.devices[0].demand_mb_s = 0;
	n.devices[0].awake_redirect = REDIRECT_DRAIN;
	n.devices[0].offer.mechanisms |= MECHANISM_REDIRECT;
	assert_int_equal(rest_under(&n, &reason), CONDITION_ACTIVE);
	n.devices[0].awake_redirect = REDIRECT_AS_FOUND;
	n.in.forbidden = MECHANISM_CONDITION;
	assert_int_equal(rest_under(&n, &reason), CONDITION_ACTIVE);
	n.in.forbidden = 0;

	n.devices[0].rest = CONDITION_STANDBY_Z;
	assert_int_equal(rest_under(&n, &reason), CONDITION_IDLE_B); /* balanced: no deeper */
	n.in.policy = &policy;
	policy.rest = CONDITION_STANDBY_Z;
	assert_int_equal(rest_under(&n, &reason), CONDITION_STANDBY_Z);
	n.devices[0].deepest = CONDITION_IDLE_B;
	assert_int_equal(rest_under(&n, &reason), CONDITION_IDLE_B);
	n.devices[0].deepest = CONDITION_STANDBY_Z;
	policy.rules = &rule;
	policy.n_rules = 1;
	assert_int_equal(rest_under(&n, &reason), CONDITION_IDLE_B);
	rule = (PolicyRule){ .match = "sda", .weight = 1, .floor = { .given = true, .mb_s = 1 } };
	assert_int_equal(rest_under(&n, &reason), CONDITION_IDLE_B);
	assert_int_equal(reason, PLAN_RESTING);
}

static LinkPower link_under(const Node *n, double *ret_w)
{
	_cleanup_(plan_freep) Plan *p = checked(n);

	*ret_w = p->devices[0].expect_w;
	return p->devices[0].setting.link;
}

static void the_link_of_an_idle_ssd_rests_only_where_all_allow_it(void **state)
{
	PolicyRule rule = { .match = "*", .weight = 1, .p99_us = 100000 };
	Policy policy = *balanced;
	const Profile *profile;
	PlanDevice *d;
	double watts;
	Node n;
	(void)state;

	start(&n, 1000);
	d = add(&n, "samsung-860-evo", 0);
	profile = d->profile;
	d->rest = CONDITION_IDLE_B;
	assert_int_equal(link_under(&n, &watts), LINK_AS_FOUND); /* nothing manages it */
	assert_true(watts == profile->idle_w);
	d->offer.mechanisms |= MECHANISM_LINK;
	assert_int_equal(link_under(&n, &watts), LINK_MEDIUM_DIPM);
	assert_true(watts == profile->idle_w - profile->link_saving_w);
	n.in.budget_w = INFINITY;
	assert_int_equal(link_under(&n, &watts), LINK_AS_FOUND);
	n.in.budget_w = 1000;
	d->demand_mb_s = 0.1;
	assert_int_equal(link_under(&n, &watts), LINK_AS_FOUND);
	d->demand_mb_s = 0;
	d->rest = CONDITION_IDLE_A; /* comes back sooner than a link does */
	assert_int_equal(link_under(&n, &watts), LINK_AS_FOUND);
	d->rest = CONDITION_IDLE_B;
	n.in.forbidden = MECHANISM_LINK;
	assert_int_equal(link_under(&n, &watts), LINK_AS_FOUND);
	n.in.forbidden = 0;
	n.in.policy = &policy;
	policy.rules = &rule;
	policy.n_rules = 1;
	assert_int_equal(link_under(&n, &watts), LINK_AS_FOUND); /* 0.3 s are promised away */
	rule.p99_us = 400000;
	assert_int_equal(link_under(&n, &watts), LINK_MEDIUM_DIPM);
}

static void a_link_that_begins_or_ends_to_rest_is_worth_it_once(void **state)
{
	_cleanup_(plan_freep) Plan *held = NULL, *rests = NULL, *again = NULL;
	PlanDevice *d;
	Node n;
	(void)state;

	start(&n, 1000);
	d = add(&n, "samsung-860-evo", 0);
	d->offer.mechanisms |= MECHANISM_LINK;
	held = checked(&n);
	d->rest = CONDITION_IDLE_B;
	rests = checked(&n);
	assert_true(plan_worth_changing(held, rests, balanced));
	assert_true(plan_worth_changing(rests, held, balanced));
	d->current = rests->devices[0].setting;
	again = checked(&n);
	assert_false(plan_worth_changing(rests, again, balanced));
}

/* States 3 and 4 are those of a 970 EVO Plus, which its kernel lets it enter by itself. */
static void add_parking_states(Profile *p)
{
	p->n_states = 5;
	p->states[3] =
		(PowerState){ .present = true, .max_w = 0.07, .entry_us = 210, .exit_us = 1200 };
	p->states[4] =
		(PowerState){ .present = true, .max_w = 0.01, .entry_us = 2000, .exit_us = 8000 };
}

static unsigned idle_latency_under(const Node *n, PlanReason *ret_reason)
{
	_cleanup_(plan_freep) Plan *p = checked(n);

	*ret_reason = p->devices[0].reason;
	return p->devices[0].setting.idle_latency_us;
}

static void a_drive_idles_no_deeper_than_its_p99_allows(void **state)
{
	static const struct {
		uint64_t p99_us;
		unsigned latency_us; /* 0: none of its states is too deep */
	} cases[] = { { 0, 0 },       { 1, 1 },       { 1000, 1000 }, { 1300, 1199 },
		      { 1409, 1199 }, { 1410, 1410 }, { 5000, 5000 }, { 9000, 7999 },
		      { 9999, 7999 }, { 10000, 0 },   { 1000000, 0 } };
	PolicyRule rule = { .match = "*", .weight = 1 };
	Policy policy = *balanced;
	PlanReason reason;
	Profile profile;
	Node n;
	(void)state;

	policy.rules = &rule;
	policy.n_rules = 1;
	start(&n, 1000);
	n.in.policy = &policy;
	profile = *add(&n, "samsung-pm9a3", 100)->profile;
	add_parking_states(&profile);
	n.devices[0].profile = &profile;
	n.devices[0].offer.mechanisms |= MECHANISM_LINK;
	for (size_t k = 0; k < ELEMENTSOF(cases); k++) {
		rule.p99_us = cases[k].p99_us;
		assert_int_equal(idle_latency_under(&n, &reason), cases[k].latency_us);
		assert_int_equal(reason, cases[k].latency_us ? PLAN_IDLES_LIGHTLY : PLAN_UNLIMITED);
	}
}

static void how_deep_a_drive_idles_is_left_alone_unless_a_limit_holds_and_all_allow_it(void **state)
{
	PolicyRule rule = { .match = "*", .weight = 1, .p99_us = 5000 };
	Policy policy = *balanced;
	PlanReason reason;
	Profile profile;
	PlanDevice *d;
	Node n;
	(void)state;

	policy.rules = &rule;
	policy.n_rules = 1;
	start(&n, INFINITY);
	n.in.policy = &policy;
	d = add(&n, "samsung-pm9a3", 0);
	profile = *d->profile;
	add_parking_states(&profile);
	d->profile = &profile;
	d->offer.mechanisms |= MECHANISM_LINK;
	assert_int_equal(idle_latency_under(&n, &reason), 0); /* no budget */
	assert_int_equal(reason, PLAN_UNLIMITED);
	d->limit_w = 8;
	assert_int_equal(idle_latency_under(&n, &reason), 5000);
	assert_int_not_equal(reason, PLAN_IDLES_LIGHTLY); /* there is more to tell */
	d->limit_w = INFINITY;
	n.in.budget_w = 9;
	assert_int_equal(idle_latency_under(&n, &reason), 5000);
	d->offer.mechanisms &= ~(unsigned)MECHANISM_LINK;
	assert_int_equal(idle_latency_under(&n, &reason), 0); /* it has no APST */
	d->offer.mechanisms |= MECHANISM_LINK;
	rule.forbidden = MECHANISM_LINK;
	assert_int_equal(idle_latency_under(&n, &reason), 0);
	rule.forbidden = 0;
	rule.protect = true;
	assert_int_equal(idle_latency_under(&n, &reason), 0);
	rule.protect = false;
	d->held = true;
	d->held_w = 5;
	assert_int_equal(idle_latency_under(&n, &reason), d->held_setting.idle_latency_us);
	d->held = false;
	profile.states[3].operational = profile.states[4].operational = true;
	assert_int_equal(idle_latency_under(&n, &reason), 0);
}

static void how_deep_a_drive_idles_makes_no_choice_different(void **state)
{
	_cleanup_(plan_freep) Plan *before = NULL, *after = NULL;
	PolicyRule rule = { .match = "*", .weight = 1, .p99_us = 5000 };
	Policy policy = *balanced;
	Profile profile;
	Node n;
	(void)state;

	policy.rules = &rule;
	policy.n_rules = 1;
	start(&n, 30);
	n.in.policy = &policy;
	profile = *add(&n, "samsung-pm9a3", INFINITY)->profile;
	n.devices[0].profile = &profile;
	add(&n, "samsung-pm9a3", INFINITY)->profile = &profile;
	for (size_t i = 0; i < 2; i++)
		n.devices[i].offer.mechanisms |= MECHANISM_LINK;
	before = checked(&n);
	add_parking_states(&profile);
	for (size_t i = 0; i < 2; i++) {
		n.devices[i].current = before->devices[i].setting;
		n.devices[i].current.idle_latency_us = 5000;
	}
	after = checked(&n);
	assert_true(plan_worth_changing(before, after, balanced));
	for (size_t i = 0; i < 2; i++) {
		Setting *s = &after->devices[i].setting;

		assert_int_equal(s->idle_latency_us, 5000);
		s->idle_latency_us = 0;
		assert_true(setting_equal(s, &before->devices[i].setting));
		assert_true(after->devices[i].mb_s == before->devices[i].mb_s);
	}
}

static void a_pool_rests_asleep_only_as_one(void **state)
{
	_cleanup_(plan_freep) Plan *all = NULL, *one_busy = NULL, *one_asleep = NULL;
	Policy policy = *balanced;
	Node n;
	(void)state;

	policy.rest = CONDITION_STANDBY_Z;
	start(&n, 1000);
	n.in.policy = &policy;
	for (int i = 0; i < 4; i++)
		add_idle(&n, CONDITION_STANDBY_Z)->rest = CONDITION_STANDBY_Z;
	pool_of(&n, 0, 3, 0);
	all = checked(&n);
	assert_int_equal(count_asleep(all), 4);
	n.devices[1].demand_mb_s = 10;
	one_busy = checked(&n);
	assert_int_equal(count_asleep(one_busy), 1);
	assert_int_equal(one_busy->devices[0].setting.condition, CONDITION_IDLE_B);
	assert_int_equal(one_busy->devices[1].setting.condition, CONDITION_ACTIVE);
	n.devices[1].demand_mb_s = 0;
	put_to_sleep(&n.devices[1]);
	one_asleep = checked(&n);
	assert_int_equal(count_asleep(one_asleep), 4);
}

static void a_change_of_rest_alone_is_worth_it_once(void **state)
{
	_cleanup_(plan_freep) Plan *held = NULL, *rests = NULL, *again = NULL;
	Node n;
	(void)state;

	resting(&n, CONDITION_ACTIVE, 1000);
	held = checked(&n);
	n.devices[0].rest = CONDITION_IDLE_B;
	rests = checked(&n);
	assert_true(plan_worth_changing(held, rests, balanced));
	n.devices[0].current = rests->devices[0].setting;
	again = checked(&n);
	assert_false(plan_worth_changing(rests, again, balanced));
	assert_true(plan_worth_changing(rests, held, balanced)); /* IO has come */
}

/* Two disks alike, one of which gets more: whichever has it keeps it. */
static void disks_that_rest_or_drain_do_not_take_turns(void **state)
{
	(void)state;

	for (int draining = 0; draining < 2; draining++) {
		_cleanup_(plan_freep) Plan *p = NULL, *swapped = NULL;
		Setting first, second;
		Node n;

		start(&n, 0);
		for (int i = 0; i < 2; i++) {
			PlanDevice *d = add(&n, HDD, draining ? INFINITY : 0);

			give_cache(d);
			d->mix = MIX_UNKNOWN;
			d->offer.mechanisms &= ~(unsigned)MECHANISM_PACING;
			d->rest = d->deepest = CONDITION_IDLE_B;
			d->awake_redirect = draining ? REDIRECT_DRAIN : REDIRECT_AS_FOUND;
		}
		n.in.budget_w = rated(&n) * 0.99;
		p = checked(&n);
		first = p->devices[0].setting;
		second = p->devices[1].setting;
		assert_false(setting_equal(&first, &second));
		assert_int_equal(first.condition, draining ? CONDITION_ACTIVE : CONDITION_IDLE_B);
		n.devices[0].current = second;
		n.devices[1].current = first;
		swapped = checked(&n);
		assert_true(setting_equal(&swapped->devices[0].setting, &second));
		assert_true(setting_equal(&swapped->devices[1].setting, &first));
	}
}

/* One of two alike, for a measurement. */
static const PlannedDevice *pinned_under(const Node *n, Plan **ret)
{
	*ret = plan_free(*ret);
	*ret = checked(n);
	return &(*ret)->devices[0];
}

static void a_pinned_power_state_is_set_where_neither_a_limit_nor_the_policy_forbids(void **state)
{
	const Setting as_found = SETTING_AS_FOUND, pinned = { .power_state = 1 };
	PolicyRule rule = { .match = "nvme0", .weight = 1, .forbidden = MECHANISM_POWER_STATE };
	_cleanup_(plan_freep) Plan *p = NULL;
	Policy policy = *balanced;
	const PlannedDevice *d;
	Node n;
	(void)state;

	start(&n, INFINITY);
	add(&n, "samsung-pm9a3", 0)->is_pinned = true;
	n.devices[0].pinned_state = 1;
	add(&n, "samsung-pm9a3", 0);
	d = pinned_under(&n, &p);
	assert_true(setting_equal(&d->setting, &pinned));
	assert_int_equal(d->reason, PLAN_PINNED);
	assert_true(d->cap_w < p->devices[1].cap_w);
	assert_true(setting_equal(&p->devices[1].setting, &as_found));
	n.in.budget_w = 1000;
	d = pinned_under(&n, &p);
	assert_int_equal(d->setting.power_state, -1);
	assert_int_equal(d->reason, PLAN_UNLIMITED);
	n.in.budget_w = INFINITY;
	n.in.policy = &policy;
	policy.rules = &rule;
	policy.n_rules = 1;
	d = pinned_under(&n, &p);
	assert_true(setting_equal(&d->setting, &as_found));
	assert_int_equal(d->reason, PLAN_PIN_FORBIDDEN);
	rule.protect = true;
	assert_int_equal(pinned_under(&n, &p)->reason, PLAN_PROTECTED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_idle_disk_rests_though_the_watts_are_not_needed),
		cmocka_unit_test(a_disk_rests_only_where_all_allow_it),
		cmocka_unit_test(the_link_of_an_idle_ssd_rests_only_where_all_allow_it),
		cmocka_unit_test(a_link_that_begins_or_ends_to_rest_is_worth_it_once),
		cmocka_unit_test(a_drive_idles_no_deeper_than_its_p99_allows),
		cmocka_unit_test(
			how_deep_a_drive_idles_is_left_alone_unless_a_limit_holds_and_all_allow_it),
		cmocka_unit_test(how_deep_a_drive_idles_makes_no_choice_different),
		cmocka_unit_test(a_pool_rests_asleep_only_as_one),
		cmocka_unit_test(disks_that_rest_or_drain_do_not_take_turns),
		cmocka_unit_test(a_change_of_rest_alone_is_worth_it_once),
		cmocka_unit_test(
			a_pinned_power_state_is_set_where_neither_a_limit_nor_the_policy_forbids),
	};

	return cmocka_run_group_tests(tests, read_files, free_files);
}
