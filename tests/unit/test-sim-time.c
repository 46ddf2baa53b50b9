/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "test-sim.h"

#include <math.h>
#include <pthread.h>
#include <sys/wait.h>

#include "sim/sim-device.h"

static const SimTruth *truth_of(Device *d)
{
	return &((SimDevice *)d->impl)->record->truth;
}

static void an_io_wakes_a_disk_which_spins_up_and_then_serves(void **state)
{
	const ConditionPower *standby;
	Condition c;
	double asleep_w, factor;
	Rig r;
	Device *d;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD "[devices disk]\nprofile = seagate-constellation-es2\nrandom = 0%\n"
			       "read = 100%\nread_size = 256K\ndepth = 4\ndemand = 0:0 10min:50\n");
	d = rig_device(&r, "sda");
	standby = &d->profile->conditions[CONDITION_STANDBY_Z];
	factor = ((SimDevice *)d->impl)->nature.watts_factor;
	assert_int_equal(d->ops->condition_set(d, CONDITION_STANDBY_Z), 0);
	assert_float_equal((double)r.now_us / 1e6, 1000 + standby->enter_s, 1e-3);
	asleep_w = rig_watts(&r);
	assert_float_equal(asleep_w, standby->watts * factor, 1e-6);
	assert_int_equal(d->ops->condition_get(d, &c), 0);
	assert_int_equal(c, CONDITION_STANDBY_Z);

	rig_pass(&r, 590);
	assert_float_equal(rig_watts(&r), asleep_w, 1e-6);
	rig_pass(&r, 10); /* IO began 600 s after the start, some 3 s ago */
	assert_float_equal(rig_watts(&r), standby->wake_w * factor, 1e-6);
	assert_float_equal(sim_node_true_mb_s(r.node), 0, 0);
	assert_float_equal(sim_node_demand_mb_s(r.node), 50, 1e-9);
	assert_int_equal(d->ops->condition_get(d, &c), 0);
	assert_int_equal(c, CONDITION_ACTIVE);
	rig_pass(&r, standby->recovery_s);
	assert_float_equal(sim_node_true_mb_s(r.node), 50, 1e-6);
	assert_true(rig_watts(&r) < d->profile->rated_w &&
		    rig_watts(&r) > d->profile->idle_w * 0.9);
	rig_free(&r);
}

static void a_disk_told_to_wake_spins_up_before_the_command_returns(void **state)
{
	Condition c;
	uint64_t before_us;
	Rig r;
	Device *d;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD DISK_IDLE);
	d = rig_device(&r, "sda");
	assert_int_equal(d->ops->condition_set(d, CONDITION_STANDBY_Z), 0);
	before_us = r.now_us;
	assert_int_equal(d->ops->condition_set(d, CONDITION_IDLE_B), 0);
	assert_true(r.now_us - before_us >= 4 * USEC_PER_SEC); /* 3 s up, 1 s into idle_b */
	assert_int_equal(d->ops->condition_get(d, &c), 0);
	assert_int_equal(c, CONDITION_IDLE_B);
	assert_float_equal(rig_watts(&r),
			   d->profile->conditions[CONDITION_IDLE_B].watts *
				   ((SimDevice *)d->impl)->nature.watts_factor,
			   1e-6);
	/* the spin-up was drawn: 3 s at 26.1 W is more than anything else here */
	assert_true(sim_node_joules(r.node) > 3 * 26.1 * 0.97);
	assert_int_equal(d->ops->condition_set(d, CONDITION_STANDBY_Y), -EOPNOTSUPP);
	rig_free(&r);
}

static void a_write_takes_effect_when_its_time_has_passed_and_reads_back_at_once(void **state)
{
	double before_w;
	uint32_t v;
	Rig r;
	Device *d;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD "[devices flash]\nprofile = intel-p5510\nread = 0%\nrandom = 100%\n"
			       "write_size = 256K\ndepth = 64\ndemand = saturate\n");
	d = rig_device(&r, "nvme0");
	before_w = rig_watts(&r);
	assert_true(before_w > 14);
	assert_int_equal(d->ops->feature_set(d, 2, 2), 0); /* takes 60 ms */
	assert_int_equal(r.now_us, 1000060000);
	assert_int_equal(d->ops->feature_get(d, 2, &v), 0);
	assert_int_equal(v, 2);
	/* another job began at the same time: in its eyes the state has not changed yet */
	r.now_us = 1000059999;
	assert_float_equal(rig_watts(&r), before_w, 1e-9);
	r.now_us = 1000060000;
	assert_true(rig_watts(&r) <= 10 && rig_watts(&r) > 9.5);
	rig_free(&r);
}

static void overlapping_jobs_on_virtual_time_do_not_disturb_each_other(void **state)
{
	double rest_w, first_w, both_w;
	Rig r;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD DISK_IDLE "count = 2\n");
	rest_w = rig_watts(&r);
	/* each job sees base time + its own 3 s */
	for (size_t i = 0; i < 2; i++) {
		Condition c;

		r.now_us = 1000 * USEC_PER_SEC + i * USEC_PER_SEC;
		assert_int_equal(
			r.devices[i]->ops->condition_set(r.devices[i], CONDITION_STANDBY_Z), 0);
		assert_int_equal(r.devices[i]->ops->condition_get(r.devices[i], &c), 0);
		assert_int_equal(c, CONDITION_STANDBY_Z);
	}
	r.now_us = 1000 * USEC_PER_SEC + 2500000;
	assert_float_equal(rig_watts(&r), rest_w, 1e-9);
	r.now_us += USEC_PER_SEC;
	first_w = rig_watts(&r);
	r.now_us += USEC_PER_SEC;
	both_w = rig_watts(&r);
	assert_true(first_w < rest_w - 2 && both_w < first_w - 2);
	/* 3 s at rest, 1 s with one asleep, 0.5 s with both */
	assert_float_equal(sim_node_joules(r.node), 3 * rest_w + first_w + 0.5 * both_w, 1e-3);
	rig_free(&r);
}

static void looking_ahead_does_not_move_the_node(void **state)
{
	DeviceCounters c;
	double w;
	Rig r;

	(void)state;
	rig_new(&r);
	rig_open(&r,
		 NODE_HEAD "[devices flash]\nprofile = samsung-pm9a3\ndemand = 0:100 10s:2000\n");
	w = rig_watts(&r);
	r.now_us += 20 * USEC_PER_SEC; /* a job far ahead reads the counters */
	assert_int_equal(r.devices[0]->ops->counters(r.devices[0], &c), 0);
	assert_int_equal(c.time_us, r.now_us);
	r.now_us -= 15 * USEC_PER_SEC;
	assert_float_equal(rig_watts(&r), w, 1e-9);
	assert_float_equal(sim_node_over_seconds(r.node, w + 0.01), 0, 0);
	r.now_us += 15 * USEC_PER_SEC;
	assert_float_equal(sim_node_over_seconds(r.node, w + 0.01), 10, 1e-6);
	rig_free(&r);
}

static void an_io_leaves_a_non_operational_state_for_the_last_operational_one(void **state)
{
	uint32_t v;
	Rig r;
	Device *d;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD "[devices flash]\nprofile = dell-ps1010\ndemand = 0:0 10s:500\n");
	d = rig_device(&r, "nvme0");
	assert_int_equal(d->ops->feature_set(d, 2, 2), 0);
	assert_int_equal(d->ops->feature_set(d, 2, 4), 0);
	assert_true(rig_watts(&r) <= 5 * 1.03);
	assert_int_equal(d->ops->feature_get(d, 2, &v), 0);
	assert_int_equal(v, 4);
	rig_pass(&r, 15);
	assert_float_equal(sim_node_true_mb_s(r.node), 500, 1e-6);
	assert_true(rig_watts(&r) > 7);
	assert_int_equal(d->ops->feature_get(d, 2, &v), 0);
	assert_int_equal(v, 2);
	rig_free(&r);
}

static void time_above_a_budget_is_counted_exactly(void **state)
{
	double low_w, high_w;
	Rig r;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD
		 "[devices a]\nprofile = samsung-pm9a3\ndemand = 0:0 3s:1000 5500ms:0\n"
		 "repeat = 10s\n[devices b]\nprofile = samsung-pm9a3\ndemand = 0:0 5s:1000 7s:0\n"
		 "repeat = 10s\n");
	low_w = rig_watts(&r);
	rig_pass(&r, 5.2);
	high_w = rig_watts(&r);
	assert_true(high_w > low_w + 4);
	/* every 10 s: above low from 3 to 7 s, with both at work from 5 to 5.5 s */
	rig_pass(&r, 94.8);
	assert_float_equal(sim_node_over_seconds(r.node, low_w + 0.1), 40, 1e-6);
	rig_pass(&r, 100);
	assert_float_equal(sim_node_over_seconds(r.node, high_w - 0.1), 5, 1e-6);
	assert_float_equal(sim_node_over_seconds(r.node, 0), 0, 0);
	rig_free(&r);
}

static void counters_agree_with_littles_law_and_the_demand(void **state)
{
	DeviceCounters a, b;
	double s = 30, ios, depth;
	Rig r;
	Device *d;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD "[devices oltp]\nprofile = samsung-pm9a3\nread = 75%\nrandom = 60%\n"
			       "read_size = 16K\nwrite_size = 16K\ndepth = 32\n"
			       "demand = constant 400\n" NVME_SATURATED);
	d = rig_device(&r, "nvme0");
	assert_int_equal(d->ops->counters(d, &a), 0);
	rig_pass(&r, s);
	assert_int_equal(d->ops->counters(d, &b), 0);
	ios = (double)(b.ios[0] - a.ios[0] + b.ios[1] - a.ios[1]);
	assert_float_equal(ios * 16384 / s / 1e6, 400, 0.1);
	assert_float_equal((double)(b.ios[READ_IO] - a.ios[READ_IO]) / ios, 0.75, 1e-3);
	assert_float_equal((double)(b.sequential_ios - a.sequential_ios) / ios, 0.4, 1e-3);
	depth = (b.latency_us - a.latency_us) / 1e6 / s;
	assert_true(depth > 0.3 && depth < 4);

	/* a saturating workload keeps its depth; a narrower device, the device's */
	d = rig_device(&r, "nvme1");
	assert_int_equal(d->ops->counters(d, &a), 0);
	rig_pass(&r, 1);
	assert_int_equal(d->ops->counters(d, &b), 0);
	assert_float_equal((b.latency_us - a.latency_us) / 1e6, 64, 1e-6);
	assert_int_equal(set_attr(d, "queue/nr_requests", "8"), 0);
	assert_int_equal(set_attr(d, "queue/max_sectors_kb", "64"), 0);
	assert_int_equal(d->ops->counters(d, &a), 0);
	rig_pass(&r, 1);
	assert_int_equal(d->ops->counters(d, &b), 0);
	assert_float_equal((b.latency_us - a.latency_us) / 1e6, 8, 1e-6);
	assert_float_equal((double)(b.bytes[1] - a.bytes[1]) / (double)(b.ios[1] - a.ios[1]), 65536,
			   20);
	rig_free(&r);
}

static void sensors_read_the_truth_within_their_noise(void **state)
{
	double w, sum = 0, squares = 0, true_w;
	Rig r;
	Device *d;

	(void)state;
	rig_new(&r);
	rig_open(&r, "[node]\nname = test\nnoise = 1%\nsensors = nvme\n" NVME_SATURATED DISK_IDLE);
	assert_null(rig_device(&r, "sda")->ops->power);
	d = rig_device(&r, "nvme0");
	rig_watts(&r);
	true_w = truth_of(d)->rates.watts;
	for (int i = 0; i < 1000; i++) {
		rig_pass(&r, 1);
		assert_int_equal(d->ops->power(d, &w), 0);
		sum += w / true_w - 1;
		squares += (w / true_w - 1) * (w / true_w - 1);
	}
	assert_float_equal(sum / 1000, 0, 0.002);
	assert_float_equal(sqrt(squares / 1000), 0.01, 0.002);
	rig_free(&r);
}

static void registers_survive_the_end_of_their_process(void **state)
{
	char *before, *after;
	DeviceCounters c;
	Rig r;
	int status;
	pid_t child;

	(void)state;
	rig_new(&r);
	rig_write(&r, NODE_HEAD NVME_SATURATED DISK_IDLE);
	child = fork();
	if (child == 0) {
		rig_open_file(&r, r.node_path, r.registers_path);
		r.devices[0]->ops->feature_set(r.devices[0], 2, 1);
		set_attr(r.devices[0], "queue/scheduler", "bfq");
		r.devices[1]->ops->condition_set(r.devices[1], CONDITION_STANDBY_Z);
		/* killed in the middle of everything, with a lock held */
		sim_record_lock(((SimDevice *)r.devices[1]->impl)->record);
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	r.now_us += 100 * USEC_PER_SEC;
	rig_open_file(&r, r.node_path, r.registers_path);
	assert_int_equal(sim_node_dump(r.node, &before), 0);
	assert_non_null(strstr(before, "nvme0 feature-02h 0x1\n"));
	assert_non_null(strstr(before, "nvme0 scheduler bfq\n"));
	assert_non_null(strstr(before, "sda condition standby_z\n"));
	assert_true(rig_watts(&r) < 9);
	assert_int_equal(r.devices[1]->ops->counters(r.devices[1], &c), 0);
	rig_close(&r);

	/* another clock, earlier: the hardware has had its time */
	r.now_us = 5;
	rig_open_file(&r, r.node_path, r.registers_path);
	assert_int_equal(sim_node_dump(r.node, &after), 0);
	assert_string_equal(before, after);
	assert_float_equal(sim_node_joules(r.node), 0, 0);
	free(after);
	rig_close(&r);

	/* another node file, and rubbish: power-on */
	rig_write(&r, NODE_HEAD NVME_SATURATED DISK_IDLE "# another\n");
	rig_open_file(&r, r.node_path, r.registers_path);
	assert_int_equal(sim_node_dump(r.node, &after), 0);
	assert_non_null(strstr(after, "nvme0 feature-02h 0x0\n"));
	free(after);
	rig_close(&r);
	assert_int_equal(write_file_atomic(r.registers_path, "rubbish", 0600), 0);
	rig_open_file(&r, r.node_path, r.registers_path);
	((SimDevice *)r.devices[0]->impl)->record->truth.told.value[SIM_SCHEDULER] = 77;
	rig_close(&r);
	log_set_max_level(LOG_ERR);
	rig_open_file(&r, r.node_path, r.registers_path);
	log_set_max_level(LOG_INFO);
	expect_attr(r.devices[0], "queue/scheduler", "[none] mq-deadline kyber bfq");
	free(before);
	rig_free(&r);
}

static void a_witness_beside_the_daemon_sees_the_same_hardware(void **state)
{
	Inventory *witness;
	Rig r;

	(void)state;
	rig_new(&r);
	rig_write(&r, NODE_HEAD NVME_SATURATED);
	rig_open_file(&r, r.node_path, r.registers_path);
	assert_int_equal(
		sim_node_open(r.node_path, r.registers_path, r.profiles, &r.clock, &witness), 0);
	assert_int_equal(r.devices[0]->ops->feature_set(r.devices[0], 2, 1), 0);
	rig_pass(&r, 10);
	assert_float_equal(sim_node_true_watts(witness), rig_watts(&r), 0);
	assert_true(sim_node_true_watts(witness) <= 8);
	assert_float_equal(sim_node_joules(witness), sim_node_joules(r.node), 1e-9);
	assert_float_equal(sim_node_over_seconds(witness, 1), 10, 0.001);
	assert_float_equal(sim_node_over_seconds(r.node, 1), 10, 0.001);
	assert_int_equal(sim_node_inject(witness, "nvme0", SIM_RESET), 0);
	assert_int_equal(r.node->ops->process(r.node), 0);
	assert_int_equal(r.reset, 1);
	inventory_free(witness);

	/* another node may not take the file away */
	rig_write(&r, NODE_HEAD DISK_IDLE);
	log_set_max_level(LOG_CRIT);
	assert_int_equal(
		sim_node_open(r.node_path, r.registers_path, r.profiles, &r.clock, &witness),
		-EBUSY);
	log_set_max_level(LOG_INFO);
	rig_free(&r);
}

static void *read_power(void *userdata)
{
	Device *d = userdata;
	double w;

	for (int i = 0; i < 2000; i++)
		if (d->ops->power(d, &w) < 0 || !(w > 0))
			return d;
	return NULL;
}

static void a_sine_with_a_peak_is_highest_then_for_all_devices(void **state)
{
	double mb_s[2], lowest;
	Rig r;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD "[devices a]\nprofile = samsung-pm9a3\ncount = 4\n"
			       "demand = sine mean=100 swing=50 period=24h peak=4h\n");
	rig_pass(&r, 4 * 3600);
	assert_float_equal(sim_node_demand_mb_s(r.node), 600, 0.1);
	rig_pass(&r, 12 * 3600);
	lowest = sim_node_demand_mb_s(r.node);
	assert_float_equal(lowest, 200, 0.1);
	for (int i = 0; i < 2; i++) {
		rig_pass(&r, i ? 6 * 3600 : 3 * 3600);
		mb_s[i] = sim_node_demand_mb_s(r.node);
	}
	assert_true(lowest < mb_s[0] && mb_s[0] < mb_s[1]);
	rig_free(&r);
}

static void power_can_be_read_while_a_job_runs(void **state)
{
	pthread_t thread;
	void *failed;
	Rig r;
	Device *d;

	(void)state;
	rig_new(&r);
	rig_write(&r, NODE_HEAD NVME_SATURATED);
	r.clock = clock_boottime;
	rig_open_file(&r, r.node_path, NULL);
	d = rig_device(&r, "nvme0");
	assert_int_equal(pthread_create(&thread, NULL, read_power, d), 0);
	for (uint32_t i = 0; i < 200; i++)
		assert_int_equal(d->ops->feature_set(d, 2, i & 1), 0);
	assert_int_equal(pthread_join(thread, &failed), 0);
	assert_null(failed);
	rig_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_io_wakes_a_disk_which_spins_up_and_then_serves),
		cmocka_unit_test(a_disk_told_to_wake_spins_up_before_the_command_returns),
		cmocka_unit_test(
			a_write_takes_effect_when_its_time_has_passed_and_reads_back_at_once),
		cmocka_unit_test(overlapping_jobs_on_virtual_time_do_not_disturb_each_other),
		cmocka_unit_test(looking_ahead_does_not_move_the_node),
		cmocka_unit_test(an_io_leaves_a_non_operational_state_for_the_last_operational_one),
		cmocka_unit_test(time_above_a_budget_is_counted_exactly),
		cmocka_unit_test(counters_agree_with_littles_law_and_the_demand),
		cmocka_unit_test(sensors_read_the_truth_within_their_noise),
		cmocka_unit_test(registers_survive_the_end_of_their_process),
		cmocka_unit_test(a_witness_beside_the_daemon_sees_the_same_hardware),
		cmocka_unit_test(a_sine_with_a_peak_is_highest_then_for_all_devices),
		cmocka_unit_test(power_can_be_read_while_a_job_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
