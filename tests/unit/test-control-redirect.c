/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Writes that a cache holds back while its disk sleeps: none reaches the disk, none is lost. */

#include <errno.h>

#include "test-control.h"

#include "base/file.h"
#include "cases.h"

#define HOUR_S 3600
#define CACHE                                                                                      \
	"[devices fast]\nprofile = samsung-pm9a3\ngroup = flash\nqueues = 4\nread = 40%\n"         \
	"random = 100%\nread_size = 16K\nwrite_size = 128K\ndepth = 64\n"
/* Small random writes, and reads that the cache serves. */
#define CACHED(n)                                                                                  \
	"[devices disk]\ncount = " #n                                                              \
	"\nprofile = seagate-constellation-es2\ngroup = bulk\nread = 20%\nrandom = 100%\n"         \
	"read_size = 16K\nwrite_size = 16K\ndepth = 4\ncache = fast\ncached_reads = 100%\n"

static const char quiet[] = SIM_NODE("archive") CACHE
	"demand = idle\n" CACHED(4) "cache_size = 200G\ndemand = constant 1\n";

/* With others that want the watts. */
static const char shared[] = SIM_NODE("archive") CACHE
	"count = 4\ndemand = saturate\n" CACHED(4) "cache_size = 200G\ndemand = constant 1\n";

static double written_bytes(const Fixture *f, const char *device)
{
	DeviceCounters c;
	const Device *d = managed(f, device)->device;

	assert_int_equal(d->ops->counters((Device *)d, &c), 0);
	return (double)c.bytes[WRITE_IO];
}

/* What was written to the cache is in it or on the disk. */
static void assert_nothing_lost(const Fixture *f, const char *device)
{
	SimAccount a = account_of(f, device);
	double there = written_bytes(f, device) + a.dirty_bytes;

	if (there < 0.99 * a.held_bytes)
		print_error("%s: %.0f of %.0f bytes are there\n", device, there, a.held_bytes);
	assert_true(there >= 0.99 * a.held_bytes);
	assert_true(a.failed[READ_IO] == 0 && a.failed[WRITE_IO] == 0);
}

static void open_node(Fixture *f, const char *node)
{
	fixture_open_text(f, node);
	fixture_start(f);
	fixture_run(f, 5);
}

/* A budget that all disks must sleep for. */
static const char *low(const Fixture *f)
{
	return f->control->fleet.n > 5 ? "60 W" : f->control->fleet.n > 2 ? "14 W" : "9 W";
}

static size_t count_disks(const Fixture *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->control->fleet.n; i++)
		n += f->control->fleet.devices[i]->device->kind == KIND_HDD;
	return n;
}

/* No assertions: also lived by a child. */
static void live_asleep(Fixture *f)
{
	fixture_run(f, 5);
	fixture_set(f, low(f));
	fixture_run(f, 300);
}

static void put_all_to_sleep(Fixture *f)
{
	live_asleep(f);
	assert_int_equal(count_asleep(f), count_disks(f));
}

static void no_write_reaches_a_sleeping_disk_for_an_hour(void **state)
{
	double written, held;
	Fixture f;

	(void)state;
	open_node(&f, quiet);
	put_all_to_sleep(&f);
	written = written_bytes(&f, "sda");
	held = account_of(&f, "sda").held_bytes;
	fixture_run(&f, HOUR_S);
	assert_int_equal(count_asleep(&f), 4);
	assert_true(written_bytes(&f, "sda") == written);
	assert_true(account_of(&f, "sda").held_bytes > held + 0.5e6 * HOUR_S);
	assert_int_equal(account_of_all(&f).io_wakes, 0);
	assert_int_equal(account_of_all(&f).spin_ups, 0);
	assert_nothing_lost(&f, "sda");
	fixture_close(&f);
}

static void the_cache_holds_for_a_while_before_its_disk_is_stopped(void **state)
{
	const Managed *md;
	uint64_t began;
	Fixture f;

	(void)state;
	open_node(&f, quiet);
	md = managed(&f, "sda");
	fixture_set(&f, low(&f));
	began = now_us(&f);
	while (!(md->errands.busy && md->errands.mechanism == MECHANISM_CONDITION)) {
		fixture_run(&f, 0.01);
		assert_true(now_us(&f) < began + 120 * USEC_PER_SEC);
	}
	assert_int_equal(md->knobs.actual.redirect, REDIRECT_HOLD);
	assert_true(md->errands.began_us >= md->cache.held_us + 2 * USEC_PER_SEC);
	assert_true(md->errands.began_us >= md->workload.last_io_us + 2 * USEC_PER_SEC);
	fixture_close(&f);
}

/* The other devices make room until it has stopped. */
static void the_budget_is_held_while_writes_settle(void **state)
{
	size_t waiting = 0;
	Fixture f;

	(void)state;
	open_node(&f, SIM_NODE("archive") CACHE "count = 4\ndemand = saturate\n" CACHED(
			      4) "cache_size = 200G\ndemand = constant 1\n");
	fixture_set(&f, "100%");
	fixture_run(&f, 30);
	fixture_set(&f, "50%");
	for (unsigned i = 0; i < 1200; i++) {
		const Managed *md = managed(&f, "sda");

		fixture_run(&f, 0.1);
		waiting += md->cache.held_us && !managed_asleep(md);
		if (i == 0)
			continue;
		/* what cannot be saved any faster is said to be missing */
		assert_true(caps_sum_w(&f.control->fleet) <=
			    f.control->limits.budget_w + f.control->enforcement.plan->shortfall_w +
				    EPSILON_W);
		assert_true(sim_node_true_watts(f.node) <= f.control->limits.budget_w);
	}
	assert_true(waiting > 0);
	assert_true(count_asleep(&f) > 0);
	fixture_close(&f);
}

static void a_cache_that_fills_is_drained_and_its_disk_sleeps_again(void **state)
{
	uint64_t stops;
	Fixture f;

	(void)state;
	open_node(&f, SIM_NODE("archive") CACHE "count = 5\ndemand = saturate\n" CACHED(
			      1) "cache_size = 2G\ndemand = 0:0.1 600:5 800:0.1\n");
	put_all_to_sleep(&f);
	fixture_run(&f, 285);
	assert_int_equal(count_asleep(&f), 1);
	stops = managed(&f, "sda")->wear.account->starts_used;
	fixture_run(&f, 200);
	assert_int_equal(count_wakeups(&f, "its cache is drained"), 1);
	fixture_run(&f, HOUR_S);
	assert_int_equal(count_decisions(&f, "sda", "its cache is drained"), 1);
	assert_int_equal(count_asleep(&f), 1);
	assert_int_equal(managed(&f, "sda")->knobs.actual.redirect, REDIRECT_HOLD);
	assert_int_equal(managed(&f, "sda")->wear.account->starts_used, stops + 1);
	/* in time: nothing went past the cache and woke it */
	assert_int_equal(account_of(&f, "sda").io_wakes, 0);
	assert_int_equal(count_wakeups(&f, NULL), 1);
	assert_nothing_lost(&f, "sda");
	fixture_close(&f);
}

static void a_cache_without_room_for_what_is_written_keeps_its_disk_up(void **state)
{
	DeviceState d;
	Fixture f;

	(void)state;
	open_node(&f, SIM_NODE("archive") CACHE
		  "demand = idle\n" CACHED(1) "cache_size = 1G\ndemand = constant 5\n");
	fixture_set(&f, low(&f));
	fixture_run(&f, HOUR_S);
	assert_int_equal(count_asleep(&f), 0);
	assert_int_equal(account_of(&f, "sda").spin_ups, 0);
	assert_int_equal(control_device_by_name(f.control, "sda", &d), 0);
	assert_non_null(strstr(d.sleep.awake_why, "no room"));
	fixture_close(&f);
}

/* The most that wake together until none sleeps. */
static size_t watch_waking(Fixture *f)
{
	size_t most = 0;

	for (unsigned i = 0; i < 3000 && (count_asleep(f) || count_waking(f)); i++) {
		fixture_run(f, 0.1);
		most = MAX(most, count_waking(f));
	}
	assert_int_equal(count_asleep(f), 0);
	return most;
}

static void caches_are_drained_when_the_budget_lifts(void **state)
{
	_cleanup_free_ char *before = NULL;
	uint64_t cookie;
	Fixture f;

	(void)state;
	fixture_open_text(&f, quiet);
	before = fixture_dump(&f);
	fixture_start(&f);
	fixture_run(&f, 5);
	cookie = fixture_set(&f, low(&f));
	fixture_run(&f, HOUR_S);
	assert_int_equal(count_asleep(&f), 4);
	fixture_release(&f, cookie);
	assert_int_equal(watch_waking(&f), 2);
	assert_int_equal(count_wakeups(&f, "its cache is drained"), 4);
	assert_int_equal(account_of_all(&f).io_wakes, 0);
	fixture_run(&f, 1800);
	assert_false(cache_watch_any_draining(&f.control->fleet));
	for (unsigned i = 0; i < 4; i++) {
		const char *name = f.control->fleet.devices[1 + i]->device->name;

		assert_true(account_of(&f, name).dirty_bytes < 0.02 * 200e9);
		assert_nothing_lost(&f, name);
	}
	assert_int_equal(journal_size(f.control->tools.journal), 0);
	assert_as_found(&f, before);
	fixture_close(&f);
}

static int (*read_healthy)(Device *d, const char *attr, char *buf, size_t size);

static int read_without_bcache(Device *d, const char *attr, char *buf, size_t size)
{
	return strncmp(attr, "bcache/", strlen("bcache/")) == 0 ? -ENOENT
								: read_healthy(d, attr, buf, size);
}

static void a_cache_that_is_taken_away_while_it_drains_is_forgotten(void **state)
{
	const DeviceOps *healthy;
	Managed *md;
	uint64_t cookie;
	DeviceOps ops;
	Fixture f;

	(void)state;
	open_node(&f, quiet);
	md = managed(&f, "sda");
	cookie = fixture_set(&f, low(&f));
	fixture_run(&f, HOUR_S);
	fixture_release(&f, cookie);
	for (unsigned i = 0; i < 600 && (!md->cache.draining || managed_asleep(md)); i++)
		fixture_run(&f, 0.1);
	assert_true(md->cache.draining);
	healthy = replace_ops(md, &ops);
	read_healthy = ops.attr_read;
	ops.attr_read = read_without_bcache;
	fixture_run(&f, 1800);
	assert_false(cache_watch_any_draining(&f.control->fleet));
	assert_null(knob_set_redirect(md));
	assert_null(md->knobs.problem);
	assert_int_equal(journal_size(f.control->tools.journal), 0);
	fixture_set(&f, low(&f));
	fixture_run(&f, 600);
	assert_true(managed_asleep(md));
	md->device->ops = healthy;
	fixture_close(&f);
}

static void a_budget_that_comes_back_while_a_cache_is_drained_is_held(void **state)
{
	uint64_t cookie;
	Fixture f;

	(void)state;
	open_node(&f, quiet);
	cookie = fixture_set(&f, low(&f));
	fixture_run(&f, HOUR_S);
	fixture_release(&f, cookie);
	fixture_run(&f, 1);
	assert_true(cache_watch_any_draining(&f.control->fleet));
	fixture_set(&f, low(&f));
	for (unsigned i = 0; i < 1200; i++) {
		fixture_run(&f, 0.1);
		if (i > 10 && !f.control->enforcement.plan->shortfall_w)
			assert_within_budget(&f);
	}
	fixture_run(&f, 2 * HOUR_S);
	assert_int_equal(count_asleep(&f), 4);
	assert_nothing_lost(&f, "sda");
	fixture_close(&f);
}

/* Killed while writes are held; the claim is gone with it, or stands. */
static void kill_while_held(Fixture *f, const char *node, bool claim_stands)
{
	_cleanup_free_ char *path = NULL;

	fixture_open_text(f, node);
	path = text_printf("%s/the.node", f->dir);
	assert_int_equal(write_file_atomic(path, node, 0644), 0);
	live_and_be_killed(f->dir, path, live_asleep);
	if (!claim_stands)
		unlink(f->claims);
	assert_true(account_of(f, "sda").dirty_bytes > 0);
	fixture_start(f);
	/* the first of them begin to wake at once, so that what is held gets to where it belongs */
	assert_int_equal(count_asleep(f) + count_waking(f), 4);
}

static void assert_no_disk_lost_anything(const Fixture *f)
{
	for (size_t i = 0; i < f->control->fleet.n; i++)
		if (f->control->fleet.devices[i]->device->kind == KIND_HDD)
			assert_nothing_lost(f, f->control->fleet.devices[i]->device->name);
}

static void killed_while_writes_are_held_the_next_start_loses_nothing(void **state)
{
	Fixture f;

	(void)state;
	kill_while_held(&f, quiet, false);
	/* what was held is written before the cache lets go, by disks that wake in turn */
	assert_int_equal(watch_waking(&f), 2);
	assert_int_equal(account_of_all(&f).io_wakes, 0);
	fixture_run(&f, HOUR_S);
	assert_int_equal(count_asleep(&f), 0);
	assert_no_disk_lost_anything(&f);
	assert_int_equal(journal_size(f.control->tools.journal), 0);
	fixture_close(&f);
}

static void killed_while_writes_are_held_a_standing_claim_holds_them_again(void **state)
{
	size_t most = 0;
	Fixture f;

	(void)state;
	kill_while_held(&f, shared, true);
	for (unsigned i = 0; i < 2 * HOUR_S; i++) {
		fixture_run(&f, 1);
		most = MAX(most, count_waking(&f));
		if (i > 5) /* all is given back first */
			assert_true(sim_node_true_watts(f.node) <= f.control->limits.budget_w);
	}
	assert_in_range(most, 1, 2);
	assert_int_equal(account_of_all(&f).io_wakes, 0);
	assert_int_equal(account_of_all(&f).spin_ups, 4);
	assert_int_equal(count_asleep(&f), 4);
	for (unsigned i = 0; i < f.control->fleet.n; i++)
		assert_false(f.control->fleet.devices[i]->knobs.leftover);
	assert_int_equal(managed(&f, "sda")->knobs.actual.redirect, REDIRECT_HOLD);
	assert_no_disk_lost_anything(&f);
	fixture_close(&f);
}

/* A read that the cache does not serve comes at that time. True: the disk was on its way. */
static bool read_comes_at(double io_s)
{
	_cleanup_free_ char *node = text_printf("%s%s%.1f:5 %.1f:0\n",
						SIM_NODE("archive") CACHE
						"demand = idle\n"
						"[devices disk]\nprofile = "
						"seagate-constellation-es2\ngroup = bulk\n"
						"read = 100%\nrandom = 100%\nread_size = 16K\n"
						"write_size = 16K\ndepth = 4\ncache = fast\n"
						"cache_size = 200G\n",
						"demand = 0:0 ", io_s, io_s + 30);
	const Managed *md;
	bool on_its_way;
	Fixture f;

	fixture_open_text(&f, node);
	fixture_start(&f);
	fixture_set(&f, low(&f));
	fixture_run(&f, io_s);
	md = managed(&f, "sda");
	on_its_way = md->cache.held_us && !managed_asleep(md);
	fixture_run(&f, 25);
	/* however it went: it serves, and every time that it had to wake was counted */
	assert_int_equal(count_asleep(&f), 0);
	assert_null(md->knobs.problem);
	assert_int_equal(count_wakeups(&f, NULL), account_of(&f, "sda").spin_ups);
	assert_int_equal(md->wear.account->starts_used, account_of(&f, "sda").spin_ups);
	for (unsigned t = 0; count_asleep(&f) == 0 && t < HOUR_S; t += 10)
		fixture_run(&f, 10);
	assert_int_equal(count_asleep(&f), 1);
	fixture_close(&f);
	return on_its_way;
}

static void a_read_while_writes_settle_is_served_and_the_disk_sleeps_later(void **state)
{
	unsigned hits = 0;

	(void)state;
	for (double s = 18; s < 30; s += 0.25)
		hits += read_comes_at(s);
	print_message("# %u reads on the way to sleep\n", hits);
	assert_true(hits > 4);
}

/* Whether IO waits or a knob is just being read again. */
static void every_wake_by_io_is_counted(void **state)
{
	unsigned long hours = MAX(cases_of(20), 5ul);
	Fixture f;

	(void)state;
	open_node(&f, SIM_NODE("archive") CACHE
		  "demand = idle\n"
		  "[devices disk]\ncount = 6\nprofile = seagate-constellation-es2\ngroup = bulk\n"
		  "read = 50%\nrandom = 100%\nread_size = 16K\nwrite_size = 16K\ndepth = 1\n"
		  "cache = fast\ncache_size = 200G\ndemand = burst high=2 low=0 on=7s off=71min\n");
	fixture_set(&f, "60%");
	for (unsigned long i = 0; i < hours; i++)
		fixture_run(&f, HOUR_S);
	assert_true(account_of_all(&f).io_wakes > 10);
	assert_int_equal(count_wakeups(&f, "IO"), account_of_all(&f).io_wakes);
	assert_int_equal(count_wakeups(&f, NULL), account_of_all(&f).spin_ups);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_write_reaches_a_sleeping_disk_for_an_hour),
		cmocka_unit_test(the_cache_holds_for_a_while_before_its_disk_is_stopped),
		cmocka_unit_test(the_budget_is_held_while_writes_settle),
		cmocka_unit_test(a_cache_that_fills_is_drained_and_its_disk_sleeps_again),
		cmocka_unit_test(a_cache_without_room_for_what_is_written_keeps_its_disk_up),
		cmocka_unit_test(caches_are_drained_when_the_budget_lifts),
		cmocka_unit_test(a_cache_that_is_taken_away_while_it_drains_is_forgotten),
		cmocka_unit_test(a_budget_that_comes_back_while_a_cache_is_drained_is_held),
		cmocka_unit_test(killed_while_writes_are_held_the_next_start_loses_nothing),
		cmocka_unit_test(killed_while_writes_are_held_a_standing_claim_holds_them_again),
		cmocka_unit_test(a_read_while_writes_settle_is_served_and_the_disk_sleeps_later),
		cmocka_unit_test(every_wake_by_io_is_counted),
	};

	log_set_max_level(LOG_CRIT);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
