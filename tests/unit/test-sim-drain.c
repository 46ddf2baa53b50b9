/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a cache above a simulated disk holds: how it comes to the disk, and that it is not lost. */

#include "test-sim-cache.h"

#include <signal.h>
#include <sys/wait.h>

static void a_cache_beyond_its_cutoff_lets_writes_past_and_the_disk_wakes(void **state)
{
	double fills_s = 40 * GIB / 20e6;
	Rig r;
	Device *d;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD LANDING WRITES);
	d = rig_device(&r, "sda");
	hold(d);
	sleep_now(d);
	rig_pass(&r, fills_s - 200);
	assert_int_equal(condition_of(d), CONDITION_STANDBY_Z);
	rig_pass(&r, 200);
	assert_int_equal(condition_of(d), CONDITION_ACTIVE);
	rig_pass(&r, 1000);
	assert_float_equal(dirty_of(d), 40 * GIB, 1e6);
	assert_int_equal(account_of(&r, "sda").io_wakes, 1);
	expect_bcache(d, "cache/cache_available_percent", "59");
	rig_free(&r);
}

static void draining_writes_back_at_the_speed_of_the_disk_until_the_cache_is_clean(void **state)
{
	uint64_t held, before;
	Rig r;
	Device *d;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD LANDING INGEST "demand = 0:20 1000s:0\n");
	d = rig_device(&r, "sda");
	hold(d);
	rig_pass(&r, 1100);
	held = (uint64_t)dirty_of(d);
	assert_float_equal((double)held, 1000 * 20e6, 20e6 * 1e-3);
	sleep_now(d);
	before = written_to(d);
	drain(d);
	rig_pass(&r, 20); /* up again */
	assert_int_equal(condition_of(d), CONDITION_ACTIVE);
	rig_pass(&r, (double)held / 150e6);
	assert_float_equal((double)(written_to(d) - before), (double)held, 1e6);
	expect_bcache(d, "dirty_data", "0.0k");
	expect_bcache(d, "state", "dirty");
	rig_pass(&r, 31); /* writeback_delay */
	expect_bcache(d, "state", "clean");
	sleep_now(d);
	rig_pass(&r, 1000);
	assert_int_equal(condition_of(d), CONDITION_STANDBY_Z);
	rig_free(&r);
}

static void a_drained_disk_that_is_held_again_at_once_is_not_woken_by_the_next_write(void **state)
{
	Rig r;
	Device *d;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD LANDING INGEST "demand = 0:20 100s:0 20min:20\n");
	d = rig_device(&r, "sda");
	hold(d);
	rig_pass(&r, 110);
	drain(d);
	rig_pass(&r, 30);
	expect_bcache(d, "dirty_data", "0.0k");
	hold(d);
	sleep_now(d);
	rig_pass(&r, 1400);
	assert_int_equal(condition_of(d), CONDITION_STANDBY_Z);
	assert_true(dirty_of(d) > 300 * 20e6);
	assert_int_equal(account_of(&r, "sda").io_wakes, 0);
	rig_free(&r);
}

static void writeback_as_found_keeps_to_its_percent_and_the_disk_busy(void **state)
{
	double target = 10 * GIB;
	uint64_t before;
	Rig r;
	Device *d;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD LANDING WRITES);
	d = rig_device(&r, "sda");
	set_bcache(d, "sequential_cutoff", "0");
	rig_pass(&r, 200);
	sleep_now(d); /* no use: a few KiB a second are written back below the target, too */
	rig_pass(&r, 200);
	assert_int_equal(condition_of(d), CONDITION_ACTIVE);
	before = written_to(d);
	assert_float_equal(dirty_of(d), 403 * 20e6, 20e6);
	rig_pass(&r, 1000);
	assert_float_equal(dirty_of(d), target, 2e6);
	assert_float_equal((double)(written_to(d) - before), 1403 * 20e6 - target, 20e6);
	rig_free(&r);
}

/* Nobody looks for a day, or somebody every minute: the same day. */
static void looking_does_not_change_what_a_cache_does(void **state)
{
	static const char node[] =
		NODE_HEAD "[devices landing]\nprofile = samsung-pm9a3\ncount = 2\n"
			  "demand = sine mean=300 swing=200 period=1h\n" INGEST_OF(
				  "30%") "count = 4\ndemand = sine mean=20 swing=30 period=6h\n";
	double joules[2], cache_joules[2], dirty[2];

	(void)state;
	for (int look = 0; look < 2; look++) {
		Rig r;
		Device *d;

		rig_new(&r);
		rig_open(&r, node);
		d = rig_device(&r, "sda");
		set_bcache(d, "sequential_cutoff", "0");
		hold(rig_device(&r, "sdb"));
		for (int i = 0; i < (look ? 1440 : 1); i++) {
			rig_pass(&r, look ? 60 : 86400);
			if (look)
				rig_watts(&r);
		}
		joules[look] = sim_node_joules(r.node);
		cache_joules[look] = account_of(&r, "nvme0").joules;
		dirty[look] = dirty_of(d);
		rig_free(&r);
	}
	assert_float_equal(joules[0], joules[1], 1e-6 * joules[1]);
	assert_float_equal(cache_joules[0], cache_joules[1], 1e-6 * cache_joules[1]);
	assert_float_equal(dirty[0], dirty[1], 1e5);
}

static void what_a_cache_holds_survives_a_kill(void **state)
{
	double dirty;
	SimAccount before, after;
	pid_t child;
	int status;
	Rig r;

	(void)state;
	rig_new(&r);
	rig_write(&r, NODE_HEAD LANDING WRITES);
	child = fork();
	if (child == 0) {
		rig_open_file(&r, r.node_path, r.registers_path);
		hold(rig_device(&r, "sda"));
		rig_pass(&r, 500);
		rig_watts(&r);
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	r.now_us += 1000 * USEC_PER_SEC;
	rig_open_file(&r, r.node_path, r.registers_path);
	expect_bcache(rig_device(&r, "sda"), "writeback_running", "0");
	expect_bcache(rig_device(&r, "sda"), "state", "dirty");
	dirty = dirty_of(rig_device(&r, "sda"));
	assert_float_equal(dirty, 1000 * 20e6, 20e6);
	before = account_of(&r, "sda");
	rig_close(&r);

	/* an earlier clock: nothing is lost, nothing is counted */
	r.now_us = 5;
	rig_open_file(&r, r.node_path, r.registers_path);
	assert_float_equal(dirty_of(rig_device(&r, "sda")), dirty, 1);
	after = account_of(&r, "sda");
	assert_memory_equal(&before, &after, sizeof(before));
	((SimDevice *)rig_device(&r, "sda")->impl)->record->truth.dirty_bytes = NAN;
	rig_close(&r);
	log_set_max_level(LOG_ERR);
	rig_open_file(&r, r.node_path, r.registers_path);
	log_set_max_level(LOG_INFO);
	expect_bcache(rig_device(&r, "sda"), "dirty_data", "0.0k");
	expect_bcache(rig_device(&r, "sda"), "writeback_running", "1");
	rig_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cache_beyond_its_cutoff_lets_writes_past_and_the_disk_wakes),
		cmocka_unit_test(
			draining_writes_back_at_the_speed_of_the_disk_until_the_cache_is_clean),
		cmocka_unit_test(
			a_drained_disk_that_is_held_again_at_once_is_not_woken_by_the_next_write),
		cmocka_unit_test(writeback_as_found_keeps_to_its_percent_and_the_disk_busy),
		cmocka_unit_test(looking_does_not_change_what_a_cache_does),
		cmocka_unit_test(what_a_cache_holds_survives_a_kill),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
