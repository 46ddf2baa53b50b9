/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Rules of enforcement that show in time or in small numbers only: when a queue may be stopped,
 * which plan a retry belongs to, what a plan that stays expects, who wants more, and which disk
 * obeys in words alone. */

#include "control/enforce.h"
#include "test-control.h"

static const char busy_flash[] = SIM_NODE("balanced") SIM_FLASH "demand = saturate\n";
static const char light_flash[] = SIM_NODE("balanced") SIM_FLASH "demand = 0:300 60s:390\n";
static const char still_disk[] = SIM_NODE("balanced") SIM_DISK "demand = idle\n";
static const char busy_disk[] = SIM_NODE("archive") SIM_DISK "demand = constant 20\n";
static const char idle_disk[] = SIM_NODE("archive") SIM_DISK "demand = idle\n";

static const Setting paced_2w = { .power_state = -1, .pace_w = 2 };
static const Setting paced_4w = { .power_state = -1, .pace_w = 4 };

static void aim(Fixture *f, const Setting *s)
{
	aim_at(f, f->control->fleet.devices[0], s);
}

static void raises_that_stop_a_queue_come_a_second_apart(void **state)
{
	FaultyDevice nvme;
	Managed *md;
	double cap_w;
	Fixture f;

	(void)state;
	md = open_faulty(&f, busy_flash, &nvme);
	nvme.of = "io.cost.model";
	aim(&f, &paced_2w);
	fixture_run(&f, 0.01);
	cap_w = md->caps.now_w;
	aim(&f, &paced_4w);
	fixture_run(&f, 0.98);
	assert_int_equal(nvme.n_writes, 1);
	assert_true(md->caps.now_w == cap_w);
	fixture_run(&f, 0.1);
	assert_int_equal(nvme.n_writes, 2);
	assert_true(md->caps.now_w > cap_w);
	aim(&f, &SETTING_AS_FOUND);
	fixture_run(&f, 5);
	assert_int_equal(nvme.n_writes, 3);
	for (unsigned i = 1; i < 3; i++)
		assert_in_range(nvme.wrote_us[i] - nvme.wrote_us[i - 1],
				USEC_PER_SEC - USEC_PER_MSEC, USEC_PER_SEC + USEC_PER_SEC / 10);
	assert_no_drift(&f);
	fixture_close(&f);
}

static void lowering_does_not_wait_for_the_queue(void **state)
{
	FaultyDevice nvme;
	Managed *md;
	double cap_w;
	Fixture f;

	(void)state;
	md = open_faulty(&f, busy_flash, &nvme);
	nvme.of = "io.cost.model";
	aim(&f, &paced_4w);
	fixture_run(&f, 0.01);
	cap_w = md->caps.now_w;
	aim(&f, &paced_2w);
	fixture_run(&f, 0.01);
	assert_true(md->caps.now_w < cap_w);
	assert_int_equal(nvme.n_writes, 2);
	fixture_close(&f);
}

static void a_raise_that_stops_no_queue_does_not_wait(void **state)
{
	Setting low = { .power_state = 1, .pace_w = 6 }, high = { .power_state = -1, .pace_w = 6 };
	FaultyDevice nvme;
	Managed *md;
	double cap_w;
	Fixture f;

	(void)state;
	md = open_faulty(&f, busy_flash, &nvme);
	aim(&f, &low);
	fixture_run(&f, 0.01);
	cap_w = md->caps.now_w;
	aim(&f, &high);
	fixture_run(&f, 0.01);
	assert_true(md->caps.now_w > cap_w);
	assert_int_equal(md->knobs.actual.power_state, -1);
	fixture_close(&f);
}

static void at_the_end_no_queue_is_waited_for(void **state)
{
	_cleanup_free_ char *before = NULL;
	FaultyDevice nvme;
	uint64_t began;
	Fixture f;

	(void)state;
	open_faulty(&f, busy_flash, &nvme);
	before = fixture_dump(&f);
	aim(&f, &paced_2w);
	fixture_run(&f, 0.01);
	began = now_us(&f);
	fixture_stop(&f);
	assert_true(now_us(&f) - began < USEC_PER_SEC / 5);
	assert_as_found(&f, before);
	assert_journal_empty(f.journal);
	fixture_close(&f);
}

static void what_never_took_is_not_tried_again_for_a_claim_that_is_gone(void **state)
{
	_cleanup_free_ char *before = NULL;
	FaultyDevice nvme;
	Managed *md;
	uint64_t cookie;
	unsigned writes;
	Fixture f;

	(void)state;
	md = open_faulty(&f, busy_flash, &nvme);
	before = fixture_dump(&f);
	nvme.refuse = true;
	cookie = fixture_set(&f, "60%");
	fixture_run(&f, 0.3);
	assert_non_null(md->knobs.problem);
	writes = nvme.n_writes;
	assert_true(writes > 0);
	nvme.refuse = false;
	fixture_release(&f, cookie);
	fixture_run(&f, 5);
	assert_int_equal(nvme.n_writes, writes);
	assert_null(md->knobs.problem);
	assert_as_found(&f, before);
	assert_int_equal(journal_size(f.control->tools.journal), 0);
	fixture_close(&f);
}

/* At the time of the retry what was set before is given back, and the target that failed is never
 * set. */
static void a_claim_released_before_the_retry_gives_the_knob_back(void **state)
{
	_cleanup_free_ char *before = NULL;
	uint64_t first, second;
	FaultyDevice nvme;
	Managed *md;
	double cap_w;
	Fixture f;

	(void)state;
	md = open_faulty(&f, busy_flash, &nvme);
	before = fixture_dump(&f);
	first = fixture_set(&f, "80%");
	fixture_run(&f, 20);
	cap_w = md->caps.now_w;
	assert_true(cap_w < md->device->profile->rated_w);
	nvme.refuse = true;
	second = fixture_set(&f, "50%");
	fixture_run(&f, 0.3);
	assert_non_null(md->knobs.problem);
	nvme.refuse = false;
	fixture_release(&f, second);
	fixture_release(&f, first);
	for (unsigned i = 0; i < 200; i++) {
		fixture_run(&f, 0.02);
		assert_true(md->caps.now_w >= cap_w - EPSILON_W);
	}
	assert_as_found(&f, before);
	assert_null(md->knobs.problem);
	assert_int_equal(journal_size(f.control->tools.journal), 0);
	fixture_close(&f);
}

/* The demand rises by 30 %, and the setting in force gives that too. */
static void a_plan_that_stays_expects_the_new_demand(void **state)
{
	double mb_s, demand_mb_s;
	FaultyDevice nvme;
	Managed *md;
	Setting setting;
	size_t plans;
	Fixture f;

	(void)state;
	md = open_faulty(&f, light_flash, &nvme);
	fixture_set(&f, "80%");
	fixture_run(&f, 40);
	setting = md->knobs.actual;
	mb_s = state_of(&f).load.expected_mb_s;
	demand_mb_s = md->workload.demand_mb_s;
	plans = count_decisions(&f, "", "devices can draw");
	assert_true(isfinite(demand_mb_s));
	fixture_run(&f, 40);
	assert_true(md->workload.demand_mb_s > 1.25 * demand_mb_s);
	assert_int_equal(count_decisions(&f, "", "devices can draw"), plans);
	assert_true(setting_equal(&md->knobs.actual, &setting));
	print_message("# %.0f MB/s were expected, now %.0f\n", mb_s, md->planned.device.mb_s);
	assert_true(md->planned.device.mb_s > 1.25 * mb_s);
	assert_true(fabs(state_of(&f).load.expected_mb_s - md->planned.device.mb_s) < 1e-6);
	assert_true(fabs(state_of(&f).load.demand_mb_s - md->planned.device.full_mb_s) < 1e-6);
	/* and that is no news any more */
	assert_false(enforce_is_news(f.control, md));
	fixture_close(&f);
}

/* A disk whose counters say what the test wants. */
typedef struct Counted {
	FaultyDevice faulty; /* first */
	uint64_t began_us;
	unsigned iops;
} Counted;

static int counted(Device *d, DeviceCounters *ret)
{
	Counted *c = (Counted *)d->ops;
	uint64_t now = clock_now_us(c->faulty.clock);

	*ret = (DeviceCounters){ .time_us = now, .has_pattern = true };
	ret->ios[READ_IO] = c->iops * (now - c->began_us) / USEC_PER_SEC;
	ret->bytes[READ_IO] = 65536 * ret->ios[READ_IO];
	return 0;
}

static Managed *open_counted(Fixture *f, Counted *disk, unsigned iops)
{
	Managed *md = open_faulty(f, still_disk, &disk->faulty);

	disk->began_us = now_us(f);
	disk->iops = iops;
	disk->faulty.ops.counters = counted;
	md->workload.has_counters = false;
	state_of(f);
	fixture_run(f, 5);
	return md;
}

/* Demand when it did twenty IOs a second, is paced to ten and a half, and does so many. */
static double demand_at(unsigned iops, double *ret_before)
{
	Setting paced = SETTING_AS_FOUND;
	Managed *md;
	Counted disk;
	double demand;
	Fixture f;

	md = open_counted(&f, &disk, 20);
	*ret_before = md->workload.demand_mb_s;
	disk.iops = iops;
	paced.pace_w = 10.5 * mix_price_joules(md->device->profile, &md->workload.mix);
	aim(&f, &paced);
	state_of(&f);
	fixture_run(&f, 5);
	assert_true(md->knobs.actual.pace_w > 0);
	demand = md->workload.demand_mb_s;
	fixture_close(&f);
	return demand;
}

static void one_io_less_a_second_at_a_slow_pace_is_not_less_demand(void **state)
{
	double before;

	(void)state;
	assert_true(demand_at(10, &before) >= 0.99 * before);
	assert_true(demand_at(9, &before) >= 0.99 * before);
	assert_true(demand_at(6, &before) < 0.5 * before);
}

/* It accepts the command, takes its time, and stays awake. */
static int obey_in_words(Device *d, Condition c)
{
	FaultyDevice *disk = (FaultyDevice *)d->ops;

	(void)c;
	disk->wrote_us[disk->n_writes++ % FAULTY_WRITES_KEPT] = clock_now_us(disk->clock);
	clock_sleep_us(disk->clock, 3 * USEC_PER_SEC);
	return 0;
}

static void a_disk_that_stays_awake_without_io_is_a_failure(void **state)
{
	FaultyDevice disk;
	Managed *md;
	Fixture f;

	(void)state;
	md = open_faulty(&f, idle_disk, &disk);
	disk.of = "condition";
	disk.ops.condition_set = obey_in_words;
	fixture_set(&f, "30%");
	fixture_run(&f, 50);
	while (!md->knobs.problem && now_us(&f) < 1080 * USEC_PER_SEC)
		fixture_run(&f, 0.5);
	assert_non_null(strstr(md->knobs.problem ?: "", "reads back otherwise"));
	assert_true(state_of(&f).degraded);
	fixture_run(&f, 60);
	assert_int_equal(count_decisions(&f, NULL, "woken"), 0);
	assert_false(managed_asleep(md));
	assert_in_range(disk.n_writes, 1, 3);
	disk.ops.condition_set = disk.healthy->condition_set;
	fixture_run(&f, 3700); /* it is asked an hour later at most */
	assert_true(managed_asleep(md));
	assert_null(md->knobs.problem);
	fixture_close(&f);
}

static void a_disk_that_io_keeps_awake_is_woken_and_no_failure(void **state)
{
	Setting asleep = SETTING_AS_FOUND;
	FaultyDevice disk;
	Managed *md;
	Fixture f;

	(void)state;
	md = open_faulty(&f, busy_disk, &disk);
	asleep.condition = CONDITION_STANDBY_Z;
	aim(&f, &asleep);
	fixture_run(&f, 10);
	assert_int_equal(count_decisions(&f, md->device->name, "woken"), 1);
	assert_int_equal(count_decisions(&f, md->device->name, "could not be set"), 0);
	assert_null(md->knobs.problem);
	assert_false(managed_asleep(md));
	assert_int_equal(disk.n_writes, 1);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(raises_that_stop_a_queue_come_a_second_apart),
		cmocka_unit_test(lowering_does_not_wait_for_the_queue),
		cmocka_unit_test(a_raise_that_stops_no_queue_does_not_wait),
		cmocka_unit_test(at_the_end_no_queue_is_waited_for),
		cmocka_unit_test(what_never_took_is_not_tried_again_for_a_claim_that_is_gone),
		cmocka_unit_test(a_claim_released_before_the_retry_gives_the_knob_back),
		cmocka_unit_test(a_plan_that_stays_expects_the_new_demand),
		cmocka_unit_test(one_io_less_a_second_at_a_slow_pace_is_not_less_demand),
		cmocka_unit_test(a_disk_that_stays_awake_without_io_is_a_failure),
		cmocka_unit_test(a_disk_that_io_keeps_awake_is_woken_and_no_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
