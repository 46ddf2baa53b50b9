/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "test-sim.h"

static uint32_t state_of(Device *d)
{
	uint32_t v = 99;

	assert_int_equal(d->ops->feature_get(d, 2, &v), 0);
	return v;
}

static void process(Rig *r)
{
	assert_int_equal(r->node->ops->process(r->node), 0);
}

static void a_device_that_refuses_says_so_and_changes_nothing(void **state)
{
	double w;
	Rig r;
	Device *d;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD NVME_SATURATED DISK_IDLE);
	d = rig_device(&r, "nvme0");
	w = rig_watts(&r);
	assert_int_equal(sim_node_inject(r.node, "nvme0", SIM_REFUSE), 0);
	assert_int_equal(d->ops->feature_set(d, 2, 1), -EIO);
	assert_int_equal(set_attr(d, "queue/nr_requests", "8"), -EIO);
	assert_int_equal(d->ops->cgroup_write(d, "io.cost.qos", "enable=1"), -EIO);
	assert_int_equal(state_of(d), 0);
	assert_float_equal(rig_watts(&r), w, 1e-9);
	assert_int_equal(sim_node_inject(r.node, "sda", SIM_REFUSE), 0);
	d = rig_device(&r, "sda");
	assert_int_equal(d->ops->condition_set(d, CONDITION_STANDBY_Z), -EIO);
	assert_int_equal(sim_node_inject(r.node, "nvme9", SIM_REFUSE), -ENOENT);
	rig_free(&r);
}

static void a_device_that_lies_reads_back_but_draws_as_before(void **state)
{
	Condition c;
	double w;
	Rig r;
	Device *d;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD NVME_SATURATED DISK_IDLE);
	d = rig_device(&r, "nvme0");
	w = rig_watts(&r);
	assert_int_equal(sim_node_inject(r.node, "nvme0", SIM_LIE), 0);
	assert_int_equal(d->ops->feature_set(d, 2, 1), 0);
	assert_int_equal(state_of(d), 1);
	assert_int_equal(sim_node_inject(r.node, "sda", SIM_LIE), 0);
	d = rig_device(&r, "sda");
	assert_int_equal(d->ops->condition_set(d, CONDITION_STANDBY_Z), 0);
	assert_int_equal(d->ops->condition_get(d, &c), 0);
	assert_int_equal(c, CONDITION_STANDBY_Z);
	rig_pass(&r, 10);
	assert_float_equal(rig_watts(&r), w, 1e-9);
	rig_free(&r);
}

static void a_device_that_ignores_shows_the_old_value(void **state)
{
	Rig r;
	Device *d;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD NVME_SATURATED);
	d = rig_device(&r, "nvme0");
	assert_int_equal(sim_node_inject(r.node, "nvme0", SIM_IGNORE), 0);
	assert_int_equal(d->ops->feature_set(d, 2, 1), 0);
	assert_int_equal(state_of(d), 0);
	assert_int_equal(sim_node_inject(r.node, "nvme0", SIM_HEALTHY), 0);
	assert_int_equal(d->ops->feature_set(d, 2, 1), 0);
	assert_int_equal(state_of(d), 1);
	rig_free(&r);
}

static void a_slow_device_takes_fifty_times_as_long(void **state)
{
	uint64_t start_us;
	double w;
	Rig r;
	Device *d;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD NVME_SATURATED);
	d = rig_device(&r, "nvme0");
	w = rig_watts(&r);
	assert_int_equal(sim_node_inject(r.node, "nvme0", SIM_SLOW), 0);
	start_us = r.now_us;
	assert_int_equal(d->ops->feature_set(d, 2, 1), 0);
	assert_int_equal(r.now_us - start_us, 50 * 70);
	r.now_us--;
	assert_float_equal(rig_watts(&r), w, 1e-9);
	r.now_us++;
	assert_true(rig_watts(&r) <= 8);
	rig_free(&r);
}

static void a_device_that_vanishes_comes_back_as_switched_on(void **state)
{
	DeviceCounters c;
	double w;
	char buf[64];
	Rig r;
	Device *d;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD NVME_SATURATED);
	d = rig_device(&r, "nvme0");
	assert_int_equal(d->ops->feature_set(d, 2, 1), 0);
	assert_int_equal(sim_node_inject(r.node, "nvme0", SIM_VANISH), 0);
	assert_int_equal(d->ops->feature_set(d, 2, 0), -ENODEV);
	assert_int_equal(d->ops->attr_read(d, "size", buf, sizeof(buf)), -ENODEV);
	assert_int_equal(d->ops->counters(d, &c), -ENODEV);
	assert_int_equal(d->ops->power(d, &w), -ENODEV);
	assert_float_equal(rig_watts(&r), 0, 0);
	process(&r);
	process(&r);
	assert_int_equal(r.removed, 1);
	assert_int_equal(r.n_devices, 0);
	assert_int_equal(sim_node_inject(r.node, "nvme0", SIM_HEALTHY), 0);
	process(&r);
	assert_int_equal(r.added, 2);
	assert_int_equal(state_of(rig_device(&r, "nvme0")), 0);
	assert_true(rig_watts(&r) > 12);
	/* gone and back between two looks: both are told */
	assert_int_equal(sim_node_inject(r.node, "nvme0", SIM_VANISH), 0);
	assert_int_equal(sim_node_inject(r.node, "nvme0", SIM_HEALTHY), 0);
	process(&r);
	assert_int_equal(r.removed, 2);
	assert_int_equal(r.added, 3);
	rig_free(&r);
}

static void a_reset_brings_back_the_power_on_registers(void **state)
{
	char *before, *after;
	Rig r;
	Device *d;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD NVME_SATURATED);
	d = rig_device(&r, "nvme0");
	assert_int_equal(sim_node_dump(r.node, &before), 0);
	assert_int_equal(d->ops->feature_set(d, 2, 1), 0);
	assert_int_equal(set_attr(d, "queue/nr_requests", "8"), 0);
	assert_int_equal(sim_node_inject(r.node, "nvme0", SIM_RESET), 0);
	assert_true(rig_watts(&r) > 12);
	process(&r);
	process(&r);
	assert_int_equal(r.reset, 1);
	assert_int_equal(r.removed, 0);
	assert_int_equal(sim_node_dump(r.node, &after), 0);
	assert_string_equal(before, after);
	assert_int_equal(d->ops->feature_set(d, 2, 1), 0);
	free(before);
	free(after);
	rig_free(&r);
}

static void faults_of_the_node_file_happen_at_their_time(void **state)
{
	Rig r;
	Device *d;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD NVME_SATURATED
		 "count = 3\n"
		 "[fault]\ndevice = nvme0\nat = 5s\nfor = 10s\nkind = refuse\n"
		 "[fault]\ndevice = nvme1\nat = 20s\nkind = reset\n"
		 "[fault]\ndevice = nvme2\nat = 30s\nfor = 5s\nkind = vanish\n");
	d = rig_device(&r, "nvme0");
	rig_pass(&r, 4.9);
	assert_int_equal(d->ops->feature_set(d, 2, 1), 0);
	rig_pass(&r, 0.2);
	assert_int_equal(d->ops->feature_set(d, 2, 0), -EIO);
	rig_pass(&r, 10);
	assert_int_equal(d->ops->feature_set(d, 2, 0), 0);
	d = rig_device(&r, "nvme1");
	assert_int_equal(d->ops->feature_set(d, 2, 1), 0);
	rig_pass(&r, 5);
	assert_int_equal(state_of(d), 0);
	process(&r);
	assert_int_equal(r.reset, 1);
	rig_pass(&r, 10.5);
	process(&r);
	assert_int_equal(r.removed, 1);
	rig_pass(&r, 5);
	process(&r);
	assert_int_equal(r.added, 4);
	rig_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_that_refuses_says_so_and_changes_nothing),
		cmocka_unit_test(a_device_that_lies_reads_back_but_draws_as_before),
		cmocka_unit_test(a_device_that_ignores_shows_the_old_value),
		cmocka_unit_test(a_slow_device_takes_fifty_times_as_long),
		cmocka_unit_test(a_device_that_vanishes_comes_back_as_switched_on),
		cmocka_unit_test(a_reset_brings_back_the_power_on_registers),
		cmocka_unit_test(faults_of_the_node_file_happen_at_their_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
