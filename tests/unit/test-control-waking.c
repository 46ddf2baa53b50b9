/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Disks that wake, or do not, while something else happens to them: on simulated nodes and virtual
 * time. */

#include <errno.h>

#include "test-control.h"

#define DISKS(n, extra)                                                                            \
	SIM_NODE("archive")                                                                        \
	"[devices disk]\ncount = " #n                                                              \
	"\nprofile = seagate-constellation-es2\ngroup = bulk\nread = 100%\nrandom = 100%\n"        \
	"read_size = 64K\nwrite_size = 64K\ndepth = 1\n" extra
#define IDLE "demand = idle\n"

static Condition real_condition(const Managed *md)
{
	Condition c;

	assert_int_equal(md->device->ops->condition_get(md->device, &c), 0);
	return c;
}

static void wake(Fixture *f)
{
	char *error = NULL;

	assert_int_equal(control_wake_device(f->control, "", &error), 0);
}

/* A node of one disk that the daemon finds in this condition. */
static Managed *open_found_in(Fixture *f, const char *node, Condition c)
{
	Device *d;

	fixture_open_text(f, node);
	d = (Device *)sim_node_device(f->node, 0);
	assert_int_equal(d->ops->condition_set(d, c), 0);
	fixture_start(f);
	return f->control->fleet.devices[0];
}

static void a_disk_found_asleep_and_stopped_again_later_can_be_woken(void **state)
{
	Managed *md;
	uint64_t cookie;
	Fixture f;

	(void)state;
	md = open_found_in(&f, DISKS(1, "demand = 0:0 100:5 130:0\n"), CONDITION_STANDBY_Z);
	fixture_set(&f, "200 W");
	fixture_run(&f, 140);
	assert_true(real_condition(md) < CONDITION_STANDBY_Y);
	cookie = fixture_set(&f, "4 W");
	fixture_run(&f, 600);
	assert_int_equal(real_condition(md), CONDITION_STANDBY_Z);
	wake(&f);
	fixture_release(&f, cookie);
	fixture_run(&f, 30);
	assert_int_equal(real_condition(md), md->knobs.actual.condition);
	assert_true(real_condition(md) < CONDITION_STANDBY_Y);
	assert_false(waking_is_wanted(md));
	fixture_close(&f);
}

static void a_disk_that_went_deeper_by_itself_is_woken_all_the_same(void **state)
{
	Managed *md;
	Fixture f;

	(void)state;
	md = open_found_in(&f, DISKS(1, IDLE), CONDITION_IDLE_C);
	fixture_run(&f, 10);
	assert_int_equal(md->device->ops->condition_set(md->device, CONDITION_STANDBY_Z), 0);
	wake(&f);
	fixture_run(&f, 100);
	assert_int_equal(real_condition(md), CONDITION_ACTIVE);
	assert_int_equal(md->knobs.actual.condition, CONDITION_ACTIVE);
	assert_true(md->wear.account->starts_used == 1);
	fixture_close(&f);
}

/* As one that somebody else has sent IO to. */
static void io_to(Fixture *f, Managed *md)
{
	f->control->tools.now_us = now_us(f);
	queue_add_need(&f->control->queue, waking_notice_io(md, &f->control->tools));
	turn(f->control);
}

static void members_that_are_still_being_stopped_wake_with_their_pool(void **state)
{
	FaultyDevice late[4];
	Device *woken;
	uint64_t cookie;
	Fixture f;

	(void)state;
	fixture_open_text(&f, DISKS(4, "pool = tank\n" IDLE));
	fixture_start(&f);
	f.control->config.sleep.spinups_at_once = 4;
	fixture_run(&f, 5);
	for (size_t i = 1; i < 4; i++) {
		faulty_device_wrap(&late[i], f.control->fleet.devices[i]->device, &f.loop->clock);
		late[i].of = "condition";
		late[i].late = true;
		late[i].hang_us = 8 * USEC_PER_SEC;
	}
	cookie = fixture_set(&f, "10 W");
	for (unsigned i = 0; i < 6000 && !managed_asleep(f.control->fleet.devices[0]); i++)
		fixture_run(&f, 0.1);
	for (size_t i = 1; i < 4; i++)
		assert_true(f.control->fleet.devices[i]->errands.busy &&
			    !managed_asleep(f.control->fleet.devices[i]));
	fixture_set(&f, "200 W");
	fixture_release(&f, cookie);
	woken = f.control->fleet.devices[0]->device;
	assert_int_equal(woken->ops->condition_set(woken, CONDITION_ACTIVE), 0);
	io_to(&f, f.control->fleet.devices[0]);
	fixture_run(&f, 60);
	for (size_t i = 0; i < 4; i++)
		assert_true(real_condition(f.control->fleet.devices[i]) < CONDITION_STANDBY_Y);
	fixture_close(&f);
}

/* 24 W more, for a moment, beside what the others can draw. */
static void a_limit_on_the_group_that_bears_a_spin_up_keeps_none_from_it(void **state)
{
	uint64_t cookie;
	Fixture f;

	(void)state;
	fixture_open_text(&f, DISKS(6, IDLE));
	fixture_start(&f);
	fixture_run(&f, 5);
	cookie = fixture_set(&f, "12 W");
	fixture_run(&f, 300);
	assert_int_equal(count_asleep(&f), 6);
	limit(&f, SCOPE_GROUP, "bulk", 100);
	fixture_release(&f, cookie);
	wake(&f);
	fixture_run(&f, 200);
	assert_int_equal(count_wakeups(&f, "asked for"), 6);
	assert_int_equal(account_of_all(&f).spin_ups, 6);
	fixture_close(&f);
}

static int one_waits(Device *d, DeviceCounters *ret)
{
	(void)d;
	*ret = (DeviceCounters){ .outstanding = 1 };
	return 0;
}

/* Nobody looks then but for its sake. */
static void a_disk_that_io_does_not_wake_is_told_of_without_a_budget_too(void **state)
{
	const DeviceOps *healthy;
	Managed *md;
	DeviceOps ops;
	Fixture f;

	(void)state;
	for (unsigned tenths = 0; tenths < 10; tenths++) {
		fixture_open_text(&f, DISKS(1, IDLE));
		fixture_start(&f);
		md = f.control->fleet.devices[0];
		fixture_run(&f, 5);
		fixture_release(&f, fixture_set(&f, "4 W"));
		fixture_set(&f, "4 W");
		fixture_run(&f, 300);
		assert_true(managed_asleep(md));
		fixture_release(&f, 2);
		fixture_run(&f, 100 + 0.1 * tenths);
		healthy = replace_ops(md, &ops);
		ops.counters = one_waits;
		io_to(&f, md);
		fixture_run(&f, 3600);
		assert_true(md->waking.stuck);
		assert_problem(&f, md->device->name, "does not wake");
		md->device->ops = healthy;
		fixture_close(&f);
	}
}

/* A disk that sleeps on, without a budget. */
static Managed *open_asleep(Fixture *f, const char *node)
{
	uint64_t cookie;
	Managed *md;

	fixture_open_text(f, node);
	fixture_start(f);
	md = f->control->fleet.devices[0];
	fixture_run(f, 5);
	cookie = fixture_set(f, "4 W");
	fixture_run(f, 300);
	fixture_release(f, cookie);
	assert_true(managed_asleep(md));
	return md;
}

static void ask_anew(Fixture *f, const Managed *md)
{
	f->node->handler(md->device, DEVICE_CHANGED, f->node->userdata);
	control_devices_ready(f->control);
}

static void a_disk_that_is_asked_anew_is_woken_all_the_same(void **state)
{
	FaultyDevice slow;
	Managed *md;
	Fixture f;

	(void)state;
	md = open_asleep(&f, DISKS(1, IDLE));
	faulty_device_wrap(&slow, md->device, &f.loop->clock);
	slow.of = "condition";
	slow.read_us = USEC_PER_SEC / 2;
	ask_anew(&f, md);
	assert_true(md->errands.busy);
	wake(&f);
	assert_true(waking_is_wanted(md));
	fixture_run(&f, 60);
	assert_int_equal(real_condition(md), CONDITION_ACTIVE);
	assert_int_equal(count_wakeups(&f, "asked for"), 1);
	fixture_close(&f);
}

/* Nobody has looked since. */
static void a_disk_that_io_woke_before_it_is_asked_anew_is_seen_to_have_woken(void **state)
{
	FaultyDevice counted;
	Managed *md;
	Fixture f;

	(void)state;
	md = open_asleep(&f, DISKS(1, "demand = 0:0 600:20\n"));
	fixture_run(&f, 600);
	assert_true(managed_asleep(md));
	assert_int_equal(real_condition(md), CONDITION_ACTIVE);
	faulty_device_wrap(&counted, md->device, &f.loop->clock);
	ask_anew(&f, md);
	fixture_run(&f, 60);
	assert_false(managed_asleep(md));
	assert_int_equal(count_wakeups(&f, "IO"), 1);
	/* and nobody puts it to sleep again */
	assert_int_equal(counted.n_writes, 0);
	fixture_close(&f);
}

/* The IO that waited when it began to wake tells nothing of the time when it ought to be awake. */
static void a_disk_whose_counters_hang_is_not_said_not_to_wake(void **state)
{
	FaultyDevice slow;
	Managed *md;
	Fixture f;

	(void)state;
	fixture_open_text(&f, DISKS(1, "demand = 0:0 400:20\n"));
	fixture_start(&f);
	md = f.control->fleet.devices[0];
	fixture_run(&f, 5);
	fixture_set(&f, "4 W");
	fixture_run(&f, 300);
	faulty_device_wrap(&slow, md->device, &f.loop->clock);
	slow.of = "counters";
	while (managed_asleep(md))
		assert_true(virtual_loop_step(f.loop));
	assert_true(md->workload.waiting >= 1);
	slow.read_us = 300 * USEC_PER_SEC;
	fixture_run(&f, 200);
	assert_false(md->waking.stuck);
	assert_problem(&f, md->device->name, "");
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_disk_found_asleep_and_stopped_again_later_can_be_woken),
		cmocka_unit_test(a_disk_that_went_deeper_by_itself_is_woken_all_the_same),
		cmocka_unit_test(members_that_are_still_being_stopped_wake_with_their_pool),
		cmocka_unit_test(a_limit_on_the_group_that_bears_a_spin_up_keeps_none_from_it),
		cmocka_unit_test(a_disk_that_io_does_not_wake_is_told_of_without_a_budget_too),
		cmocka_unit_test(a_disk_that_is_asked_anew_is_woken_all_the_same),
		cmocka_unit_test(a_disk_that_io_woke_before_it_is_asked_anew_is_seen_to_have_woken),
		cmocka_unit_test(a_disk_whose_counters_hang_is_not_said_not_to_wake),
	};

	log_set_max_level(LOG_CRIT);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
