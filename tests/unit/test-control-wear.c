/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The disks' wear accounts: every start/stop cycle is on them, none is twice, and what is spent is
 * not spent again. */

#include <errno.h>
#include <sys/stat.h>

#include "test-control.h"

#include "base/file.h"

#define HOUR_S 3600
#define DAY_S  (24 * HOUR_S)
#define ONE_DISK(demand)                                                                           \
	SIM_NODE("archive")                                                                        \
	"[devices disk]\nprofile = seagate-constellation-es2\ngroup = bulk\nread = 100%\n"         \
	"random = 100%\nread_size = 64K\nwrite_size = 64K\ndepth = 1\ndemand = " demand "\n"
#define IDLE "idle"

static const char idle_disk[] = ONE_DISK(IDLE);

static Managed *open_disk(Fixture *f, const char *node)
{
	fixture_open_text(f, node);
	fixture_start(f);
	fixture_run(f, 5);
	return f->control->fleet.devices[0];
}

/* That a disk must sleep for. */
static void set_low(Fixture *f)
{
	fixture_set(f, "4 W");
}

static int refuse_sleep(Device *d, char **ret_why_not)
{
	(void)d;
	*ret_why_not = strdup("md0 is being resynced");
	return -EBUSY;
}

static void a_stop_that_is_refused_costs_nothing(void **state)
{
	const DeviceOps *honest;
	Managed *md;
	DeviceOps refusing;
	double starts, loads;
	Fixture f;

	(void)state;
	md = open_disk(&f, idle_disk);
	honest = replace_ops(md, &refusing);
	refusing.may_sleep = refuse_sleep;
	starts = md->wear.account->starts;
	set_low(&f);
	fixture_run(&f, 240);
	assert_int_equal(count_decisions(&f, md->device->name, "not put to sleep"), 1);
	assert_int_equal(count_asleep(&f), 0);
	assert_true(md->wear.account->starts >= starts);
	assert_int_equal(md->wear.account->starts_used, 0);
	/* resting in idle_b parks the heads once */
	assert_true(md->wear.account->loads_used <= 1);
	loads = (double)md->wear.account->loads_used;
	fixture_run(&f, HOUR_S);
	assert_true((double)md->wear.account->loads_used == loads);
	md->device->ops = honest;
	fixture_run(&f, 600);
	assert_int_equal(count_asleep(&f), 1);
	assert_int_equal(md->wear.account->starts_used, 1);
	fixture_close(&f);
}

/* Until it is on its way, and no further. */
static void live_until_it_stops(Fixture *f)
{
	const Managed *md;

	fixture_run(f, 5);
	md = f->control->fleet.devices[0];
	set_low(f);
	for (unsigned i = 0; i < 6000; i++) {
		if (md->errands.busy && md->knobs.target.condition > CONDITION_IDLE_B)
			return;
		fixture_run(f, 0.1);
	}
}

static void killed_while_a_disk_stops_its_charge_is_kept(void **state)
{
	_cleanup_free_ char *path = NULL;
	Fixture f;

	(void)state;
	fixture_open_text(&f, idle_disk);
	path = text_printf("%s/the.node", f.dir);
	assert_int_equal(write_file_atomic(path, idle_disk, 0644), 0);
	live_and_be_killed(f.dir, path, live_until_it_stops);
	fixture_start(&f);
	assert_int_equal(f.control->fleet.devices[0]->wear.account->starts_used, 1);
	fixture_close(&f);
}

/* By its own timer, or by somebody's command, before the daemon came. */
static void a_disk_that_slept_by_itself_is_charged_when_io_wakes_it(void **state)
{
	Managed *md;
	const Device *d;
	double starts;
	Fixture f;

	(void)state;
	fixture_open_text(&f, ONE_DISK("0:0 100:5 130:0"));
	d = sim_node_device(f.node, 0);
	assert_int_equal(d->ops->condition_set((Device *)d, CONDITION_STANDBY_Z), 0);
	fixture_start(&f);
	md = f.control->fleet.devices[0];
	assert_true(managed_asleep(md));
	fixture_set(&f, "100%");
	fixture_run(&f, 90);
	assert_true(managed_asleep(md));
	assert_int_equal(md->wear.account->starts_used, 0);
	starts = md->wear.account->starts;
	fixture_run(&f, 30);
	assert_false(managed_asleep(md));
	assert_int_equal(md->wear.account->starts_used, 1);
	assert_true(md->wear.account->starts < starts - 0.9);
	assert_int_equal(count_wakeups(&f, "IO"), 1);
	fixture_close(&f);
}

static void what_we_stopped_is_not_charged_again_when_it_wakes(void **state)
{
	Managed *md;
	Fixture f;

	(void)state;
	md = open_disk(&f, ONE_DISK("0:0 400:5 430:0"));
	set_low(&f);
	fixture_run(&f, 380);
	assert_int_equal(md->wear.account->starts_used, 1);
	fixture_run(&f, 40);
	assert_false(managed_asleep(md));
	assert_int_equal(md->wear.account->starts_used, 1);
	fixture_close(&f);
}

/* A bucket's worth, and what the days earn: however often the budget would want it. */
static void no_more_cycles_are_used_than_the_days_earn(void **state)
{
	const double a_day = 3;
	Managed *md;
	uint64_t used;
	Fixture f;

	(void)state;
	fixture_open_text(&f, ONE_DISK("burst high=2 low=0 on=10s off=40min"));
	fixture_start(&f);
	f.control->config.sleep.cycles_a_day = a_day;
	md = f.control->fleet.devices[0];
	set_low(&f);
	for (unsigned day = 1; day <= 3; day++) {
		fixture_run(&f, DAY_S);
		used = md->wear.account->starts_used;
		print_message("# day %u: %u cycles\n", day, (unsigned)used);
		assert_true((double)used <= 10 + a_day * day);
	}
	assert_true(used >= 2 * a_day);
	assert_true((double)account_of(&f, md->device->name).spin_ups <= (double)used);
	fixture_close(&f);
}

static void a_disk_whose_cycles_are_spent_says_so_and_the_budget_is_missed(void **state)
{
	Managed *md;
	ControlState s;
	DeviceState d;
	Fixture f;

	(void)state;
	md = open_disk(&f, idle_disk);
	md->wear.account->starts = 0;
	fixture_set(&f, "2 W");
	fixture_run(&f, 600);
	assert_int_equal(control_device(f.control, 0, &d), 0);
	assert_true(d.setting.condition < CONDITION_STANDBY_Y);
	s = state_of(&f);
	assert_true(s.degraded && s.shortfall_w > 0);
	assert_int_equal(md->wear.account->starts_used, 0);
	/* the next cycle is earned in time */
	fixture_run(&f, DAY_S / 5);
	assert_int_equal(md->wear.account->starts_used, 1);
	assert_int_equal(md->knobs.actual.condition, CONDITION_STANDBY_Z);
	assert_false(state_of(&f).degraded);
	fixture_close(&f);
}

static void without_room_for_the_account_no_disk_is_stopped(void **state)
{
	Managed *md;
	const char *path;
	double starts;
	Fixture f;

	(void)state;
	md = open_disk(&f, idle_disk);
	path = f.control->config.sleep.wear_path;
	f.control->config.sleep.wear_path = "/dev/null/wear";
	starts = md->wear.account->starts;
	set_low(&f);
	fixture_run(&f, HOUR_S);
	assert_int_equal(count_asleep(&f), 0);
	assert_int_equal(account_of(&f, md->device->name).unloads, 0);
	assert_int_equal(md->wear.account->starts_used, 0);
	assert_true(md->wear.account->starts >= starts);
	assert_non_null(md->knobs.problem);
	/* and it is not tried all the time */
	assert_true(count_decisions(&f, md->device->name, "could not be set") < 70);
	f.control->config.sleep.wear_path = path;
	fixture_run(&f, 120);
	assert_int_equal(count_asleep(&f), 1);
	assert_null(md->knobs.problem);
	fixture_close(&f);
}

static void an_account_that_cannot_be_understood_is_set_aside(void **state)
{
	_cleanup_free_ char *aside = NULL;
	struct stat st;
	Fixture f;

	(void)state;
	fixture_open_text(&f, idle_disk);
	assert_int_equal(write_file_atomic(f.wear, "\x01\x02 no such thing\n", 0644), 0);
	log_set_max_level(LOG_CRIT);
	fixture_start(&f);
	aside = text_printf("%s.damaged", f.wear);
	assert_int_equal(stat(aside, &st), 0);
	set_low(&f);
	fixture_run(&f, 300);
	assert_int_equal(count_asleep(&f), 1);
	fixture_close(&f);
}

static void note_test(int result, double seconds, const char *text, void *userdata)
{
	(void)seconds, (void)text;
	*(int *)userdata = result;
}

static void a_wake_test_is_a_cycle(void **state)
{
	int result = 1;
	char *error = NULL;
	Managed *md;
	Fixture f;

	(void)state;
	md = open_disk(&f, idle_disk);
	assert_int_equal(control_wake_test(f.control, md->device->name, note_test, &result, &error),
			 0);
	fixture_run(&f, 60);
	assert_int_equal(result, 0);
	assert_int_equal(md->wear.account->starts_used, 1);
	assert_int_equal(account_of(&f, md->device->name).spin_ups, 1);
	fixture_close(&f);
}

static void a_wake_test_that_is_refused_costs_nothing(void **state)
{
	const DeviceOps *honest;
	DeviceOps refusing;
	int result = 1;
	char *error = NULL;
	Managed *md;
	double starts;
	Fixture f;

	(void)state;
	md = open_disk(&f, idle_disk);
	honest = replace_ops(md, &refusing);
	refusing.may_sleep = refuse_sleep;
	starts = md->wear.account->starts;
	assert_int_equal(control_wake_test(f.control, md->device->name, note_test, &result, &error),
			 0);
	fixture_run(&f, 5);
	assert_int_equal(result, -EBUSY);
	assert_int_equal(md->wear.account->starts_used, 0);
	assert_true(md->wear.account->starts >= starts);
	md->device->ops = honest;
	fixture_close(&f);
}

static void a_wake_test_that_cannot_be_started_costs_nothing_and_says_nothing(void **state)
{
	int result = 1;
	char *error = NULL;
	Managed *md;
	double starts;
	Fixture f;

	(void)state;
	md = open_disk(&f, ONE_DISK(IDLE "\nhba = h0"));
	starts = md->wear.account->starts;
	virtual_loop_refuse(f.loop, 1);
	assert_int_equal(control_wake_test(f.control, md->device->name, note_test, &result, &error),
			 0);
	fixture_run(&f, 5);
	assert_int_equal(result, -EAGAIN);
	assert_int_equal(md->wear.account->starts_used, 0);
	assert_true(md->wear.account->starts >= starts);
	assert_int_equal(wake_record_get(f.wakes, "h0"), WAKE_UNTESTED);
	assert_false(md->waking.stuck || md->errands.busy || waking_under_way(md));
	fixture_close(&f);
}

/* From idle_c, which has cost a load already. */
static void going_deeper_in_vain_does_not_make_the_cycle_before_count_twice(void **state)
{
	const DeviceOps *honest;
	DeviceOps refusing;
	Managed *md;
	uint64_t cookie, loads;
	Fixture f;

	(void)state;
	md = open_disk(&f, idle_disk);
	md->wear.account->starts = 0;
	f.control->config.sleep.cycles_a_day = 0;
	cookie = fixture_set(&f, "5 W");
	fixture_run(&f, 300);
	assert_int_equal(md->knobs.actual.condition, CONDITION_IDLE_C);
	loads = md->wear.account->loads_used;
	honest = replace_ops(md, &refusing);
	refusing.may_sleep = refuse_sleep;
	md->wear.account->starts = 5;
	f.control->config.sleep.cycles_a_day = 10;
	fixture_set(&f, "2 W");
	fixture_release(&f, cookie);
	fixture_run(&f, 300);
	assert_int_equal(count_decisions(&f, md->device->name, "not put to sleep"), 1);
	assert_int_equal(md->knobs.actual.condition, CONDITION_IDLE_C);
	assert_int_equal(md->wear.account->loads_used, loads);
	fixture_set(&f, "100%");
	assert_int_equal(control_wake_device(f.control, "", &(char *){ NULL }), 0);
	fixture_release(&f, cookie + 1);
	fixture_run(&f, 20);
	assert_int_equal(md->wear.account->loads_used, loads);
	assert_int_equal(md->wear.account->starts_used, 0);
	md->device->ops = honest;
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stop_that_is_refused_costs_nothing),
		cmocka_unit_test(killed_while_a_disk_stops_its_charge_is_kept),
		cmocka_unit_test(a_disk_that_slept_by_itself_is_charged_when_io_wakes_it),
		cmocka_unit_test(what_we_stopped_is_not_charged_again_when_it_wakes),
		cmocka_unit_test(no_more_cycles_are_used_than_the_days_earn),
		cmocka_unit_test(a_disk_whose_cycles_are_spent_says_so_and_the_budget_is_missed),
		cmocka_unit_test(without_room_for_the_account_no_disk_is_stopped),
		cmocka_unit_test(an_account_that_cannot_be_understood_is_set_aside),
		cmocka_unit_test(a_wake_test_is_a_cycle),
		cmocka_unit_test(a_wake_test_that_is_refused_costs_nothing),
		cmocka_unit_test(a_wake_test_that_cannot_be_started_costs_nothing_and_says_nothing),
		cmocka_unit_test(going_deeper_in_vain_does_not_make_the_cycle_before_count_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
