/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is asked of a device: who is held back is not taken to ask for less because it is served
 * less. */

#include "test-control.h"

#include "control/fleet.h"
#include "control/pools.h"

#define PAIR                                                                                       \
	SIM_NODE("balanced")                                                                       \
	"[devices flash]\nprofile = samsung-pm9a3\ngroup = flash\nqueues = 1\ncount = 2\n"         \
	"read = 0%\nrandom = 100%\nread_size = 256K\nwrite_size = 256K\ndepth = 64\n"              \
	"demand = constant 900\n"

static const Setting shaped = { .power_state = -1, .depth = 16, .chunk_kib = 32 };
static const Setting paced = { .power_state = -1, .pace_w = 4 };

/* A look at a device that serves so much, with so many outstanding. */
static void look(Fixture *f, Managed *md, const Setting *s, double mb_s, double depth)
{
	Workload *w = &md->workload;
	double iops = mb_s * 1e6 / (256 * 1024);

	md->knobs.actual = *s;
	w->rates.mb_s[WRITE_IO] = mb_s;
	w->rates.iops[WRITE_IO] = iops;
	w->rates.depth = depth;
	w->rates.latency_us = 1e6 * depth / iops;
	w->rates.joules_per_s = iops * mix_price_joules(md->device->profile, &w->mix);
	workload_judge(md, f->control->policies.chosen, &f->control->tools);
}

/* Two devices that ask for 900 MB/s each when nothing holds them. */
static Managed *open_pair(Fixture *f, const char *node)
{
	Managed *md;

	fixture_open_text(f, node);
	fixture_start(f);
	for_each_device(Managed, each, &f->control->fleet)
	{
		each->workload.mix =
			(Mix){ .random_share = 1, .read_kib = 256, .write_kib = 256, .depth = 64 };
		each->workload.has_mix = true;
		each->workload.rates = (MeterRates){ .seconds = 1,
						     .random_share = 1,
						     .read_kib = NAN,
						     .write_kib = 256,
						     .wait_p50_us = NAN,
						     .wait_p99_us = NAN };
		look(f, each, &SETTING_AS_FOUND, 900, 3);
	}
	md = f->control->fleet.devices[0];
	assert_true(md->workload.demand_mb_s == 900);
	return md;
}

static void who_is_not_held_back_asks_for_what_it_is_served(void **state)
{
	Managed *md;
	Fixture f;

	(void)state;
	md = open_pair(&f, PAIR);
	look(&f, md, &SETTING_AS_FOUND, 300, 2);
	assert_true(md->workload.demand_mb_s == 300);
	look(&f, md, &paced, 100, 1);
	assert_true(md->workload.demand_mb_s == 100);
	fixture_close(&f);
}

static void one_look_with_depth_to_spare_lowers_no_demand(void **state)
{
	Managed *md;
	Fixture f;

	(void)state;
	md = open_pair(&f, PAIR);
	look(&f, md, &shaped, 400, 15.9);
	for (int i = 0; i < 2; i++)
		look(&f, md, &shaped, 100, 0.5);
	assert_true(md->workload.demand_mb_s > 800);
	look(&f, md, &shaped, 100, 0.5);
	assert_true(md->workload.demand_mb_s == 100);
	fixture_close(&f);
}

static void a_look_that_began_under_another_shape_tells_nothing_of_the_mix(void **state)
{
	Managed *md;
	Fixture f;

	(void)state;
	md = open_pair(&f, PAIR);
	look(&f, md, &shaped, 400, 15.9);
	md->workload.last_io_us = now_us(&f);
	md->workload.rates.random_share = 0;
	md->workload.rates.write_kib = 20;
	look(&f, md, &SETTING_AS_FOUND, 400, 15.9);
	assert_true(md->workload.mix.random_share > 0.9 && md->workload.mix.write_kib > 250);
	look(&f, md, &SETTING_AS_FOUND, 400, 15.9);
	assert_true(md->workload.mix.random_share < 0.6 && md->workload.mix.write_kib < 200);
	fixture_close(&f);
}

/* A look with IO of now; what it is judged by is the workload's depth. */
static double depth_seen(Fixture *f, Managed *md, const Setting *s, double mb_s, double depth)
{
	md->workload.last_io_us = now_us(f);
	look(f, md, s, mb_s, depth);
	return md->workload.mix.depth;
}

static void who_is_paced_keeps_the_depth_that_it_had_for_a_quarter_of_an_hour(void **state)
{
	Managed *md;
	double mb_s;
	Fixture f;

	(void)state;
	md = open_pair(&f, PAIR);
	mb_s = paced.pace_w / mix_price_joules(md->device->profile, &md->workload.mix) * 256 *
	       1024 / 1e6;
	assert_true(depth_seen(&f, md, &SETTING_AS_FOUND, 900, 20) == 20);
	for (int i = 0; i < 20; i++)
		assert_true(depth_seen(&f, md, &paced, mb_s, 1) == 20);
	md->workload.unheld.until_us = now_us(&f);
	(void)depth_seen(&f, md, &paced, mb_s, 1);
	assert_true(depth_seen(&f, md, &paced, mb_s, 1) == 32);
	assert_true(isinf(md->workload.demand_mb_s));
	assert_true(depth_seen(&f, md, &SETTING_AS_FOUND, 900, 7) == 7);
	fixture_close(&f);
}

/* A disk whose IO was sequential until now, which takes less than the random IO of this look. */
static void a_look_is_judged_by_what_was_asked_in_it_alone(void **state)
{
	const Setting slow = { .power_state = -1, .pace_w = 0.5 };
	Workload *w;
	Managed *md;
	Fixture f;
	Mix mix;

	(void)state;
	fixture_open_text(&f, SIM_NODE("balanced") "[devices disk]\nprofile = "
						   "seagate-exos-7e2000\ndemand = saturate\n");
	fixture_start(&f);
	md = f.control->fleet.devices[0];
	w = &md->workload;
	mix = (Mix){ .random_share = 1, .read_kib = 16, .write_kib = 16, .depth = 8 };
	w->mix = (Mix){ .read_kib = 16, .write_kib = 16, .depth = 8 };
	w->has_mix = true;
	w->rates = (MeterRates){ .seconds = 1,
				 .read_share = 0,
				 .random_share = 1,
				 .read_kib = NAN,
				 .write_kib = 16,
				 .wait_p50_us = NAN,
				 .wait_p99_us = NAN,
				 .joules_per_s = NAN };
	w->rates.iops[WRITE_IO] = slow.pace_w / mix_price_joules(md->device->profile, &mix);
	w->rates.mb_s[WRITE_IO] = w->rates.iops[WRITE_IO] * 16 * 1024 / 1e6;
	md->knobs.actual = w->judged.at = slow;
	workload_judge(md, f.control->policies.chosen, &f.control->tools);
	assert_true(isinf(w->demand_mb_s));
	fixture_close(&f);
}

static void who_was_paced_slower_a_moment_ago_is_held_back(void **state)
{
	const Setting slower = { .power_state = -1, .pace_w = 1 };
	Managed *md;
	double mb_s;
	Fixture f;

	(void)state;
	md = open_pair(&f, PAIR);
	mb_s = 1 / mix_price_joules(md->device->profile, &md->workload.mix) * 256 * 1024 / 1e6;
	look(&f, md, &slower, mb_s, 1);
	look(&f, md, &paced, mb_s, 1);
	assert_true(md->workload.demand_mb_s > 800);
	look(&f, md, &paced, mb_s, 1);
	assert_true(md->workload.demand_mb_s == mb_s);
	fixture_close(&f);
}

static void who_waits_much_longer_than_before_the_limit_is_held_back(void **state)
{
	Managed *md;
	Fixture f;

	(void)state;
	md = open_pair(&f, PAIR);
	md->workload.unheld.wait_p99_us = 1000;
	md->workload.rates.wait_p99_us = 4100;
	look(&f, md, &paced, 100, 1);
	assert_true(md->workload.demand_mb_s > 800);
	md->workload.rates.wait_p99_us = 3900;
	look(&f, md, &paced, 100, 1);
	assert_true(md->workload.demand_mb_s == 100);
	fixture_close(&f);
}

static void who_came_under_a_limit_is_held_back_where_it_waits_long_beside_the_device(void **state)
{
	Managed *md;
	Fixture f;

	(void)state;
	md = open_pair(&f, PAIR);
	md->workload.unheld.wait_p99_us = NAN;
	md->workload.rates.wait_p50_us = 4.1 * 1e6 * 1 / (100e6 / (256 * 1024));
	look(&f, md, &paced, 100, 1);
	assert_true(md->workload.demand_mb_s > 800);
	md->workload.rates.wait_p50_us = 3.9 * 1e6 * 1 / (100e6 / (256 * 1024));
	look(&f, md, &paced, 100, 1);
	assert_true(md->workload.demand_mb_s == 100);
	fixture_close(&f);
}

static void who_works_for_a_pool_waits_for_the_member_that_is_held_back(void **state)
{
	Managed *md, *other;
	Fixture f;

	(void)state;
	md = open_pair(&f, PAIR "pool = stripe\n");
	other = f.control->fleet.devices[1];
	look(&f, other, &shaped, 400, 15.9);
	look(&f, md, &paced, 100, 1);
	assert_true(md->workload.demand_mb_s > 800);
	look(&f, other, &SETTING_AS_FOUND, 300, 2);
	look(&f, md, &paced, 100, 1);
	assert_true(md->workload.demand_mb_s == 100);
	fixture_close(&f);
}

static void a_member_that_is_gone_holds_no_pool_back(void **state)
{
	Managed *md, *other;
	Fixture f;

	(void)state;
	md = open_pair(&f, PAIR "pool = stripe\n");
	other = f.control->fleet.devices[1];
	look(&f, other, &shaped, 400, 15.9);
	assert_true(pools_hold_back(&f.control->fleet, md));
	assert_false(pools_hold_back(&f.control->fleet, other));
	pools_find(&f.control->fleet, &f.control->config);
	assert_true(pools_hold_back(&f.control->fleet, md));
	fleet_remove(&f.control->fleet, other, &f.control->tools);
	assert_false(pools_hold_back(&f.control->fleet, md));
	fixture_close(&f);
}

/* What it is served then is a share of what is believed, and may never be more than that. */
static void who_gets_more_than_it_asked_for_asks_for_more_until_nothing_holds_it_back(void **state)
{
	const Setting slow = { .power_state = -1, .pace_w = 1 };
	Managed *md;
	double mb_s;
	Fixture f;

	(void)state;
	md = open_pair(&f, PAIR);
	md->workload.unheld.mb_s = 10;
	mb_s = slow.pace_w / mix_price_joules(md->device->profile, &md->workload.mix) * 256 * 1024 /
	       1e6;
	for (int i = 0; i < 3; i++)
		look(&f, md, &slow, mb_s, 1);
	assert_true(md->workload.demand_mb_s > 1.5 * mb_s && isfinite(md->workload.demand_mb_s));
	for (int i = 0; i < 40; i++)
		look(&f, md, &slow, mb_s, 1);
	assert_true(isinf(md->workload.demand_mb_s));
	look(&f, md, &slow, mb_s / 2, 1);
	assert_true(md->workload.demand_mb_s == mb_s / 2);
	fixture_close(&f);
}

static void who_has_spent_its_pace_without_more_asks_for_what_it_asked_before(void **state)
{
	Managed *md;
	double mb_s;
	Fixture f;

	(void)state;
	md = open_pair(&f, PAIR);
	mb_s = 4 / mix_price_joules(md->device->profile, &md->workload.mix) * 256 * 1024 / 1e6;
	assert_true(mb_s < 900);
	for (int i = 0; i < 40; i++)
		look(&f, md, &paced, mb_s, 1);
	assert_true(md->workload.demand_mb_s == 900);
	fixture_close(&f);
}

static void what_a_disk_serves_while_it_wakes_is_not_what_is_asked_of_it(void **state)
{
	Managed *md;
	Fixture f;

	(void)state;
	fixture_open_text(&f, SIM_NODE("balanced") SIM_DISK "demand = idle\n");
	fixture_start(&f);
	fixture_run(&f, 10);
	md = f.control->fleet.devices[0];
	md->workload.mix =
		(Mix){ .random_share = 1, .write_kib = 256, .read_kib = 256, .depth = 8 };
	md->workload.rates.seconds = 1;
	md->waking = (Waking){ .state = WAKING_SPINNING_UP,
			       .reason = WAKE_BY_IO,
			       .woke_us = now_us(&f) - 3 * USEC_PER_SEC };
	look(&f, md, &SETTING_AS_FOUND, 0, 0);
	assert_true(isinf(md->workload.demand_mb_s));
	md->waking.state = WAKING_SETTLED;
	look(&f, md, &SETTING_AS_FOUND, 2, 1);
	assert_true(isinf(md->workload.demand_mb_s));
	look(&f, md, &SETTING_AS_FOUND, 4, 1);
	assert_true(md->workload.demand_mb_s == 4);
	fixture_close(&f);
}

#define COLD                                                                                       \
	"[devices cold]\nprofile = seagate-exos-7e2000\ngroup = cold\nread = 90%\n"                \
	"random = 30%\nread_size = 256K\nwrite_size = 256K\ndepth = 8\n"                           \
	"demand = 0:0 2400900ms:60\n"

static void a_disk_that_io_wakes_gets_its_floor_before_long(void **state)
{
	Managed *md;
	double before;
	Fixture f;

	(void)state;
	fixture_open_text(&f, SIM_NODE("balanced") SIM_FLASH "demand = saturate\ncount = 4\n" COLD);
	fixture_start(&f);
	fixture_run(&f, 60);
	fixture_set(&f, "60%");
	fixture_run(&f, 38 * 60);
	md = managed(&f, "sda");
	assert_true(managed_asleep(md));
	fixture_run(&f, 70);
	before = account_of(&f, "sda").served_bytes;
	fixture_run(&f, 60);
	assert_false(managed_asleep(md));
	assert_true(account_of(&f, "sda").served_bytes - before >= 0.25 * 60e6 * 60);
	fixture_close(&f);
}

static void who_works_for_a_pool_that_spreads_waits_for_no_other_leg(void **state)
{
	PoolConfig mirror = { "stripe", true };
	Managed *md, *other;
	Fixture f;

	(void)state;
	md = open_pair(&f, PAIR "pool = stripe\n");
	other = f.control->fleet.devices[1];
	f.control->config.limit.pools = &mirror;
	f.control->config.limit.n_pools = 1;
	pools_find(&f.control->fleet, &f.control->config);
	look(&f, other, &shaped, 400, 15.9);
	look(&f, md, &paced, 100, 1);
	assert_true(md->workload.demand_mb_s == 100);
	fixture_close(&f);
}

static void a_pool_is_planned_as_one_that_spreads_where_the_configuration_says_so(void **state)
{
	PoolConfig mirror = { "stripe", true };
	Fixture f;
	Facts facts;

	(void)state;
	(void)open_pair(&f, PAIR "pool = stripe\n");
	for (int said = 0; said < 2; said++) {
		f.control->config.limit.pools = &mirror;
		f.control->config.limit.n_pools = said;
		assert_int_equal(gather_facts(f.control, gather_policy(f.control), &facts), 0);
		for (int i = 0; i < 2; i++) {
			assert_int_equal(facts.devices[i].pool, 0);
			assert_int_equal(facts.devices[i].spreads, said);
		}
		facts_done(&facts);
	}
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_not_held_back_asks_for_what_it_is_served),
		cmocka_unit_test(one_look_with_depth_to_spare_lowers_no_demand),
		cmocka_unit_test(a_look_that_began_under_another_shape_tells_nothing_of_the_mix),
		cmocka_unit_test(who_is_paced_keeps_the_depth_that_it_had_for_a_quarter_of_an_hour),
		cmocka_unit_test(a_look_is_judged_by_what_was_asked_in_it_alone),
		cmocka_unit_test(who_was_paced_slower_a_moment_ago_is_held_back),
		cmocka_unit_test(who_waits_much_longer_than_before_the_limit_is_held_back),
		cmocka_unit_test(
			who_came_under_a_limit_is_held_back_where_it_waits_long_beside_the_device),
		cmocka_unit_test(who_works_for_a_pool_waits_for_the_member_that_is_held_back),
		cmocka_unit_test(a_member_that_is_gone_holds_no_pool_back),
		cmocka_unit_test(
			who_gets_more_than_it_asked_for_asks_for_more_until_nothing_holds_it_back),
		cmocka_unit_test(who_has_spent_its_pace_without_more_asks_for_what_it_asked_before),
		cmocka_unit_test(what_a_disk_serves_while_it_wakes_is_not_what_is_asked_of_it),
		cmocka_unit_test(a_disk_that_io_wakes_gets_its_floor_before_long),
		cmocka_unit_test(who_works_for_a_pool_that_spreads_waits_for_no_other_leg),
		cmocka_unit_test(
			a_pool_is_planned_as_one_that_spreads_where_the_configuration_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
