/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Disks that sleep behind a cache: what the cache takes, what wakes them, what it costs. */

#include "test-sim-cache.h"

static void a_disk_without_a_cache_has_no_component_above_it(void **state)
{
	char buf[64];
	Rig r;
	Device *d;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD DISK_IDLE);
	d = rig_device(&r, "sda");
	assert_int_equal(read_bcache(d, "state", buf, sizeof(buf)), -ENOENT);
	assert_int_equal(write_bcache(d, "writeback_running", "0"), -ENOENT);
	assert_string_equal(d->pool, "");
	assert_string_equal(d->hba, "");
	rig_free(&r);
}

static void the_cache_speaks_as_the_kernels_does(void **state)
{
	char buf[64], small[4];
	Rig r;
	Device *d;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD LANDING INGEST "demand = idle\n");
	d = rig_device(&r, "sda");
	expect_bcache(d, "cache_mode", "writethrough [writeback] writearound none");
	expect_bcache(d, "writeback_running", "1");
	expect_bcache(d, "writeback_percent", "10");
	expect_bcache(d, "writeback_delay", "30");
	expect_bcache(d, "sequential_cutoff", "4.0M");
	expect_bcache(d, "state", "clean");
	expect_bcache(d, "dirty_data", "0.0k");
	expect_bcache(d, "cache/congested_read_threshold_us", "2000");
	expect_bcache(d, "cache/congested_write_threshold_us", "20000");
	expect_bcache(d, "cache/bucket_size", "512.0k");
	expect_bcache(d, "cache/cache_available_percent", "100");
	expect_bcache(d, "cache/cache0/nbuckets", "204800");
	assert_int_equal(read_bcache(d, "label", buf, sizeof(buf)), -ENOENT);
	assert_int_equal(read_bcache(d, "state", small, sizeof(small)), -ENOBUFS);

	set_bcache(d, "cache_mode", "writethrough\n");
	expect_bcache(d, "cache_mode", "[writethrough] writeback writearound none");
	set_bcache(d, "sequential_cutoff", "1M");
	expect_bcache(d, "sequential_cutoff", "1.0M");
	set_bcache(d, "sequential_cutoff", "1048576");
	expect_bcache(d, "sequential_cutoff", "1.0M");
	set_bcache(d, "writeback_percent", "90");
	expect_bcache(d, "writeback_percent", "40");
	assert_int_equal(write_bcache(d, "sequential_cutoff", "4.0M"), -EINVAL);
	assert_int_equal(write_bcache(d, "cache_mode", "write"), -EINVAL);
	assert_int_equal(write_bcache(d, "writeback_percent", ""), -EINVAL);
	assert_int_equal(write_bcache(d, "dirty_data", "0"), -EACCES);
	rig_free(&r);
}

static void a_disk_whose_writes_are_held_sleeps_on(void **state)
{
	uint64_t before;
	SimAccount a;
	Rig r;
	Device *d;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD LANDING WRITES);
	d = rig_device(&r, "sda");
	hold(d);
	rig_pass(&r, 10); /* the first held write marks the disk: see below */
	sleep_now(d);
	rig_pass(&r, 5);
	before = written_to(d);
	rig_pass(&r, 1000);
	assert_int_equal(written_to(d), before);
	assert_int_equal(condition_of(d), CONDITION_STANDBY_Z);
	a = account_of(&r, "sda");
	assert_int_equal(a.io_wakes, 0);
	assert_float_equal(a.served_bytes, a.asked_bytes, 1);
	assert_float_equal(a.failed[WRITE_IO], 0, 0);
	/* all that was asked for since it began to hold is in the cache */
	assert_float_equal(dirty_of(d), 20e6 * (10 + 3 + 5 + 1000), 20e6 * 0.01);
	expect_bcache(d, "dirty_data", "18.9G");
	expect_bcache(d, "state", "dirty");
	expect_bcache(d, "cache/cache_available_percent", "81");
	assert_float_equal(sim_node_true_mb_s(r.node), 20, 1e-6);
	rig_free(&r);
}

static void sequential_writes_go_past_a_cache_as_it_is_found(void **state)
{
	uint64_t before;
	Rig r;
	Device *d;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD LANDING WRITES);
	d = rig_device(&r, "sda");
	rig_pass(&r, 10);
	before = written_to(d);
	rig_pass(&r, 100);
	assert_float_equal((double)(written_to(d) - before), 100 * 20e6, 1e6);
	assert_float_equal(dirty_of(d), 0, 0);
	expect_bcache(d, "state", "clean");
	rig_free(&r);
}

static void the_first_held_write_of_a_clean_cache_wakes_the_disk_once(void **state)
{
	SimAccount a;
	Rig r;
	Device *d;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD LANDING INGEST "demand = 0:0 10min:20\n");
	d = rig_device(&r, "sda");
	hold(d);
	sleep_now(d);
	rig_pass(&r, 590);
	assert_int_equal(condition_of(d), CONDITION_STANDBY_Z);
	rig_pass(&r, 30);
	assert_int_equal(condition_of(d), CONDITION_ACTIVE);
	sleep_now(d);
	rig_pass(&r, 1000);
	assert_int_equal(condition_of(d), CONDITION_STANDBY_Z);
	a = account_of(&r, "sda");
	assert_int_equal(a.io_wakes, 1);
	assert_int_equal(a.spin_ups, 1);
	assert_int_equal(a.unloads, 2);
	rig_free(&r);
}

/* The cache's own load is bound by what caps the device, as any other is. */
static void a_cache_at_work_keeps_its_cap(void **state)
{
	Setting s = SETTING_AS_FOUND;
	Rig r;
	Device *cache;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD "[devices landing]\nprofile = samsung-pm9a3\ndemand = saturate\n"
			       "read = 0%\nwrite_size = 256K\ndepth = 64\n" INGEST
			       "count = 20\ndemand = constant 90\n");
	cache = rig_device(&r, "nvme0");
	for (size_t i = 0; i < r.n_devices; i++)
		if (r.devices[i] != cache)
			hold(r.devices[i]);
	rig_pass(&r, 10);
	rig_watts(&r);
	assert_true(truth_of(cache)->rates.watts <= cache->profile->rated_w);
	assert_float_equal(truth_of(cache)->rates.work_mb_s[SIM_FED], 1800, 1e-3);
	assert_true(truth_of(cache)->rates.work_mb_s[SIM_OWN] > 100);
	assert_int_equal(cache->ops->feature_set(cache, 2, 1), 0);
	rig_pass(&r, 10);
	rig_watts(&r);
	s.power_state = 1;
	assert_true(truth_of(cache)->rates.watts <= cap_watts(cache->profile, &s) * 1.05);
	rig_free(&r);
}

static void reads_that_the_cache_has_leave_the_disk_asleep_and_others_wake_it(void **state)
{
	static const char *const shares[] = { "100%", "30%" };
	const double awake_share[] = { 0, 0.7 };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(shares); i++) {
		_cleanup_free_ char *node = text_printf("%s%s%s\n", NODE_HEAD LANDING READS,
							shares[i], "\ndemand = 0:0 10min:10");
		SimAccount a;
		DeviceCounters c;
		Rig r;
		Device *d;

		rig_new(&r);
		rig_open(&r, node);
		d = rig_device(&r, "sda");
		sleep_now(d);
		rig_pass(&r, 1597);
		assert_int_equal(d->ops->counters(d, &c), 0);
		a = account_of(&r, "sda");
		assert_int_equal(a.io_wakes, awake_share[i] > 0);
		assert_int_equal(condition_of(d),
				 awake_share[i] > 0 ? CONDITION_ACTIVE : CONDITION_STANDBY_Z);
		assert_float_equal(a.ios[READ_IO], 1000 * 10e6 / 262144, 1);
		assert_float_equal(a.cached_reads, (1 - awake_share[i]) * a.ios[READ_IO], 1);
		assert_float_equal((double)c.ios[READ_IO], 985 * 10e6 * awake_share[i] / 262144, 2);
		/* the eight that were outstanding while it spun up */
		assert_float_equal(a.late_reads, awake_share[i] > 0 ? 8 : 0, 0);
		assert_float_equal(sim_account_read_us(&a, 1), awake_share[i] > 0 ? 15e6 : 150,
				   awake_share[i] > 0 ? 3e6 : 30);
		rig_free(&r);
	}
}

static void what_a_cache_does_for_its_disks_costs_its_own_watts(void **state)
{
	double before_w, asleep_w, after_w;
	DeviceCounters a, b;
	Rig r;
	Device *cache;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD LANDING WRITES "count = 10\n");
	cache = rig_device(&r, "nvme0");
	assert_non_null(strstr(cache->keep_awake_why, "the cache of sda and 9 more"));
	before_w = rig_watts(&r);
	for (size_t i = 0; i < r.n_devices; i++)
		if (r.devices[i] != cache) {
			hold(r.devices[i]);
			rig_pass(&r, 1);
			sleep_now(r.devices[i]);
		}
	rig_pass(&r, 60);
	assert_int_equal(cache->ops->counters(cache, &a), 0);
	asleep_w = rig_watts(&r);
	assert_true(asleep_w < before_w / 2);
	rig_pass(&r, 100);
	assert_int_equal(cache->ops->counters(cache, &b), 0);
	assert_float_equal((double)(b.bytes[WRITE_IO] - a.bytes[WRITE_IO]), 100 * 10 * 20e6, 2e6);
	assert_true(truth_of(cache)->rates.watts > cache->profile->idle_w * 1.05);
	/* and no longer than it does so */
	for (size_t i = 0; i < r.n_devices; i++)
		if (r.devices[i] != cache)
			set_bcache(r.devices[i], "cache_mode", "writearound");
	rig_pass(&r, 100);
	after_w = truth_of(cache)->rates.watts;
	assert_int_equal(cache->ops->counters(cache, &a), 0);
	after_w = truth_of(cache)->rates.watts;
	assert_true(after_w < cache->profile->idle_w * 1.04);
	rig_free(&r);
}

static void the_dump_shows_the_settings_of_a_cache(void **state)
{
	_cleanup_free_ char *before = NULL, *held = NULL, *after = NULL;
	Rig r;
	Device *d;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD LANDING WRITES);
	d = rig_device(&r, "sda");
	assert_int_equal(sim_node_dump(r.node, &before), 0);
	hold(d);
	assert_int_equal(sim_node_dump(r.node, &held), 0);
	assert_non_null(strstr(held, "sda writeback_running 0\n"));
	assert_non_null(strstr(held, "sda sequential_cutoff 0\n"));
	set_bcache(d, "writeback_running", "1");
	set_bcache(d, "sequential_cutoff", "4M");
	assert_int_equal(sim_node_dump(r.node, &after), 0);
	assert_string_equal(before, after);
	rig_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_disk_without_a_cache_has_no_component_above_it),
		cmocka_unit_test(the_cache_speaks_as_the_kernels_does),
		cmocka_unit_test(a_disk_whose_writes_are_held_sleeps_on),
		cmocka_unit_test(sequential_writes_go_past_a_cache_as_it_is_found),
		cmocka_unit_test(the_first_held_write_of_a_clean_cache_wakes_the_disk_once),
		cmocka_unit_test(a_cache_at_work_keeps_its_cap),
		cmocka_unit_test(reads_that_the_cache_has_leave_the_disk_asleep_and_others_wake_it),
		cmocka_unit_test(what_a_cache_does_for_its_disks_costs_its_own_watts),
		cmocka_unit_test(the_dump_shows_the_settings_of_a_cache),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
