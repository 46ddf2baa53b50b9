/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Pools that sleep and wake as one, and disks that do not wake. */

#include <errno.h>

#include "test-control.h"

#define HOUR_S 3600
#define DISKS(name, n)                                                                             \
	"[devices " name "]\ncount = " #n                                                          \
	"\nprofile = seagate-constellation-es2\ngroup = bulk\nread = 100%\nrandom = 100%\n"        \
	"read_size = 64K\nwrite_size = 64K\ndepth = 4\n"
#define IDLE   "demand = idle\n"
#define READ_A "demand = 0:0 400:5 460:0\n" /* from 400 s on, for a minute */

/* One of the six is read. */
static const char pool_of_six[] = SIM_NODE("archive")
	DISKS("one", 1) "pool = tank\n" READ_A DISKS("others", 5) IDLE "pool = tank\n";

static void open_node(Fixture *f, const char *node)
{
	fixture_open_text(f, node);
	fixture_start(f);
}

static void put_to_sleep(Fixture *f, const char *limit)
{
	fixture_set(f, limit);
	fixture_run(f, 380);
	assert_int_equal(count_asleep(f), f->control->fleet.n);
}

static void a_pool_that_must_stay_up_is_not_asked_again_for_five_minutes(void **state)
{
	DeviceState d;
	size_t asked;
	Fixture f;

	(void)state;
	open_node(&f, SIM_NODE("archive") DISKS("disk", 4) IDLE "pool = tank\n");
	/* its own IO is another reason: that of one disk is enough for all */
	assert_int_equal(sim_node_inject(f.node, "sda", SIM_RESYNC), 0);
	fixture_set(&f, "10 W");
	fixture_run(&f, 240);
	asked = count_decisions(&f, NULL, "not put to sleep");
	assert_int_equal(count_asleep(&f), 0);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(f.control->fleet.devices[i]->wear.account->starts_used, 0);
	assert_int_equal(control_device_by_name(f.control, "sda", &d), 0);
	assert_true(*d.sleep.awake_why);
	fixture_run(&f, HOUR_S);
	assert_int_equal(count_asleep(&f), 0);
	assert_true(count_decisions(&f, NULL, "not put to sleep") <= asked + 4 * 12);
	assert_int_equal(sim_node_inject(f.node, "sda", SIM_HEALTHY), 0);
	fixture_run(&f, 900);
	assert_int_equal(count_asleep(&f), 4);
	fixture_close(&f);
}

static int refuse_sleep(Device *d, char **ret_why_not)
{
	(void)d;
	*ret_why_not = strdup("tank is being resynced");
	return -EBUSY;
}

/* What nobody can see in their IO: the next block of a resync may be an hour off. */
static void a_refusal_keeps_the_pool_up_for_five_minutes_and_says_why(void **state)
{
	const DeviceOps *honest[4];
	DeviceOps refusing[4];
	uint64_t began;
	DeviceState d;
	Fixture f;

	(void)state;
	open_node(&f, SIM_NODE("archive") DISKS("disk", 4) IDLE "pool = tank\n");
	for (size_t i = 0; i < 4; i++) {
		honest[i] = replace_ops(f.control->fleet.devices[i], &refusing[i]);
		refusing[i].may_sleep = refuse_sleep;
	}
	fixture_set(&f, "10 W");
	began = now_us(&f);
	while (!f.control->fleet.devices[0]->rest.refused_until_us) {
		fixture_run(&f, 1);
		assert_true(now_us(&f) < began + 120 * USEC_PER_SEC);
	}
	for (size_t i = 0; i < 4; i++)
		f.control->fleet.devices[i]->device->ops = honest[i];
	began = now_us(&f);
	fixture_run(&f, 295);
	assert_int_equal(count_asleep(&f), 0);
	assert_int_equal(count_decisions(&f, "sda", "not put to sleep"), 1);
	assert_int_equal(control_device_by_name(f.control, "sda", &d), 0);
	assert_string_equal(d.sleep.awake_why, "tank is being resynced");
	fixture_run(&f, 30);
	assert_int_equal(count_asleep(&f), 4);
	fixture_close(&f);
}

static void io_to_one_member_wakes_all_within_the_spin_up_power_and_the_budget(void **state)
{
	SimAccount a;
	size_t most = 0;
	Fixture f;

	(void)state;
	open_node(&f, pool_of_six);
	f.control->config.sleep.spinup_w = 50; /* of 23.6 W each */
	put_to_sleep(&f, "65 W");
	for (unsigned i = 0; i < 1200; i++) {
		fixture_run(&f, 0.1);
		most = MAX(most, count_waking(&f));
		assert_within_budget(&f);
		assert_true(sim_node_true_watts(f.node) <= 65);
	}
	assert_int_equal(count_asleep(&f), 0);
	assert_int_equal(most, 2);
	assert_int_equal(count_wakeups(&f, "IO"), 1);
	assert_int_equal(count_wakeups(&f, "its pool wakes"), 5);
	a = account_of(&f, "sda");
	assert_true(a.late_reads > 0 && a.failed[READ_IO] == 0);
	fixture_close(&f);
}

/* As fast as the power allows: three times two, not six times one. */
static void a_pool_wakes_in_parallel(void **state)
{
	uint64_t began;
	Fixture f;

	(void)state;
	open_node(&f, pool_of_six);
	f.control->config.sleep.spinups_at_once = 6;
	fixture_set(&f, "200 W");
	fixture_run(&f, 399);
	assert_int_equal(count_asleep(&f), 6);
	began = now_us(&f);
	while (count_asleep(&f) || count_waking(&f))
		fixture_run(&f, 0.1);
	print_message("# a pool of 6 awake after %.1f s\n",
		      (double)(now_us(&f) - began) / USEC_PER_SEC);
	assert_true(now_us(&f) < began + 25 * USEC_PER_SEC);
	fixture_close(&f);
}

/* A pool and two more disks on one HBA, two on another. */
static const char two_hbas[] =
	SIM_NODE("archive") DISKS("one", 1) "pool = tank\nhba = h0\n" READ_A DISKS("others", 2) IDLE
	"pool = tank\nhba = h0\n" DISKS("more", 2) IDLE "hba = h0\n" DISKS("far", 2) IDLE
	"hba = h1\n";

static bool is_on(const Managed *md, const char *hba)
{
	return streq(md->device->hba, hba);
}

static size_t count_asleep_on(const Fixture *f, const char *hba)
{
	size_t n = 0;

	for (size_t i = 0; i < f->control->fleet.n; i++)
		n += is_on(f->control->fleet.devices[i], hba) &&
		     managed_asleep(f->control->fleet.devices[i]);
	return n;
}

static void open_with_stuck_disk(Fixture *f)
{
	open_node(f, two_hbas);
	put_to_sleep(f, "100%");
	assert_int_equal(sim_node_inject(f->node, "sda", SIM_NO_WAKE), 0);
	fixture_run(f, 120);
}

static void a_disk_that_does_not_wake_is_told_and_its_pool_kept_up(void **state)
{
	DeviceState d;
	Fixture f;

	(void)state;
	open_with_stuck_disk(&f);
	assert_int_equal(control_device_by_name(f.control, "sda", &d), 0);
	assert_non_null(d.problem);
	assert_non_null(strstr(d.problem, "does not wake"));
	assert_non_null(strstr(d.problem, "wake-test"));
	assert_int_equal(wake_record_get(f.wakes, "h0"), WAKE_FAILED);
	assert_int_equal(count_decisions(&f, "sda", "kept up, with its pool"), 1);
	for (size_t i = 1; i < 3; i++)
		assert_false(managed_asleep(f.control->fleet.devices[i]));
	fixture_run(&f, HOUR_S);
	for (size_t i = 1; i < 3; i++)
		assert_false(managed_asleep(f.control->fleet.devices[i]));
	/* those that sleep are let sleep */
	assert_int_equal(count_asleep_on(&f, "h1"), 2);
	assert_true(managed_asleep(f.control->fleet.devices[3]));
	fixture_close(&f);
}

static void no_disk_is_stopped_on_an_hba_where_one_did_not_wake(void **state)
{
	char *error = NULL;
	DeviceState d;
	uint64_t used;
	Fixture f;

	(void)state;
	open_with_stuck_disk(&f);
	assert_int_equal(control_wake_device(f.control, "", &error), 0);
	fixture_run(&f, 120);
	assert_int_equal(count_asleep_on(&f, "h0"), 0);
	used = account_of_all(&f).spin_ups;
	fixture_run(&f, HOUR_S);
	assert_int_equal(count_asleep_on(&f, "h0"), 0);
	assert_int_equal(count_asleep_on(&f, "h1"), 2);
	assert_int_equal(account_of_all(&f).spin_ups, used);
	assert_int_equal(control_device_by_name(f.control, "sdd", &d), 0);
	assert_string_equal(d.sleep.awake_why, "a disk on h0 did not wake");
	fixture_close(&f);
}

static void note_test(int result, double seconds, const char *text, void *userdata)
{
	(void)seconds, (void)text;
	*(int *)userdata = result;
}

static void a_wake_test_that_passes_lets_disks_of_the_hba_sleep_again(void **state)
{
	char *error = NULL;
	int result = 1;
	Fixture f;

	(void)state;
	open_with_stuck_disk(&f);
	assert_int_equal(control_wake_device(f.control, "", &error), 0);
	fixture_run(&f, 120);
	assert_int_equal(sim_node_inject(f.node, "sda", SIM_HEALTHY), 0);
	fixture_run(&f, 60);
	assert_int_equal(control_wake_test(f.control, "sdd", note_test, &result, &error), 0);
	fixture_run(&f, 60);
	assert_int_equal(result, 0);
	assert_int_equal(wake_record_get(f.wakes, "h0"), WAKE_TESTED);
	assert_false(managed(&f, "sda")->waking.stuck);
	fixture_run(&f, HOUR_S);
	assert_int_equal(count_asleep(&f), f.control->fleet.n);
	assert_problem(&f, "sda", "");
	fixture_close(&f);
}

static void a_wake_test_that_fails_is_recorded_and_nothing_is_stopped_there(void **state)
{
	char *error = NULL;
	int result = 1;
	Fixture f;

	(void)state;
	open_node(&f, two_hbas);
	fixture_run(&f, 5);
	assert_int_equal(sim_node_inject(f.node, "sdd", SIM_NO_WAKE), 0);
	assert_int_equal(control_wake_test(f.control, "sdd", note_test, &result, &error), 0);
	fixture_run(&f, 120);
	assert_int_equal(result, -EREMOTEIO);
	assert_int_equal(wake_record_get(f.wakes, "h0"), WAKE_FAILED);
	assert_problem(&f, "sdd", "does not wake");
	fixture_set(&f, "100%");
	fixture_run(&f, HOUR_S);
	for (size_t i = 0; i < f.control->fleet.n; i++) {
		const Managed *md = f.control->fleet.devices[i];

		if (!streq(md->device->name, "sdd") && is_on(md, "h0"))
			assert_int_equal(account_of(&f, md->device->name).spin_ups, 0);
	}
	assert_int_equal(count_asleep_on(&f, "h1"), 2);
	fixture_close(&f);
}

/* Asked to wake, by a command that ends in an error. */
static void a_disk_that_no_command_wakes_is_given_up_on(void **state)
{
	char *error = NULL;
	Fixture f;

	(void)state;
	open_node(&f, SIM_NODE("archive") DISKS("disk", 2) IDLE "hba = h0\n");
	put_to_sleep(&f, "50 W");
	assert_int_equal(sim_node_inject(f.node, "sda", SIM_NO_WAKE), 0);
	assert_int_equal(control_wake_device(f.control, "sda", &error), 0);
	fixture_run(&f, 300);
	assert_problem(&f, "sda", "does not wake");
	assert_int_equal(wake_record_get(f.wakes, "h0"), WAKE_FAILED);
	assert_true(managed_asleep(managed(&f, "sdb")));
	assert_int_equal(managed(&f, "sda")->wear.account->starts_used, 1);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pool_that_must_stay_up_is_not_asked_again_for_five_minutes),
		cmocka_unit_test(a_refusal_keeps_the_pool_up_for_five_minutes_and_says_why),
		cmocka_unit_test(
			io_to_one_member_wakes_all_within_the_spin_up_power_and_the_budget),
		cmocka_unit_test(a_pool_wakes_in_parallel),
		cmocka_unit_test(a_disk_that_does_not_wake_is_told_and_its_pool_kept_up),
		cmocka_unit_test(no_disk_is_stopped_on_an_hba_where_one_did_not_wake),
		cmocka_unit_test(a_wake_test_that_passes_lets_disks_of_the_hba_sleep_again),
		cmocka_unit_test(a_wake_test_that_fails_is_recorded_and_nothing_is_stopped_there),
		cmocka_unit_test(a_disk_that_no_command_wakes_is_given_up_on),
	};

	log_set_max_level(LOG_CRIT);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
