/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* When disks are put to sleep and woken: on simulated nodes and virtual time. */

#include <errno.h>

#include "test-control.h"

#define DISKS(n)                                                                                   \
	"[devices disk]\ncount = " #n                                                              \
	"\nprofile = seagate-constellation-es2\ngroup = bulk\nread = 60%\nrandom = 70%\n"          \
	"read_size = 256K\nwrite_size = 256K\ndepth = 16\n"
#define IDLE   "demand = idle\n"
#define HOUR_S 3600

static void open_idle(Fixture *f, const char *node)
{
	fixture_open_text(f, node);
	fixture_start(f);
	fixture_run(f, 5);
}

/* Until all sleep. */
static uint64_t put_to_sleep(Fixture *f, const char *limit)
{
	uint64_t cookie = fixture_set(f, limit);

	fixture_run(f, 120);
	assert_int_equal(count_asleep(f), f->control->fleet.n);
	return cookie;
}

static void giving_a_budget_back_wakes_nothing_by_itself(void **state)
{
	Fixture f;
	uint64_t cookie;
	char *error = NULL;

	(void)state;
	open_idle(&f, SIM_NODE("archive") DISKS(4) IDLE);
	cookie = put_to_sleep(&f, "8 W");
	fixture_release(&f, cookie);
	fixture_run(&f, HOUR_S);
	assert_int_equal(count_asleep(&f), 4);
	assert_int_equal(count_wakeups(&f, NULL), 0);
	assert_int_equal(control_wake_device(f.control, "", &error), 0);
	fixture_run(&f, 120);
	assert_int_equal(count_asleep(&f), 0);
	assert_int_equal(count_wakeups(&f, "asked for"), 4);
	fixture_close(&f);
}

/* An idle disk rests in a light condition at first, and is due for a deeper one some seconds later:
 * a budget may be set at any moment of that. */
static void a_disk_that_sleeps_lightly_goes_deeper_where_the_budget_needs_it(void **state)
{
	(void)state;
	for (double idle_s = 0.5; idle_s < 8; idle_s += 0.5) {
		Fixture f;

		fixture_open_text(&f, SIM_NODE("emergency") DISKS(3) IDLE);
		fixture_start(&f);
		fixture_run(&f, idle_s);
		fixture_set(&f, "5 W");
		fixture_run(&f, 60);
		for (size_t i = 0; i < 3; i++)
			assert_int_equal(f.control->fleet.devices[i]->knobs.actual.condition,
					 CONDITION_STANDBY_Z);
		fixture_close(&f);
	}
}

static void a_disk_that_is_not_there_cannot_be_woken(void **state)
{
	Fixture f;
	char *error = NULL;

	(void)state;
	open_idle(&f, SIM_NODE("archive") DISKS(1) IDLE);
	assert_int_equal(control_wake_device(f.control, "sdz", &error), -ENODEV);
	assert_non_null(strstr(error, "sdz"));
	free(error);
	fixture_close(&f);
}

/* The most that wake together. */
static size_t wake_all(Fixture *f)
{
	char *error = NULL;
	size_t most = 0;

	assert_int_equal(control_wake_device(f->control, "", &error), 0);
	most = count_waking(f);
	for (unsigned i = 0; i < 1200 && count_asleep(f); i++) {
		fixture_run(f, 0.1);
		most = MAX(most, count_waking(f));
	}
	assert_int_equal(count_asleep(f), 0);
	return most;
}

static void no_more_spin_up_at_once_than_configured(void **state)
{
	Fixture f;

	(void)state;
	open_idle(&f, SIM_NODE("archive") DISKS(6) IDLE);
	f.control->config.sleep.spinups_at_once = 3;
	fixture_release(&f, put_to_sleep(&f, "12 W"));
	assert_int_equal(wake_all(&f), 3);
	fixture_close(&f);
}

static void spin_ups_stay_below_the_power_they_may_draw_together(void **state)
{
	Fixture f;

	(void)state;
	open_idle(&f, SIM_NODE("archive") DISKS(6) IDLE);
	f.control->config.sleep.spinup_w = 100; /* of 23.6 W each */
	fixture_release(&f, put_to_sleep(&f, "12 W"));
	assert_int_equal(wake_all(&f), 4);
	fixture_close(&f);
}

static size_t count_busy(const Fixture *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->control->fleet.n; i++)
		n += f->control->fleet.devices[i]->errands.busy;
	return n;
}

static void a_spin_up_that_takes_longer_than_the_profile_says_keeps_the_next_waiting(void **state)
{
	FaultyDevice slow[4];
	Fixture f;

	(void)state;
	open_idle(&f, SIM_NODE("archive") DISKS(4) IDLE);
	fixture_release(&f, put_to_sleep(&f, "8 W"));
	for (size_t i = 0; i < 4; i++) {
		faulty_device_wrap(&slow[i], f.control->fleet.devices[i]->device, &f.loop->clock);
		slow[i].late = true;
		slow[i].hang_us = 20 * USEC_PER_SEC;
	}
	assert_int_equal(control_wake_device(f.control, "", &(char *){ NULL }), 0);
	for (unsigned i = 0; i < 1200 && (count_asleep(&f) || count_busy(&f)); i++) {
		fixture_run(&f, 0.1);
		assert_in_range(count_busy(&f), 0, 2);
		assert_in_range(count_waking(&f), count_busy(&f), 2);
	}
	assert_int_equal(count_asleep(&f), 0);
	assert_int_equal(count_waking(&f), 0);
	fixture_close(&f);
}

static void disks_wake_under_a_budget_one_by_one_where_it_bears_no_more(void **state)
{
	Fixture f;
	uint64_t cookie;
	size_t most = 0;

	(void)state;
	open_idle(&f, SIM_NODE("archive") DISKS(4) IDLE);
	cookie = put_to_sleep(&f, "12 W");
	fixture_set(&f, "60 W");
	fixture_release(&f, cookie);
	control_wake_device(f.control, "", &(char *){ NULL });
	for (unsigned i = 0; i < 1200 && count_asleep(&f); i++) {
		fixture_run(&f, 0.1);
		most = MAX(most, count_waking(&f));
		assert_true(caps_sum_w(&f.control->fleet) <= 60 + EPSILON_W);
	}
	assert_int_equal(count_asleep(&f), 0);
	assert_in_range(most, 1, 2);
	fixture_close(&f);
}

static void a_disk_without_cycles_left_stays_up_and_the_budget_is_missed(void **state)
{
	Fixture f;
	ControlState s;
	DeviceState d;

	(void)state;
	open_idle(&f, SIM_NODE("archive") DISKS(2) IDLE);
	for (size_t i = 0; i < 2; i++)
		f.control->fleet.devices[i]->wear.account->starts = 0;
	f.control->config.sleep.cycles_a_day = 0;
	fixture_set(&f, "6 W");
	fixture_run(&f, 600);
	for (size_t i = 0; i < 2; i++)
		assert_true(f.control->fleet.devices[i]->knobs.actual.condition <
			    CONDITION_STANDBY_Y);
	control_state(f.control, &s);
	assert_true(s.degraded);
	assert_true(s.shortfall_w > 0);
	assert_int_equal(control_device(f.control, 0, &d), 0);
	assert_true(d.sleep.starts_left < 1);
	fixture_close(&f);
}

/* Idle_c parks the heads and is paid from the other bucket. */
static void shallower_conditions_carry_the_budget_when_stops_are_spent(void **state)
{
	Fixture f;

	(void)state;
	open_idle(&f, SIM_NODE("archive") DISKS(2) IDLE);
	for (size_t i = 0; i < 2; i++)
		f.control->fleet.devices[i]->wear.account->starts = 0;
	fixture_set(&f, "10 W");
	fixture_run(&f, 300);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(f.control->fleet.devices[i]->knobs.actual.condition,
				 CONDITION_IDLE_C);
	fixture_close(&f);
}

static void the_account_is_charged_before_a_disk_stops_and_outlives_a_restart(void **state)
{
	Fixture f;
	double left;

	(void)state;
	open_idle(&f, SIM_NODE("archive") DISKS(1) IDLE);
	left = f.control->fleet.devices[0]->wear.account->starts;
	put_to_sleep(&f, "3 W");
	assert_true(f.control->fleet.devices[0]->wear.account->starts < left - 0.9);
	assert_int_equal(f.control->fleet.devices[0]->wear.account->starts_used, 1);
	fixture_stop(&f);
	fixture_start(&f);
	assert_int_equal(f.control->fleet.devices[0]->wear.account->starts_used, 1);
	assert_true(f.control->fleet.devices[0]->wear.account->starts < left - 0.5);
	fixture_close(&f);
}

static void a_disk_found_asleep_is_known_to_be(void **state)
{
	Fixture f;

	(void)state;
	open_idle(&f, SIM_NODE("archive") DISKS(1) IDLE);
	fixture_release(&f, put_to_sleep(&f, "3 W"));
	fixture_stop(&f);
	fixture_start(&f);
	assert_int_equal(count_asleep(&f), 1);
	assert_int_equal(journal_size(f.control->tools.journal), 0);
	assert_int_equal(wake_all(&f), 1);
	fixture_close(&f);
}

static void an_idle_disk_rests_under_a_budget_and_is_left_alone_without(void **state)
{
	Fixture f;
	Managed *md;

	(void)state;
	open_idle(&f, SIM_NODE("balanced") DISKS(1) IDLE);
	md = f.control->fleet.devices[0];
	fixture_run(&f, 300);
	assert_int_equal(md->knobs.actual.condition, CONDITION_ACTIVE);
	fixture_set(&f, "100%");
	fixture_run(&f, 300);
	assert_int_equal(md->knobs.actual.condition, CONDITION_IDLE_B);
	fixture_close(&f);
}

#define SSD                                                                                        \
	"[devices ssd]\nprofile = samsung-860-evo\nread = 100%\nrandom = 100%\n"                   \
	"read_size = 16K\nwrite_size = 16K\ndepth = 1\n"

static double joules_in(Fixture *f, const char *device, uint64_t seconds)
{
	double before = account_of(f, device).joules;

	fixture_run(f, seconds);
	return account_of(f, device).joules - before;
}

static void the_link_of_an_idle_ssd_sleeps_under_a_budget_and_its_watts_follow(void **state)
{
	const Profile *p;
	Fixture f;
	uint64_t cookie;

	(void)state;
	open_idle(&f, SIM_NODE("balanced") SSD IDLE);
	p = managed(&f, "sda")->device->profile;
	fixture_run(&f, 300);
	assert_string_equal(value_of(&f, "sda", "link-power").text, "max_performance");
	assert_float_equal(joules_in(&f, "sda", 100), 100 * p->idle_w, 2.1);
	cookie = fixture_set(&f, "100%");
	fixture_run(&f, 300);
	assert_string_equal(value_of(&f, "sda", "link-power").text, "med_power_with_dipm");
	assert_float_equal(joules_in(&f, "sda", 100), 100 * (p->idle_w - p->link_saving_w), 1.1);
	fixture_release(&f, cookie);
	fixture_run(&f, 10);
	assert_string_equal(value_of(&f, "sda", "link-power").text, "max_performance");
	assert_int_equal(journal_size(f.control->tools.journal), 0);
	fixture_close(&f);
}

/* One IO in 600 s waits for the link; all that follow find it awake, as it is given back then. */
static void a_link_that_sleeps_is_waited_for_once_and_given_back_to_who_works(void **state)
{
	Fixture f;
	SimAccount a;

	(void)state;
	open_idle(&f, SIM_NODE("balanced") SSD "demand = 0:0 10min:5\n");
	fixture_set(&f, "100%");
	fixture_run(&f, 580);
	assert_string_equal(value_of(&f, "sda", "link-power").text, "med_power_with_dipm");
	fixture_run(&f, 60);
	assert_string_equal(value_of(&f, "sda", "link-power").text, "max_performance");
	a = account_of(&f, "sda");
	assert_true(a.late_reads >= 1 && a.late_reads <= 10);
	assert_true(sim_account_read_us(&a, 1) >= 0.1e6);
	assert_true(sim_account_read_us(&a, 0.99) < 0.1e6);
	assert_int_equal(a.spin_ups, 0);
	fixture_close(&f);
}

static void a_busy_disk_does_not_rest(void **state)
{
	Fixture f;

	(void)state;
	open_idle(&f, SIM_NODE("balanced") DISKS(1) "demand = constant 5\n");
	fixture_set(&f, "90%");
	fixture_run(&f, 600);
	assert_int_equal(f.control->fleet.devices[0]->knobs.actual.condition, CONDITION_ACTIVE);
	assert_int_equal(count_decisions(&f, NULL, "condition: "), 0);
	fixture_close(&f);
}

static void members_of_a_pool_sleep_and_wake_together(void **state)
{
	Fixture f;
	uint64_t cookie;

	(void)state;
	open_idle(&f, SIM_NODE("archive") DISKS(6) "pool = tank\n" IDLE);
	f.control->config.sleep.spinups_at_once = 6;
	cookie = put_to_sleep(&f, "12 W");
	fixture_release(&f, cookie);
	control_wake_device(f.control, f.control->fleet.devices[2]->device->name,
			    &(char *){ NULL });
	fixture_run(&f, 60);
	assert_int_equal(count_asleep(&f), 0);
	assert_int_equal(count_wakeups(&f, "asked for"), 1);
	assert_int_equal(count_wakeups(&f, "its pool wakes"), 5);
	fixture_close(&f);
}

static void a_pool_with_a_busy_member_stays_up(void **state)
{
	Fixture f;

	(void)state;
	open_idle(
		&f,
		SIM_NODE("archive") DISKS(
			3) "pool = tank\n" IDLE
			   "[devices busy]\nprofile = seagate-constellation-es2\npool = tank\n"
			   "read = 60%\nrandom = 70%\nread_size = 256K\nwrite_size = 256K\ndepth = 4\n"
			   "demand = constant 5\n");
	fixture_set(&f, "50%");
	fixture_run(&f, HOUR_S);
	assert_int_equal(count_asleep(&f), 0);
	fixture_close(&f);
}

static size_t count_planned_asleep(const Fixture *f, const char *policy)
{
	_cleanup_(plan_freep) Plan *p = NULL;
	_cleanup_free_ char *why = NULL;
	const PlanQuery query = { .budget_w = 200, .policy = policy };
	size_t n = 0;

	assert_int_equal(control_plan(f->control, &query, &p, &why), 0);
	for (size_t i = 0; i < f->control->fleet.n; i++)
		n += setting_sleeps(&p->devices[i].setting);
	return n;
}

/* Three minutes without IO are enough for one policy, and not for the other. */
static void a_dry_run_lets_disks_sleep_by_the_policy_that_it_asks_for(void **state)
{
	Fixture f;

	(void)state;
	open_idle(&f, SIM_NODE("balanced") DISKS(4) IDLE);
	fixture_set(&f, "100%");
	fixture_run(&f, 300);
	assert_int_equal(count_planned_asleep(&f, NULL), 0);
	assert_int_equal(count_planned_asleep(&f, "archive"), 4);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(giving_a_budget_back_wakes_nothing_by_itself),
		cmocka_unit_test(a_disk_that_sleeps_lightly_goes_deeper_where_the_budget_needs_it),
		cmocka_unit_test(a_disk_that_is_not_there_cannot_be_woken),
		cmocka_unit_test(no_more_spin_up_at_once_than_configured),
		cmocka_unit_test(spin_ups_stay_below_the_power_they_may_draw_together),
		cmocka_unit_test(
			a_spin_up_that_takes_longer_than_the_profile_says_keeps_the_next_waiting),
		cmocka_unit_test(disks_wake_under_a_budget_one_by_one_where_it_bears_no_more),
		cmocka_unit_test(a_disk_without_cycles_left_stays_up_and_the_budget_is_missed),
		cmocka_unit_test(shallower_conditions_carry_the_budget_when_stops_are_spent),
		cmocka_unit_test(the_account_is_charged_before_a_disk_stops_and_outlives_a_restart),
		cmocka_unit_test(a_disk_found_asleep_is_known_to_be),
		cmocka_unit_test(an_idle_disk_rests_under_a_budget_and_is_left_alone_without),
		cmocka_unit_test(
			the_link_of_an_idle_ssd_sleeps_under_a_budget_and_its_watts_follow),
		cmocka_unit_test(a_link_that_sleeps_is_waited_for_once_and_given_back_to_who_works),
		cmocka_unit_test(a_busy_disk_does_not_rest),
		cmocka_unit_test(members_of_a_pool_sleep_and_wake_together),
		cmocka_unit_test(a_pool_with_a_busy_member_stays_up),
		cmocka_unit_test(a_dry_run_lets_disks_sleep_by_the_policy_that_it_asks_for),
	};

	log_set_max_level(LOG_CRIT);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
