/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Devices that refuse a command, or accept it and do not do it: the budget is held by what else
 * they have, they are asked again ever more seldom, and in the end no more. */

#include <errno.h>

#include "test-control.h"

#define HOUR_S 3600

static const char three_disks[] =
	SIM_NODE("archive") "[devices disk]\ncount = 3\nprofile = seagate-constellation-es2\n"
			    "group = bulk\nread = 100%\nrandom = 100%\nread_size = 64K\n"
			    "write_size = 64K\ndepth = 1\ndemand = idle\n" SIM_FLASH
			    "demand = idle\n";

static unsigned n_asked;

/* As QEMU's AHCI does: STANDBY IMMEDIATE is accepted, and the disk goes on turning. */
static int accept_alone(Device *d, Condition c)
{
	(void)d;
	n_asked += c != CONDITION_ACTIVE;
	return 0;
}

typedef struct Rig {
	Fixture f;
	DeviceOps ops;
	const DeviceOps *honest;
} Rig;

static void open_rig(Rig *r)
{
	n_asked = 0;
	fixture_open_text(&r->f, three_disks);
	fixture_start(&r->f);
	fixture_run(&r->f, 5);
	for (size_t i = 0; i < r->f.control->fleet.n; i++) {
		Managed *md = r->f.control->fleet.devices[i];

		if (md->device->kind == KIND_HDD)
			r->honest = replace_ops(md, &r->ops);
	}
	r->ops.condition_set = accept_alone;
}

static void close_rig(Rig *r)
{
	for (size_t i = 0; i < r->f.control->fleet.n; i++)
		if (r->f.control->fleet.devices[i]->device->kind == KIND_HDD)
			r->f.control->fleet.devices[i]->device->ops = r->honest;
	fixture_close(&r->f);
}

static bool offers(const Fixture *f, const char *device, const char *knob)
{
	KnobState *knobs;
	bool found = false;
	size_t n;

	assert_int_equal(control_knobs(f->control, device, &knobs, &n), 0);
	for (size_t i = 0; i < n; i++)
		found |= streq(knobs[i].name, knob) && knobs[i].offered;
	free(knobs);
	return found;
}

static void a_disk_that_does_not_sleep_is_paced_instead(void **state)
{
	Rig r;

	(void)state;
	open_rig(&r);
	fixture_set(&r.f, "62%");
	fixture_run(&r.f, 10 * 60);
	assert_true(n_asked > 0);
	assert_int_equal(count_asleep(&r.f), 0);
	assert_within_budget(&r.f);
	assert_true(managed(&r.f, "sda")->knobs.actual.pace_w > 0);
	close_rig(&r);
}

static void after_three_times_it_is_not_asked_any_more(void **state)
{
	unsigned asked;
	Rig r;

	(void)state;
	open_rig(&r);
	fixture_set(&r.f, "62%");
	fixture_run(&r.f, 3 * HOUR_S);
	asked = n_asked;
	assert_int_equal(asked, 3 * 3);
	for (size_t i = 0; i < 3; i++) {
		const char *name = ((const char *const[]){ "sda", "sdb", "sdc" })[i];

		assert_int_equal(count_decisions(&r.f, name, "could not be set"), 2);
		assert_int_equal(count_decisions(&r.f, name, "is not used any more"), 1);
		assert_false(offers(&r.f, name, "condition"));
	}
	fixture_run(&r.f, 12 * HOUR_S);
	assert_int_equal(n_asked, asked);
	assert_within_budget(&r.f);
	close_rig(&r);
}

static void each_try_is_on_its_account(void **state)
{
	Rig r;

	(void)state;
	open_rig(&r);
	fixture_set(&r.f, "62%");
	fixture_run(&r.f, 3 * HOUR_S);
	/* to rest in idle_b twice, then to sleep; a load is a part of a stop */
	assert_int_equal(managed(&r.f, "sda")->wear.account->starts_used, 1);
	assert_true(managed(&r.f, "sda")->wear.account->loads_used >= 2);
	assert_false(managed(&r.f, "sda")->wear.charged);
	close_rig(&r);
}

static void a_reset_brings_it_back(void **state)
{
	Rig r;

	(void)state;
	open_rig(&r);
	fixture_set(&r.f, "62%");
	fixture_run(&r.f, 3 * HOUR_S);
	assert_false(offers(&r.f, "sda", "condition"));
	r.ops.condition_set = r.honest->condition_set;
	for (size_t i = 0; i < r.f.control->fleet.n; i++)
		sim_node_inject(r.f.node, r.f.control->fleet.devices[i]->device->name, SIM_RESET);
	fixture_run(&r.f, HOUR_S);
	assert_true(offers(&r.f, "sda", "condition"));
	assert_true(count_asleep(&r.f) > 0);
	assert_within_budget(&r.f);
	close_rig(&r);
}

static void ignore_test(int r, double seconds, const char *text, void *userdata)
{
	(void)seconds;
	(void)text;
	*(int *)userdata = r;
}

static void a_passed_wake_test_brings_it_back(void **state)
{
	char *error = NULL;
	int result = 1;
	Rig r;

	(void)state;
	open_rig(&r);
	fixture_set(&r.f, "62%");
	fixture_run(&r.f, 3 * HOUR_S);
	r.ops.condition_set = r.honest->condition_set;
	assert_int_equal(control_wake_test(r.f.control, "sda", ignore_test, &result, &error), 0);
	fixture_run(&r.f, 120);
	assert_int_equal(result, 0);
	assert_true(offers(&r.f, "sda", "condition"));
	assert_false(offers(&r.f, "sdb", "condition"));
	close_rig(&r);
}

/* Pacing in force is not taken for gone because a deeper one fails. */
static void what_is_in_force_when_a_lowering_fails_is_kept(void **state)
{
	FaultyDevice nvme;
	uint64_t cookie;
	double cap_w;
	Fixture f;

	(void)state;
	(void)open_faulty(&f, SIM_NODE("balanced") SIM_FLASH "demand = saturate\n", &nvme);
	cookie = fixture_set(&f, "80%");
	fixture_run(&f, 30);
	cap_w = managed(&f, "nvme0")->caps.now_w;
	nvme.refuse = true;
	fixture_set(&f, "62%");
	fixture_run(&f, 600);
	assert_true(managed(&f, "nvme0")->caps.now_w <= cap_w + EPSILON_W);
	assert_true(state_of(&f).degraded);
	nvme.refuse = false;
	fixture_release(&f, cookie + 1);
	fixture_release(&f, cookie);
	fixture_run(&f, 5);
	assert_int_equal(journal_size(f.control->tools.journal), 0);
	fixture_close(&f);
}

static void run_until_refused(Fixture *f, unsigned times)
{
	for (unsigned s = 0; s < 2 * HOUR_S; s++) {
		if (count_decisions(f, "nvme0", "io-cost could not be set") +
			    count_decisions(f, "nvme0", "is not used any more") >=
		    times)
			return;
		fixture_run(f, 1);
	}
	fail_msg("nvme0 was not asked %u times", times);
}

static void a_fast_knob_is_asked_twelve_times(void **state)
{
	FaultyDevice nvme;
	unsigned n_writes;
	Fixture f;

	(void)state;
	(void)open_faulty(&f, SIM_NODE("balanced") SIM_FLASH "demand = saturate\n", &nvme);
	nvme.of = "io.cost";
	nvme.refuse = true;
	fixture_set(&f, "80%");
	run_until_refused(&f, 11);
	assert_int_equal(count_decisions(&f, "nvme0", "is not used any more"), 0);
	assert_true(offers(&f, "nvme0", "io-cost"));
	run_until_refused(&f, 12);
	assert_int_equal(count_decisions(&f, "nvme0", "is not used any more"), 1);
	assert_false(offers(&f, "nvme0", "io-cost"));
	assert_within_budget(&f);
	n_writes = nvme.n_writes;
	fixture_run(&f, 12 * HOUR_S);
	assert_int_equal(nvme.n_writes, n_writes);
	nvme.refuse = false;
	sim_node_inject(f.node, "nvme0", SIM_RESET);
	fixture_run(&f, 60);
	assert_true(offers(&f, "nvme0", "io-cost"));
	assert_true(managed(&f, "nvme0")->knobs.actual.pace_w > 0);
	assert_within_budget(&f);
	fixture_close(&f);
}

static int answer;

static int answer_standby(Device *d, Condition c)
{
	(void)d;
	n_asked += c > CONDITION_IDLE_B;
	return c > CONDITION_IDLE_B ? answer : 0;
}

/* The only disk of a node that it must sleep for, asked once. */
static unsigned starts_after(int error)
{
	const DeviceOps *honest;
	DeviceOps ops;
	unsigned starts;
	Managed *md;
	Fixture f;

	fixture_open_text(&f, SIM_NODE("archive") SIM_DISK "demand = idle\n");
	fixture_start(&f);
	fixture_run(&f, 5);
	md = f.control->fleet.devices[0];
	honest = replace_ops(md, &ops);
	ops.condition_set = answer_standby;
	n_asked = 0;
	answer = error;
	fixture_set(&f, "4 W");
	for (unsigned s = 0; s < 600 && !n_asked; s++)
		fixture_run(&f, 1);
	assert_int_equal(n_asked, 1);
	fixture_run(&f, 1);
	assert_false(md->errands.busy);
	assert_int_equal(count_asleep(&f), 0);
	starts = md->wear.account->starts_used;
	md->device->ops = honest;
	fixture_close(&f);
	return starts;
}

static void what_may_have_moved_a_disk_is_paid_for(void **state)
{
	(void)state;
	assert_int_equal(starts_after(-ETIMEDOUT), 1);
	assert_int_equal(starts_after(-EREMOTEIO), 1);
	assert_int_equal(starts_after(-EINVAL), 0);
	assert_int_equal(starts_after(-EIO), 0);
}

/* The step was done, and the reset has undone it: the disk spins up. */
static void a_disk_that_is_reset_on_its_way_is_not_asleep(void **state)
{
	Managed *md;
	Fixture f;

	(void)state;
	fixture_open_text(&f, SIM_NODE("archive") SIM_DISK "demand = idle\n");
	fixture_start(&f);
	fixture_run(&f, 5);
	md = f.control->fleet.devices[0];
	fixture_set(&f, "4 W");
	for (unsigned i = 0; i < 6000 && !(md->errands.busy && setting_sleeps(&md->knobs.target));
	     i++)
		fixture_run(&f, 0.1);
	assert_true(md->errands.busy);
	sim_node_inject(f.node, md->device->name, SIM_RESET);
	assert_int_equal(md->device->ops->condition_set(md->device, CONDITION_ACTIVE), 0);
	while (md->errands.next & ERRAND_RESET)
		assert_true(virtual_loop_step(f.loop));
	assert_false(managed_asleep(md));
	assert_int_equal(count_decisions(&f, md->device->name, "-> standby_z"), 0);
	fixture_run(&f, 60);
	assert_int_equal(count_asleep(&f), 1);
	assert_int_equal(count_decisions(&f, md->device->name, "-> standby_z"), 1);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_disk_that_does_not_sleep_is_paced_instead),
		cmocka_unit_test(after_three_times_it_is_not_asked_any_more),
		cmocka_unit_test(each_try_is_on_its_account),
		cmocka_unit_test(a_reset_brings_it_back),
		cmocka_unit_test(a_passed_wake_test_brings_it_back),
		cmocka_unit_test(what_is_in_force_when_a_lowering_fails_is_kept),
		cmocka_unit_test(a_fast_knob_is_asked_twelve_times),
		cmocka_unit_test(what_may_have_moved_a_disk_is_paid_for),
		cmocka_unit_test(a_disk_that_is_reset_on_its_way_is_not_asleep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
