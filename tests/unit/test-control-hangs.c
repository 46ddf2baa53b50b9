/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Devices that take their time: shelves of disks that spin up one after another, and writes that
 * do not come back. */

#include "test-control.h"

#include <ctype.h>

#include "base/file.h"

#define ARCHIVE "policies/nodes/archive.node"
#define FLASH   "policies/nodes/flash.node"

/* What the service manager allows a stop, and the restore after it, to take. */
static double stop_timeout_s(void)
{
	static const char key[] = "TimeoutStopSec=";
	_cleanup_free_ char *unit = NULL;
	const char *at;

	assert_int_equal(read_file("packaging/storpowerd.service", &unit), 0);
	at = strstr(unit, key);
	assert_non_null(at);
	at += strlen(key);
	assert_true(isdigit(*at));
	return atof(at);
}

static const char shelf[] =
	SIM_NODE("archive") "[devices disk]\ncount = 40\nprofile = seagate-constellation-es2\n"
			    "group = bulk\nread = 60%\nrandom = 70%\nread_size = 256K\n"
			    "write_size = 256K\ndepth = 16\ndemand = idle\n";

static void put_to_sleep(Fixture *f)
{
	fixture_run(f, 600);
	fixture_set(f, "50%");
	fixture_run(f, 1200);
	assert_true(count_asleep(f) > 20);
}

/* Ever, of all disks. */
static uint64_t spin_ups(const Fixture *f)
{
	return account_of_all(f).spin_ups;
}

/* Sleeping disks for which a cache holds writes back: here all those that have one. */
static size_t count_held(const Fixture *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->control->fleet.n; i++) {
		const Managed *md = f->control->fleet.devices[i];

		n += managed_asleep(md) && cache_watch_holds(md);
	}
	return n;
}

static double seconds_since(const Fixture *f, uint64_t began_us)
{
	return (double)(now_us(f) - began_us) / USEC_PER_SEC;
}

static void stopping_leaves_a_sleeping_shelf_asleep(void **state)
{
	_cleanup_free_ char *before = NULL;
	uint64_t began, spun_up;
	Fixture f;

	(void)state;
	fixture_open_text(&f, shelf);
	before = fixture_dump(&f);
	fixture_start(&f);
	put_to_sleep(&f);
	spun_up = spin_ups(&f);
	began = now_us(&f);
	fixture_stop(&f);
	assert_true(seconds_since(&f, began) < 1);
	assert_int_equal(spin_ups(&f), spun_up);
	assert_given_back(&f, before);
	assert_journal_empty(f.journal);
	fixture_close(&f);
}

/* Only those that writes are held back for. */
static void stopping_wakes_disks_with_dirty_caches_within_the_units_patience(void **state)
{
	_cleanup_free_ char *before = NULL;
	double rated_w, took_s;
	uint64_t began, spun_up;
	size_t held;
	Fixture f;

	(void)state;
	fixture_open(&f, ARCHIVE);
	before = fixture_dump(&f);
	fixture_start(&f);
	put_to_sleep(&f);
	held = count_held(&f);
	assert_int_equal(held, 12);
	spun_up = spin_ups(&f);
	rated_w = fixture_rated_w(&f);
	(void)sim_node_over_seconds(f.node, rated_w);
	began = now_us(&f);
	fixture_stop(&f);
	took_s = seconds_since(&f, began);
	print_message("# %zu disks woken in %.1f s\n", held, took_s);
	assert_true(took_s < stop_timeout_s());
	assert_int_equal(spin_ups(&f) - spun_up, held);
	/* a hidden few percent above the profiles' figures at most */
	assert_true(sim_node_over_seconds(f.node, 1.04 * rated_w) < 1);
	assert_given_back(&f, before);
	assert_journal_empty(f.journal);
	/* and nothing of what was held stays behind for want of a disk */
	fixture_run(&f, 60);
	assert_int_equal(spin_ups(&f) - spun_up, held);
	fixture_close(&f);
}

/* How many spun up for it. */
static uint64_t restore(Fixture *f, const char *before)
{
	ControlConfig config = { .journal_path = f->journal, SLEEP_DEFAULTS };
	uint64_t began = now_us(f), spun_up = spin_ups(f);
	double took_s;

	assert_int_equal(control_restore(&config, f->loop, f->node), 0);
	took_s = seconds_since(f, began);
	print_message("# restored in %.1f s\n", took_s);
	assert_true(took_s < stop_timeout_s());
	assert_given_back(f, before);
	assert_journal_empty(f->journal);
	return spin_ups(f) - spun_up;
}

static void restoring_leaves_a_sleeping_shelf_asleep(void **state)
{
	_cleanup_free_ char *before = NULL, *path = NULL;
	Fixture f;

	(void)state;
	fixture_open_text(&f, shelf);
	before = fixture_dump(&f);
	path = text_printf("%s/shelf.node", f.dir);
	assert_int_equal(write_file_atomic(path, shelf, 0644), 0);
	live_and_be_killed(f.dir, path, put_to_sleep);
	assert_int_equal(restore(&f, before), 0);
	fixture_close(&f);
}

static void restoring_wakes_disks_with_dirty_caches_within_the_units_patience(void **state)
{
	_cleanup_free_ char *before = NULL;
	Fixture f;

	(void)state;
	fixture_open(&f, ARCHIVE);
	before = fixture_dump(&f);
	live_and_be_killed(f.dir, ARCHIVE, put_to_sleep);
	assert_int_equal(restore(&f, before), 12);
	fixture_close(&f);
}

/* However long: its step and its device are the worker's until it has come back. */
static void stopping_waits_for_a_write_that_hangs(void **state)
{
	uint64_t hang_us = 1000 * USEC_PER_SEC, began;
	_cleanup_free_ char *before = NULL;
	FaultyDevice nvme;
	Fixture f;

	(void)state;
	fixture_open(&f, FLASH);
	before = fixture_dump(&f);
	fixture_start(&f);
	fixture_run(&f, 10);
	faulty_device_wrap(&nvme, managed(&f, "nvme0")->device, &f.loop->clock);
	nvme.hang_us = hang_us;
	limit(&f, SCOPE_DEVICE, "nvme0", 50);
	began = now_us(&f);
	fixture_run(&f, 5);
	assert_true(managed(&f, "nvme0")->errands.busy);
	nvme.hang_us = 0;
	fixture_stop(&f);
	assert_true(now_us(&f) >= began + hang_us);
	/* nothing of it comes later */
	fixture_run(&f, 2000);
	assert_as_found(&f, before);
	assert_journal_empty(f.journal);
	fixture_close(&f);
}

static void others_make_room_for_a_knob_that_hangs(void **state)
{
	FaultyDevice hung[3];
	Fixture f;

	(void)state;
	fixture_open(&f, FLASH);
	fixture_start(&f);
	fixture_run(&f, 60);
	for (size_t i = 0; i < ELEMENTSOF(hung); i++) {
		faulty_device_wrap(&hung[i], f.control->fleet.devices[i]->device, &f.loop->clock);
		hung[i].hang_us = 30 * USEC_PER_SEC;
	}
	fixture_set(&f, "70%");
	fixture_run(&f, 3);
	for (size_t i = 0; i < ELEMENTSOF(hung); i++)
		assert_true(f.control->fleet.devices[i]->errands.busy);
	assert_true(state_of(&f).degraded);
	assert_within_budget(&f);
	assert_true(sim_node_true_watts(f.node) <= f.control->limits.budget_w);
	for (size_t i = 0; i < ELEMENTSOF(hung); i++)
		hung[i].hang_us = 0;
	fixture_run(&f, 120);
	assert_within_budget(&f);
	assert_false(state_of(&f).degraded);
	fixture_close(&f);
}

static void a_groups_limit_holds_while_a_member_hangs(void **state)
{
	double operating_w, worst_w = 0;
	FaultyDevice hung;
	Fixture f;
	char *group;

	(void)state;
	fixture_open(&f, FLASH);
	fixture_start(&f);
	fixture_run(&f, 60);
	group = f.control->fleet.devices[0]->device->group;
	limit(&f, SCOPE_GROUP, group, 60);
	fixture_run(&f, 60);
	assert_true(group_w(&f, group, &operating_w) <= 0.6 * operating_w + EPSILON_W);
	faulty_device_wrap(&hung, f.control->fleet.devices[0]->device, &f.loop->clock);
	hung.hang_us = 30 * USEC_PER_SEC;
	limit(&f, SCOPE_DEVICE, f.control->fleet.devices[0]->device->name, 40);
	for (unsigned i = 0; i < 600; i++) {
		fixture_run(&f, 0.1);
		worst_w = MAX(worst_w, group_w(&f, group, &operating_w));
	}
	if (worst_w > 0.6 * operating_w + EPSILON_W)
		print_error("group at %.3f W, limit %.3f W\n", worst_w, 0.6 * operating_w);
	assert_true(worst_w <= 0.6 * operating_w + EPSILON_W);
	fixture_close(&f);
}

static void a_devices_limit_holds_while_another_hangs(void **state)
{
	const Managed *limited;
	FaultyDevice hung;
	Fixture f;

	(void)state;
	fixture_open(&f, FLASH);
	fixture_start(&f);
	fixture_run(&f, 60);
	faulty_device_wrap(&hung, f.control->fleet.devices[0]->device, &f.loop->clock);
	hung.hang_us = 30 * USEC_PER_SEC;
	fixture_set(&f, "80%");
	limited = f.control->fleet.devices[1];
	limit(&f, SCOPE_DEVICE, limited->device->name, 60);
	fixture_run(&f, 2);
	for (unsigned i = 0; i < 600; i++) {
		fixture_run(&f, 0.1);
		assert_true(limited->caps.now_w <= 0.6 * limited->trust.operating_w + EPSILON_W);
	}
	fixture_close(&f);
}

/* One disk, idle from 100 s on, and an IO at `io_s`. */
static void write_one_disk(const char *path, double io_s)
{
	_cleanup_fclose_ FILE *f = fopen(path, "we");

	assert_non_null(f);
	fprintf(f,
		"[node]\nname = one\npolicy = archive\nseed = 1\nsensors = none\n"
		"[devices d]\nprofile = seagate-exos-7e2000\ngroup = bulk\nread = 100%%\n"
		"random = 100%%\nread_size = 64K\nwrite_size = 64K\ndepth = 4\n"
		"demand = 0:20 100:0 %.1f:20\n",
		io_s);
}

static void open_one_disk(Fixture *f, double io_s)
{
	char dir[] = "/tmp/storpower-test-XXXXXX";
	_cleanup_free_ char *path = NULL;

	*f = (Fixture){};
	assert_non_null(mkdtemp(dir));
	path = text_printf("%s/one.node", dir);
	write_one_disk(path, io_s);
	fixture_open_in(f, path, dir);
	fixture_start(f);
	fixture_set(f, "40%");
}

/* When it begins to stop, after its last IO. */
static double entry_begins_s(void)
{
	const Managed *md;
	uint64_t began;
	double s;
	Fixture f;

	open_one_disk(&f, 2000);
	began = now_us(&f);
	md = f.control->fleet.devices[0];
	while (!(md->errands.busy && md->errands.mechanism == MECHANISM_CONDITION &&
		 md->knobs.target.condition > CONDITION_IDLE_B)) {
		fixture_run(&f, 0.1);
		assert_true(now_us(&f) < began + 2000 * USEC_PER_SEC);
	}
	s = seconds_since(&f, began);
	fixture_close(&f);
	return s;
}

/* True when the IO came during the entry: the disk was woken and had never got to sleep. */
static bool io_comes_at(double io_s)
{
	Fixture f;
	bool hit;

	open_one_disk(&f, io_s);
	fixture_run(&f, io_s + 2);
	hit = count_decisions(&f, NULL, "woken") && !count_decisions(&f, NULL, "-> standby");
	if (hit) /* and its spin-up counts */
		assert_true(caps_sum_w(&f.control->fleet) >=
			    f.control->fleet.devices[0]->waking.watts);
	fixture_run(&f, 30);
	assert_int_equal(count_decisions(&f, NULL, "could not be set"), 0);
	assert_null(f.control->fleet.devices[0]->knobs.problem);
	fixture_close(&f);
	return hit;
}

static void io_during_the_entry_into_standby_is_a_spin_up(void **state)
{
	double entry_s = entry_begins_s();
	unsigned hits = 0;

	(void)state;
	for (double s = entry_s - 2; s < entry_s + 8; s += 0.5)
		hits += io_comes_at(s);
	print_message("# %u IOs during an entry, which begins at %.1f s\n", hits, entry_s);
	assert_true(hits > 0);
}

/* Between the IO and the next peek, its condition differs from what is held, but nobody meddled. */
static void verifying_a_disk_that_io_has_just_woken_leaves_it_awake(void **state)
{
	(void)state;
	for (double after_s = 0.01; after_s < 0.5; after_s += 0.06) {
		const Managed *disk;
		Fixture f;

		open_one_disk(&f, 200);
		fixture_run(&f, 200 + after_s);
		disk = f.control->fleet.devices[0];
		(void)verify_all(&f);
		for (unsigned i = 0; i < 200; i++) {
			fixture_run(&f, 0.1);
			/* awake from the next peek on, and it stays so */
			if (i > 2)
				assert_false(managed_asleep(disk) ||
					     disk->knobs.target.condition > CONDITION_IDLE_B);
		}
		assert_int_equal(count_decisions(&f, NULL, "woken"), 1);
		assert_int_equal(count_decisions(&f, NULL, "settings lost"), 0);
		fixture_close(&f);
	}
}

static void a_write_that_fails_at_the_end_is_tried_again_and_does_not_hold_it_up(void **state)
{
	FaultyDevice faulty;
	uint64_t began;
	Fixture f;

	(void)state;
	open_faulty(&f, SIM_NODE("balanced") SIM_FLASH "demand = saturate\n", &faulty);
	fixture_set(&f, "60%");
	fixture_run(&f, 10);
	faulty.n_writes = 0;
	faulty.refuse = true;
	began = now_us(&f);
	fixture_stop(&f);
	assert_true(seconds_since(&f, began) < 10);
	assert_int_equal(faulty.n_writes, 2);
	fixture_close(&f);
}

/* All of a device's operations hang, those of reading too. */
static void a_device_that_does_not_answer_at_all_stops_nobody_else(void **state)
{
	size_t awake = 0;
	Fixture f;

	(void)state;
	fixture_open(&f, FLASH);
	fixture_start(&f);
	fixture_run(&f, 10);
	assert_int_equal(sim_node_inject(f.node, "nvme3", SIM_HANG), 0);
	fixture_set(&f, "70%");
	for (unsigned i = 0; i < 300; i++) {
		fixture_run(&f, 0.1);
		(void)state_of(&f);
	}
	assert_true(managed(&f, "nvme3")->errands.busy);
	assert_true(state_of(&f).degraded);
	assert_within_budget(&f);
	for_each_device(const Managed, md, &f.control->fleet) awake +=
		md->workload.counters.time_us + 3 * USEC_PER_SEC > now_us(&f);
	/* the others are enforced, and seen */
	assert_int_equal(awake, f.control->fleet.n - 1);
	assert_true(virtual_loop_blocked_us(f.loop) == 0);
	assert_int_equal(sim_node_inject(f.node, "nvme3", SIM_HEALTHY), 0);
	fixture_run(&f, 1200); /* a step is several operations */
	assert_false(state_of(&f).degraded);
	assert_within_budget(&f);
	fixture_close(&f);
}

/* What it offers is not known: it counts at its rated watts. */
static void a_device_that_hangs_from_the_start_counts_at_its_rated_watts(void **state)
{
	const Managed *md;
	Fixture f;

	(void)state;
	fixture_open(&f, FLASH);
	assert_int_equal(sim_node_inject(f.node, "nvme3", SIM_HANG), 0);
	fixture_start(&f);
	md = managed(&f, "nvme3");
	fixture_set(&f, "70%");
	fixture_run(&f, 10);
	assert_false(md->knobs.probed);
	assert_true(md->caps.now_w == md->device->profile->rated_w);
	assert_within_budget(&f);
	assert_true(virtual_loop_blocked_us(f.loop) == 0);
	assert_int_equal(sim_node_inject(f.node, "nvme3", SIM_HEALTHY), 0);
	/* a probe is many operations */
	for (unsigned t = 0; !md->knobs.probed && t < 20000; t += 100)
		fixture_run(&f, 100);
	assert_true(md->knobs.probed);
	fixture_run(&f, 100);
	assert_true(md->caps.now_w < md->device->profile->rated_w);
	fixture_close(&f);
}

/* The registers after a minute under a budget that falls and rises; asked: somebody asks for
 * everything, all the time. */
static char *after_a_minute(bool asked, size_t *ret_decisions, size_t *ret_writes)
{
	FaultyDevice counted;
	char *registers;
	Fixture f;

	fixture_open(&f, "policies/nodes/tiny.node");
	fixture_start(&f);
	fixture_run(&f, 5);
	faulty_device_wrap(&counted, f.control->fleet.devices[0]->device, &f.loop->clock);
	fixture_set(&f, "70%");
	for (unsigned i = 0; i < 6000; i++) {
		if (i == 2000)
			fixture_set(&f, "50%");
		if (i == 4000)
			fixture_release(&f, 2);
		for (unsigned k = 0; asked && k < 100; k++) {
			DeviceState d;

			(void)state_of(&f);
			assert_int_equal(control_device(f.control, k % f.control->fleet.n, &d), 0);
		}
		fixture_run(&f, 0.01);
	}
	registers = fixture_dump(&f);
	*ret_decisions = f.control->diary.decisions.n_ever;
	*ret_writes = counted.n_writes;
	fixture_close(&f);
	return registers;
}

static void ten_thousand_questions_a_second_turn_no_knob(void **state)
{
	_cleanup_free_ char *quiet = NULL, *asked = NULL;
	size_t quiet_decisions, asked_decisions, quiet_writes, asked_writes;

	(void)state;
	quiet = after_a_minute(false, &quiet_decisions, &quiet_writes);
	asked = after_a_minute(true, &asked_decisions, &asked_writes);
	assert_string_equal(quiet, asked);
	assert_int_equal(quiet_decisions, asked_decisions);
	assert_int_equal(quiet_writes, asked_writes);
	assert_true(quiet_writes > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_that_does_not_answer_at_all_stops_nobody_else),
		cmocka_unit_test(a_device_that_hangs_from_the_start_counts_at_its_rated_watts),
		cmocka_unit_test(ten_thousand_questions_a_second_turn_no_knob),
		cmocka_unit_test(stopping_leaves_a_sleeping_shelf_asleep),
		cmocka_unit_test(stopping_wakes_disks_with_dirty_caches_within_the_units_patience),
		cmocka_unit_test(restoring_leaves_a_sleeping_shelf_asleep),
		cmocka_unit_test(restoring_wakes_disks_with_dirty_caches_within_the_units_patience),
		cmocka_unit_test(stopping_waits_for_a_write_that_hangs),
		cmocka_unit_test(others_make_room_for_a_knob_that_hangs),
		cmocka_unit_test(a_groups_limit_holds_while_a_member_hangs),
		cmocka_unit_test(a_devices_limit_holds_while_another_hangs),
		cmocka_unit_test(io_during_the_entry_into_standby_is_a_spin_up),
		cmocka_unit_test(verifying_a_disk_that_io_has_just_woken_leaves_it_awake),
		cmocka_unit_test(
			a_write_that_fails_at_the_end_is_tried_again_and_does_not_hold_it_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
