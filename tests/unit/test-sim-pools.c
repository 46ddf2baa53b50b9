/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Disks that sleep and wake together, and those that will not. */

#include "test-sim.h"

#include "sim/sim-device.h"

#define DISKS                                                                                      \
	"[devices store]\nprofile = seagate-constellation-es2\nread = 100%\n"                      \
	"read_size = 256K\ndepth = 8\n"

static void sleep_now(Device *d)
{
	assert_int_equal(d->ops->condition_set(d, CONDITION_STANDBY_Z), 0);
}

static Condition condition_of(Device *d)
{
	Condition c = _CONDITION_MAX;

	assert_int_equal(d->ops->condition_get(d, &c), 0);
	return c;
}

static SimAccount account_of(Rig *r, const char *name)
{
	SimAccount a = { 0 };

	assert_int_equal(sim_node_account(r->node, name, &a), 0);
	return a;
}

static void pools_split_a_section_evenly_and_in_order(void **state)
{
	static const char *const expected[] = { "tank0", "tank0", "tank0", "tank1",
						"tank1", "tank2", "tank2" };
	char name[] = "sda";
	Rig r;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD DISKS "count = 7\npool = tank\npools = 3\nhba = 0000:3b:00.0 x\n"
				     "[devices other]\nprofile = seagate-exos-7e2000\npool = one\n"
				     "count = 2\n[devices alone]\nprofile = seagate-exos-7e2000\n");
	for (size_t i = 0; i < ELEMENTSOF(expected); i++, name[2]++) {
		assert_string_equal(rig_device(&r, name)->pool, expected[i]);
		assert_string_equal(rig_device(&r, name)->hba, "0000:3b:00.0 x");
	}
	assert_string_equal(rig_device(&r, "sdh")->pool, "one");
	assert_string_equal(rig_device(&r, "sdi")->pool, "one");
	assert_string_equal(rig_device(&r, "sdj")->pool, "");
	assert_string_equal(rig_device(&r, "sdj")->hba, "");
	rig_free(&r);
}

static void an_io_to_a_pool_wakes_all_its_members_at_once_and_nobody_else(void **state)
{
	double hours = 0;
	Rig r;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD DISKS "count = 4\npool = tank\npools = 2\n"
				     "demand = burst high=40 low=0 on=5min off=24h\n");
	for (size_t i = 0; i < r.n_devices; i++)
		sleep_now(r.devices[i]);
	while (!account_of(&r, "sda").io_wakes && !account_of(&r, "sdc").io_wakes && hours < 25) {
		rig_pass(&r, 36);
		hours += 0.01;
	}
	assert_int_equal(account_of(&r, "sda").io_wakes, account_of(&r, "sdb").io_wakes);
	assert_int_equal(account_of(&r, "sdc").io_wakes, account_of(&r, "sdd").io_wakes);
	assert_int_equal(account_of(&r, "sda").io_wakes + account_of(&r, "sdc").io_wakes, 1);
	rig_free(&r);
}

static void a_pool_that_is_being_resynced_may_not_sleep(void **state)
{
	_cleanup_free_ char *why = NULL;
	char *none = NULL;
	DeviceCounters a, b;
	Rig r;
	Device *d;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD DISKS "count = 4\npool = tank\npools = 2\ndemand = idle\n"
				     "[fault]\ndevice = sdb\nkind = resync\nat = 1min\nfor = 1h\n");
	d = rig_device(&r, "sda");
	assert_int_equal(d->ops->may_sleep(d, &none), 0);
	rig_pass(&r, 70);
	assert_int_equal(d->ops->may_sleep(d, &why), -EBUSY);
	assert_string_equal(why, "tank0 is being resynced");
	d = rig_device(&r, "sdc");
	assert_int_equal(d->ops->may_sleep(d, &none), 0);
	/* and it is at work */
	d = rig_device(&r, "sdb");
	assert_int_equal(d->ops->counters(d, &a), 0);
	rig_pass(&r, 100);
	assert_int_equal(d->ops->counters(d, &b), 0);
	assert_float_equal((double)(b.bytes[0] + b.bytes[1] - a.bytes[0] - a.bytes[1]), 3e9, 1e6);
	sleep_now(d);
	rig_pass(&r, 1);
	assert_int_equal(condition_of(d), CONDITION_ACTIVE);
	rig_pass(&r, 3600);
	assert_int_equal(d->ops->may_sleep(d, &none), 0);
	sleep_now(d);
	rig_pass(&r, 100);
	assert_int_equal(condition_of(d), CONDITION_STANDBY_Z);
	assert_null(none);
	rig_free(&r);
}

static void a_disk_that_will_not_wake_keeps_its_io_waiting_until_it_fails(void **state)
{
	DeviceCounters c;
	SimAccount a;
	uint64_t before_us;
	Rig r;
	Device *d;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD DISKS "demand = 0:0 10min:20\n");
	d = rig_device(&r, "sda");
	assert_int_equal(sim_node_inject(r.node, "sda", SIM_NO_WAKE), 0);
	sleep_now(d);
	before_us = r.now_us;
	assert_int_equal(d->ops->condition_set(d, CONDITION_ACTIVE), -EIO);
	assert_int_equal(r.now_us - before_us, 30 * USEC_PER_SEC);
	assert_int_equal(condition_of(d), CONDITION_STANDBY_Z);
	r.now_us = (1000 + 700) * USEC_PER_SEC;
	assert_int_equal(d->ops->counters(d, &c), 0);
	assert_float_equal(c.outstanding, 8, 0);
	assert_int_equal(c.ios[READ_IO], 0);
	assert_int_equal(condition_of(d), CONDITION_STANDBY_Z);
	assert_true(rig_watts(&r) < 2);
	a = account_of(&r, "sda");
	assert_float_equal(a.failed[READ_IO], 0, 0);
	rig_pass(&r, 180); /* a hundred seconds after the kernel has given up */
	a = account_of(&r, "sda");
	assert_float_equal(a.failed[READ_IO], 100 * 20e6 / 262144, 1);
	assert_int_equal(a.io_wakes, 0);
	/* mended: the next IO wakes it */
	assert_int_equal(sim_node_inject(r.node, "sda", SIM_HEALTHY), 0);
	rig_pass(&r, 20);
	assert_int_equal(condition_of(d), CONDITION_ACTIVE);
	a = account_of(&r, "sda");
	assert_int_equal(a.io_wakes, 1);
	assert_float_equal(a.late_reads, 8, 0);
	assert_true(sim_account_read_us(&a, 1) > 100e6);
	assert_float_equal(sim_node_true_mb_s(r.node), 20, 1e-6);
	rig_free(&r);
}

static void a_disk_that_will_not_wake_serves_while_it_is_awake(void **state)
{
	Rig r;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD DISKS "demand = constant 20\n");
	assert_int_equal(sim_node_inject(r.node, "sda", SIM_NO_WAKE), 0);
	rig_pass(&r, 100);
	assert_float_equal(sim_node_true_mb_s(r.node), 20, 1e-6);
	assert_float_equal(account_of(&r, "sda").failed[READ_IO], 0, 0);
	rig_free(&r);
}

static void a_wake_test_says_whether_the_disk_came_back(void **state)
{
	double seconds = 0;
	char *text = NULL;
	Rig r;
	Device *d;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD DISKS "demand = idle\n");
	d = rig_device(&r, "sda");
	assert_int_equal(d->ops->wake_test(d, &seconds, &text), 0);
	assert_float_equal(seconds, 15, 1e-3);
	assert_string_equal(text, "sda was back after 15.0 s");
	free(text);
	assert_int_equal(condition_of(d), CONDITION_ACTIVE);
	assert_int_equal(account_of(&r, "sda").spin_ups, 1);
	assert_int_equal(sim_node_inject(r.node, "sda", SIM_NO_WAKE), 0);
	assert_int_equal(d->ops->wake_test(d, &seconds, &text), -EREMOTEIO);
	assert_string_equal(text, "sda stayed in standby for 30 s");
	free(text);
	assert_int_equal(sim_node_inject(r.node, "sda", SIM_REFUSE), 0);
	assert_int_equal(d->ops->wake_test(d, &seconds, &text), -EIO);
	free(text);
	rig_free(&r);
}

static void cycles_are_counted_by_what_wears(void **state)
{
	SimAccount a;
	Rig r;
	Device *d;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD DISKS "demand = idle\n");
	d = rig_device(&r, "sda");
	for (int i = 0; i < 3; i++) {
		assert_int_equal(d->ops->condition_set(d, CONDITION_IDLE_A), 0);
		assert_int_equal(d->ops->condition_set(d, CONDITION_ACTIVE), 0);
	}
	for (int i = 0; i < 5; i++) {
		assert_int_equal(d->ops->condition_set(d, CONDITION_IDLE_B), 0);
		assert_int_equal(d->ops->condition_set(d, CONDITION_ACTIVE), 0);
	}
	sleep_now(d);
	assert_int_equal(d->ops->condition_set(d, CONDITION_ACTIVE), 0);
	a = account_of(&r, "sda");
	assert_int_equal(a.io_wakes, 0);
	assert_int_equal(a.unloads, 6);
	assert_int_equal(a.spin_ups, 1);
	rig_free(&r);
}

static void nonsense_about_pools_and_caches_is_refused(void **state)
{
	static const char *const wrong[] = {
		NODE_HEAD DISKS "pools = 2\n",
		NODE_HEAD DISKS "pool = tank\npools = 2\n",
		NODE_HEAD DISKS "cache = landing\n",
		NODE_HEAD DISKS "cache = store\n",
		NODE_HEAD DISKS "cache_size = 3\n",
		NODE_HEAD DISKS "cached_reads = many\n",
		NODE_HEAD DISKS "cache = flash\ndemand = saturate\n" NVME_IDLE,
		NODE_HEAD DISKS "cache = disk\n" DISK_IDLE "cache = flash\n" NVME_IDLE,
		NODE_HEAD DISKS "cache = flash\ncount = 65\n" NVME_IDLE,
		NODE_HEAD DISKS "[fault]\ndevice = sda\nkind = asleep\n",
	};
	Rig r;

	(void)state;
	rig_new(&r);
	log_set_max_level(LOG_CRIT);
	for (size_t i = 0; i < ELEMENTSOF(wrong); i++) {
		rig_write(&r, wrong[i]);
		assert_int_equal(rig_try(&r, r.node_path, NULL), -EINVAL);
	}
	log_set_max_level(LOG_INFO);
	rig_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pools_split_a_section_evenly_and_in_order),
		cmocka_unit_test(an_io_to_a_pool_wakes_all_its_members_at_once_and_nobody_else),
		cmocka_unit_test(a_pool_that_is_being_resynced_may_not_sleep),
		cmocka_unit_test(a_disk_that_will_not_wake_keeps_its_io_waiting_until_it_fails),
		cmocka_unit_test(a_disk_that_will_not_wake_serves_while_it_is_awake),
		cmocka_unit_test(a_wake_test_says_whether_the_disk_came_back),
		cmocka_unit_test(cycles_are_counted_by_what_wears),
		cmocka_unit_test(nonsense_about_pools_and_caches_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
