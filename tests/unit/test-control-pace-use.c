/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A stripe whose workload has few IOs out leaves a part of its members' paces, and is planned with
 * that: it is served what is planned for it, and draws no more. */

#include "test-control.h"

#include "control/enforce.h"
#include "control/pace-use.h"
#include "control/pools.h"
#include "control/served.h"

#define STRIPE                                                                                     \
	SIM_NODE("balanced")                                                                       \
	"[devices flash]\nprofile = samsung-pm9a3\ngroup = flash\nqueues = 1\ncount = 2\n"         \
	"read = 0%\nrandom = 100%\nread_size = 256K\nwrite_size = 256K\ndepth = 64\n"              \
	"demand = constant 900\npool = stripe\n"
#define PACE_W 4.0

static Managed *member(const Fixture *f, size_t index)
{
	return f->control->fleet.devices[index];
}

/* A look at a member that spends such a part of its pace, and waits so long for it. */
static void look(Fixture *f, Managed *md, double pace_w, double part, double wait_us)
{
	Workload *w = &md->workload;
	double price_j = mix_price_joules(md->device->profile, &w->mix);
	double iops = part * pace_w / price_j;

	md->knobs.actual = (Setting){ .power_state = -1, .pace_w = pace_w };
	w->rates.mb_s[WRITE_IO] = iops * 256 * 1024 / 1e6;
	w->rates.iops[WRITE_IO] = iops;
	w->rates.depth = 1;
	w->rates.latency_us = 100;
	w->rates.joules_per_s = part * pace_w;
	w->rates.wait_p50_us = w->rates.wait_p99_us = wait_us;
	workload_judge(md, f->control->policies.chosen, &f->control->tools);
	pace_use_judge(md, &f->control->tools);
}

/* One second in which the members spend such parts of their paces. */
static void second(Fixture *f, double pace_w, double first, double other)
{
	look(f, member(f, 1), pace_w, other, 20000);
	look(f, member(f, 0), pace_w, first, 20000);
}

/* Each member asks for 900 MB/s, and waits for 1 ms at most when nothing is set. */
static void ask_for_much(Fixture *f)
{
	for_each_device(Managed, md, &f->control->fleet)
	{
		Workload *w = &md->workload;

		w->mix = (Mix){ .random_share = 1, .read_kib = 256, .write_kib = 256, .depth = 64 };
		w->has_mix = true;
		w->rates = (MeterRates){
			.seconds = 1, .random_share = 1, .read_kib = NAN, .write_kib = 256
		};
		w->unheld.wait_p99_us = 1000;
		w->unheld.mb_s = w->demand_mb_s = 900;
		w->unheld.until_us = USEC_NEVER;
	}
}

static void open_stripe(Fixture *f)
{
	fixture_open_text(f, STRIPE);
	fixture_start(f);
	f->control->policies.chosen->forbidden = MECHANISM_ALL & ~MECHANISM_PACING;
	ask_for_much(f);
}

static double left(const Fixture *f)
{
	return pace_use_left(member(f, 1), &f->control->fleet);
}

static void what_a_stripe_leaves_of_its_paces_is_learned_for_all_members(void **state)
{
	Fixture f;

	(void)state;
	open_stripe(&f);
	assert_true(left(&f) == 0);
	for (int s = 0; s < 10; s++)
		second(&f, PACE_W, 0.9, 0.6);
	assert_float_equal(left(&f), 0.25, 0.01);
	assert_true(pace_use_left(member(&f, 0), &f.control->fleet) == left(&f));
	fixture_close(&f);
}

static void who_gets_all_that_it_asks_for_leaves_nothing_of_note(void **state)
{
	Fixture f;

	(void)state;
	open_stripe(&f);
	for (int s = 0; s < 10; s++) {
		look(&f, member(&f, 1), PACE_W, 0.6, 900);
		look(&f, member(&f, 0), PACE_W, 0.6, 900);
	}
	assert_true(left(&f) == 0);
	fixture_close(&f);
}

static void one_look_is_chance_but_who_spends_more_than_before_is_believed_at_once(void **state)
{
	Fixture f;

	(void)state;
	open_stripe(&f);
	second(&f, PACE_W, 0.5, 0.5); /* it began under another pace */
	second(&f, PACE_W, 0.5, 0.5);
	second(&f, PACE_W, 0.5, 0.5);
	assert_true(left(&f) == 0);
	second(&f, PACE_W, 0.5, 0.5);
	assert_float_equal(left(&f), 0.5, 1e-9);
	second(&f, PACE_W, 1, 1);
	assert_float_equal(left(&f), 0, 1e-9);
	fixture_close(&f);
}

static void what_differs_from_look_to_look_is_its_mean(void **state)
{
	double least = 1, most = 0;
	Fixture f;

	(void)state;
	open_stripe(&f);
	for (int s = 0; s < 40; s++) {
		second(&f, PACE_W, 0.9 + 0.04 * (s % 3 - 1), 0.9 + 0.04 * (s % 3 - 1));
		if (s > 12) {
			least = MIN(least, left(&f));
			most = MAX(most, left(&f));
		}
	}
	assert_true(least > 0.09 && most < 0.11);
	fixture_close(&f);
}

static void a_pause_and_a_lifted_pace_forget_it(void **state)
{
	Fixture f;

	(void)state;
	open_stripe(&f);
	for (int pause = 0; pause < 2; pause++) {
		for (int s = 0; s < 5; s++)
			second(&f, PACE_W, 0.5, 0.5);
		assert_true(left(&f) > 0.3);
		second(&f, pause ? PACE_W : 0, 0, 0);
		assert_true(left(&f) == 0);
	}
	fixture_close(&f);
}

static void the_members_of_a_stripe_that_is_held_back_ask_for_what_they_serve_of_it(void **state)
{
	Fixture f;

	(void)state;
	open_stripe(&f);
	member(&f, 0)->workload.unheld.mb_s = 1200;
	for (int s = 0; s < 60; s++)
		second(&f, PACE_W, s % 2 ? 0.6 : 0.8, s % 2 ? 0.8 : 0.6);
	assert_float_equal(member(&f, 0)->workload.demand_mb_s, 1200, 1e-9);
	for (size_t i = 0; i < 2; i++)
		assert_float_equal(served_demand_mb_s(member(&f, i), &f.control->fleet), 1050, 30);
	fixture_close(&f);
}

static void devices_of_no_pool_have_none(void **state)
{
	Fixture f;

	(void)state;
	open_stripe(&f);
	member(&f, 0)->device->pool[0] = member(&f, 1)->device->pool[0] = '\0';
	pools_find(&f.control->fleet, &f.control->config);
	for (int s = 0; s < 10; s++)
		second(&f, PACE_W, 0.5, 0.5);
	assert_true(left(&f) == 0);
	fixture_close(&f);
}

/* What a plan made now gives the first member. */
static PlannedDevice plan_now(Fixture *f)
{
	bool changes;
	Need more;

	assert_int_equal(enforce_plan(f->control, false, &changes, &more), 0);
	return member(f, 0)->planned.device;
}

/* Plans before and after it is learned that a quarter of the paces is left. */
static void plan_twice(Fixture *f, double tolerance_s, PlannedDevice *ret_before,
		       PlannedDevice *ret_after)
{
	Claim c = { .limit = 14,
		    .class = CLASS_OPERATOR,
		    .source = "test",
		    .reason = "test",
		    .expiry_us = USEC_NEVER,
		    .tolerance_s = tolerance_s };

	open_stripe(f);
	fixture_claim(f, &c);
	ask_for_much(f);
	*ret_before = plan_now(f);
	assert_true(ret_before->setting.pace_w > 0);
	for (int s = 0; s < 10; s++)
		second(f, ret_before->setting.pace_w, 0.75, 0.75);
	assert_float_equal(left(f), 0.25, 0.01);
	assert_true(pace_use_is_news(member(f, 0), &f->control->fleet));
	*ret_after = plan_now(f);
	assert_true(!pace_use_is_news(member(f, 0), &f->control->fleet));
}

static void a_stripe_that_leaves_some_is_paced_to_more_and_planned_to_draw_the_same(void **state)
{
	PlannedDevice before, after;
	Fixture f;

	(void)state;
	plan_twice(&f, 3, &before, &after);
	assert_float_equal(after.setting.pace_w * 0.75, before.setting.pace_w,
			   0.02 * before.setting.pace_w);
	assert_float_equal(after.expect_w, before.expect_w, 0.02 * before.expect_w);
	assert_float_equal(after.mb_s, before.mb_s, 0.02 * before.mb_s);
	fixture_close(&f);
}

static void a_limit_that_tolerates_nothing_paces_it_to_no_more_and_promises_less(void **state)
{
	PlannedDevice before, after;
	Fixture f;

	(void)state;
	plan_twice(&f, 0, &before, &after);
	assert_true(after.cap_w <= before.cap_w * 1.001);
	assert_float_equal(after.mb_s, 0.75 * before.mb_s, 0.02 * before.mb_s);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_stripe_leaves_of_its_paces_is_learned_for_all_members),
		cmocka_unit_test(who_gets_all_that_it_asks_for_leaves_nothing_of_note),
		cmocka_unit_test(
			one_look_is_chance_but_who_spends_more_than_before_is_believed_at_once),
		cmocka_unit_test(what_differs_from_look_to_look_is_its_mean),
		cmocka_unit_test(a_pause_and_a_lifted_pace_forget_it),
		cmocka_unit_test(
			the_members_of_a_stripe_that_is_held_back_ask_for_what_they_serve_of_it),
		cmocka_unit_test(devices_of_no_pool_have_none),
		cmocka_unit_test(
			a_stripe_that_leaves_some_is_paced_to_more_and_planned_to_draw_the_same),
		cmocka_unit_test(
			a_limit_that_tolerates_nothing_paces_it_to_no_more_and_promises_less),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
