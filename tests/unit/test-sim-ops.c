/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "test-sim.h"

static void nr_requests_is_raised_to_four_and_refused_above_the_tags(void **state)
{
	Rig r;
	Device *d;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD NVME_IDLE DISK_IDLE);
	d = rig_device(&r, "nvme0");
	expect_attr(d, "queue/nr_requests", "1023");
	assert_int_equal(set_attr(d, "queue/nr_requests", "1"), 0);
	expect_attr(d, "queue/nr_requests", "4");
	assert_int_equal(set_attr(d, "queue/nr_requests", "64\n"), 0);
	expect_attr(d, "queue/nr_requests", "64");
	assert_int_equal(set_attr(d, "queue/nr_requests", "1024"), -EINVAL);
	assert_int_equal(set_attr(d, "queue/nr_requests", "-1"), -EINVAL);
	assert_int_equal(set_attr(d, "queue/nr_requests", "8 "), -EINVAL);
	assert_int_equal(set_attr(d, "queue/nr_requests", "99999999999999999999"), -EINVAL);
	expect_attr(d, "queue/nr_requests", "64");
	expect_attr(rig_device(&r, "sda"), "queue/nr_requests", "64");
	rig_free(&r);
}

static void a_scheduler_switch_resets_nr_requests(void **state)
{
	Rig r;
	Device *d, *disk;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD NVME_IDLE DISK_IDLE);
	d = rig_device(&r, "nvme0");
	disk = rig_device(&r, "sda");
	expect_attr(d, "queue/scheduler", "[none] mq-deadline kyber bfq");
	assert_int_equal(set_attr(d, "queue/nr_requests", "8"), 0);
	assert_int_equal(set_attr(d, "queue/scheduler", "none"), 0);
	expect_attr(d, "queue/nr_requests", "8");
	assert_int_equal(set_attr(d, "queue/scheduler", "bfq"), 0);
	expect_attr(d, "queue/scheduler", "none mq-deadline kyber [bfq]");
	expect_attr(d, "queue/nr_requests", "256");
	assert_int_equal(set_attr(d, "queue/nr_requests", "2048"), 0);
	assert_int_equal(set_attr(d, "queue/nr_requests", "2049"), -EINVAL);
	assert_int_equal(set_attr(d, "queue/scheduler", "cfq"), -EINVAL);
	assert_int_equal(set_attr(d, "queue/scheduler", "none"), 0);
	expect_attr(d, "queue/nr_requests", "1023");
	assert_int_equal(set_attr(disk, "queue/scheduler", "kyber\n"), 0);
	expect_attr(disk, "queue/nr_requests", "256");
	assert_int_equal(set_attr(disk, "queue/scheduler", "none"), 0);
	expect_attr(disk, "queue/nr_requests", "64");
	rig_free(&r);
}

static void strict_guarantees_is_there_only_while_bfq_is(void **state)
{
	static const char attr[] = "queue/iosched/strict_guarantees";
	char buf[16];
	Rig r;
	Device *d;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD NVME_IDLE);
	d = rig_device(&r, "nvme0");
	assert_int_equal(d->ops->attr_read(d, attr, buf, sizeof(buf)), -ENOENT);
	assert_int_equal(set_attr(d, attr, "1"), -ENOENT);
	assert_int_equal(set_attr(d, "queue/scheduler", "bfq"), 0);
	expect_attr(d, attr, "0");
	assert_int_equal(set_attr(d, attr, "7"), 0);
	expect_attr(d, attr, "1");
	assert_int_equal(set_attr(d, "queue/scheduler", "none"), 0);
	assert_int_equal(set_attr(d, "queue/scheduler", "bfq"), 0);
	expect_attr(d, attr, "0");
	rig_free(&r);
}

static void max_sectors_must_be_whole_pages_up_to_the_hardware_limit(void **state)
{
	Rig r;
	Device *d;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD NVME_IDLE);
	d = rig_device(&r, "nvme0");
	expect_attr(d, "queue/max_hw_sectors_kb", "2048");
	assert_int_equal(set_attr(d, "queue/max_sectors_kb", "64"), 0);
	expect_attr(d, "queue/max_sectors_kb", "64");
	assert_int_equal(set_attr(d, "queue/max_sectors_kb", "0"), -EINVAL);
	assert_int_equal(set_attr(d, "queue/max_sectors_kb", "2"), -EINVAL);
	assert_int_equal(set_attr(d, "queue/max_sectors_kb", "66"), -EINVAL);
	assert_int_equal(set_attr(d, "queue/max_sectors_kb", "2052"), -EINVAL);
	assert_int_equal(set_attr(d, "queue/max_sectors_kb", "2048"), 0);
	assert_int_equal(set_attr(d, "queue/max_hw_sectors_kb", "4"), -EACCES);
	rig_free(&r);
}

static void disks_have_a_queue_depth_and_a_link_and_nvme_has_neither(void **state)
{
	static const char link[] = "host/link_power_management_policy";
	char buf[64];
	Rig r;
	Device *d;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD NVME_IDLE DISK_IDLE);
	d = rig_device(&r, "sda");
	expect_attr(d, "device/queue_depth", "32");
	assert_int_equal(set_attr(d, "device/queue_depth", "0"), -EINVAL);
	assert_int_equal(set_attr(d, "device/queue_depth", "33"), -EINVAL);
	assert_int_equal(set_attr(d, "device/queue_depth", "1"), 0);
	expect_attr(d, "device/queue_depth", "1");
	expect_attr(d, link, "max_performance");
	assert_int_equal(set_attr(d, link, "med_power_with_dipm"), 0);
	expect_attr(d, link, "med_power_with_dipm");
	assert_int_equal(set_attr(d, link, "deepest"), -EINVAL);
	expect_attr(d, "queue/rotational", "1");
	d = rig_device(&r, "nvme0");
	expect_attr(d, "queue/rotational", "0");
	assert_int_equal(d->ops->attr_read(d, "device/queue_depth", buf, sizeof(buf)), -ENOENT);
	assert_int_equal(d->ops->attr_read(d, link, buf, sizeof(buf)), -ENOENT);
	assert_int_equal(d->ops->attr_read(d, "queue/scheduler", buf, 8), -ENOBUFS);
	rig_free(&r);
}

static void hardware_queues_are_counted_by_their_folders(void **state)
{
	char buf[64];
	Rig r;
	Device *d;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD NVME_IDLE "queues = 8\n");
	d = rig_device(&r, "nvme0");
	expect_attr(d, "mq/7/nr_tags", "1023");
	assert_int_equal(d->ops->attr_read(d, "mq/8/nr_tags", buf, sizeof(buf)), -ENOENT);
	assert_int_equal(d->ops->attr_read(d, "mq/0/cpu_list", buf, sizeof(buf)), -ENOENT);
	rig_free(&r);
}

static void an_unknown_power_state_is_refused_and_the_hint_is_kept(void **state)
{
	uint32_t v;
	Rig r;
	Device *d;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD NVME_IDLE);
	d = rig_device(&r, "nvme0");
	assert_int_equal(d->power_states, 3);
	assert_int_equal(d->ops->feature_get(d, 2, &v), 0);
	assert_int_equal(v, 0);
	assert_int_equal(d->ops->feature_set(d, 2, 2), -EINVAL);
	assert_int_equal(d->ops->feature_set(d, 2, 1U << 31 | 1), -EINVAL);
	assert_int_equal(d->ops->feature_set(d, 2, 1 << 5 | 1), 0);
	assert_int_equal(d->ops->feature_get(d, 2, &v), 0);
	assert_int_equal(v, 1 << 5 | 1);
	assert_int_equal(d->ops->feature_get(d, 0x23, &v), -EOPNOTSUPP);
	assert_int_equal(d->ops->feature_set(d, 0x23, 0), -EOPNOTSUPP);
	assert_null(d->ops->condition_set);
	rig_free(&r);
}

static void a_power_limit_is_taken_between_the_lowest_state_and_the_rating(void **state)
{
	uint32_t v;
	Rig r;
	Device *d;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD NVME_SATURATED "power_limit = yes\n");
	d = rig_device(&r, "nvme0");
	assert_true(rig_watts(&r) > 12);
	assert_int_equal(d->ops->feature_set(d, 0x23, 2 << 16 | 900), 0); /* 9.00 W */
	assert_int_equal(d->ops->feature_get(d, 0x23, &v), 0);
	assert_int_equal(v, 2 << 16 | 900);
	assert_true(rig_watts(&r) <= 9 && rig_watts(&r) > 9 * 0.97);
	assert_int_equal(d->ops->feature_set(d, 0x23, 2 << 16 | 300), -EINVAL);
	assert_int_equal(d->ops->feature_set(d, 0x23, 2 << 16 | 3000), -EINVAL);
	assert_int_equal(d->ops->feature_set(d, 0x23, 3 << 16 | 900), -EINVAL);
	assert_int_equal(d->ops->feature_set(d, 0x23, 900), -EINVAL);
	assert_int_equal(d->ops->feature_set(d, 0x23, 0), 0);
	assert_true(rig_watts(&r) > 12);
	rig_free(&r);
}

static void expect_cost(Device *d, const char *file, const char *expected)
{
	char buf[512];

	assert_int_equal(d->ops->cgroup_read(d, file, buf, sizeof(buf)), 0);
	assert_string_equal(buf, expected);
}

static void io_cost_prints_and_parses_as_the_kernel_does(void **state)
{
	static const char off[] = "enable=0 ctrl=auto rpct=0.00 rlat=25000 wpct=0.00 wlat=25000 "
				  "min=1.00 max=10000.00";
	char buf[16];
	Rig r;
	Device *d;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD NVME_IDLE);
	d = rig_device(&r, "nvme0");
	expect_cost(d, "io.cost.qos", "");
	expect_cost(d, "io.cost.model", "");
	assert_int_equal(
		d->ops->cgroup_write(d, "io.cost.model",
				     "ctrl=user model=linear rbps=4096000 rseqiops=500 "
				     "rrandiops=400 wbps=2048000 wseqiops=250 wrandiops=200"),
		0);
	expect_cost(d, "io.cost.model",
		    "ctrl=user model=linear rbps=4096000 rseqiops=500 rrandiops=400 "
		    "wbps=2048000 wseqiops=250 wrandiops=200");
	expect_cost(d, "io.cost.qos", off);
	assert_int_equal(d->ops->cgroup_write(d, "io.cost.qos",
					      "enable=1 ctrl=user rpct=0 rlat=1000 "
					      "wpct=0 wlat=1000 min=100 max=100.00"),
			 0);
	expect_cost(d, "io.cost.qos",
		    "enable=1 ctrl=user rpct=0.00 rlat=1000 wpct=0.00 wlat=1000 "
		    "min=100.00 max=100.00");
	assert_int_equal(d->ops->cgroup_write(d, "io.cost.qos", "enable=1 min=100 max=50"),
			 -EINVAL);
	assert_int_equal(d->ops->cgroup_write(d, "io.cost.qos", "enable=1 rpct=101"), -EINVAL);
	assert_int_equal(d->ops->cgroup_write(d, "io.cost.qos", "enable"), -EINVAL);
	assert_int_equal(d->ops->cgroup_write(d, "io.cost.model", "rbps=lots"), -EINVAL);
	assert_int_equal(d->ops->cgroup_write(d, "io.cost.model", "model=cubic"), -EINVAL);
	assert_int_equal(d->ops->cgroup_write(d, "io.max", "rbps=1"), -ENOENT);
	assert_int_equal(d->ops->cgroup_write(d, "io.cost.qos", "enable=0 ctrl=auto"), 0);
	expect_cost(d, "io.cost.qos", off);
	assert_int_equal(d->ops->cgroup_write(d, "io.cost.model", "ctrl=auto"), 0);
	expect_cost(d, "io.cost.model",
		    "ctrl=auto model=linear rbps=488636629 rseqiops=8932 "
		    "rrandiops=8518 wbps=427891549 wseqiops=28755 wrandiops=21940");
	assert_int_equal(d->ops->cgroup_read(d, "io.cost.qos", buf, sizeof(buf)), -ENOBUFS);
	rig_free(&r);
}

static void a_dump_after_putting_everything_back_equals_the_one_before(void **state)
{
	char *before, *during, *after;
	Rig r;
	Device *d;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD NVME_IDLE DISK_IDLE);
	assert_int_equal(sim_node_dump(r.node, &before), 0);
	d = rig_device(&r, "nvme0");
	assert_int_equal(d->ops->feature_set(d, 2, 1), 0);
	assert_int_equal(d->ops->cgroup_write(d, "io.cost.qos", "enable=1 ctrl=user"), 0);
	assert_int_equal(set_attr(rig_device(&r, "sda"), "device/queue_depth", "3"), 0);
	assert_int_equal(sim_node_dump(r.node, &during), 0);
	assert_non_null(strstr(during, "nvme0 feature-02h 0x1\n"));
	assert_non_null(strstr(during, "nvme0 io.cost.qos enable=1"));
	assert_non_null(strstr(during, "sda queue_depth 3\n"));
	assert_int_equal(d->ops->feature_set(d, 2, 0), 0);
	assert_int_equal(d->ops->cgroup_write(d, "io.cost.qos", "enable=0 ctrl=auto"), 0);
	assert_int_equal(set_attr(rig_device(&r, "sda"), "device/queue_depth", "32"), 0);
	assert_int_equal(sim_node_dump(r.node, &after), 0);
	assert_string_equal(before, after);
	free(before);
	free(during);
	free(after);
	rig_free(&r);
}

static void disks_are_named_as_the_kernel_names_them(void **state)
{
	Rig r;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD DISK_IDLE
		 "count = 28\ngroup = cold\n"
		 "[devices more]\nprofile = intel-d3-s4510\ndemand = idle\n" NVME_IDLE);
	assert_int_equal(sim_node_size(r.node), 30);
	assert_string_equal(r.devices[0]->name, "sda");
	assert_string_equal(r.devices[25]->name, "sdz");
	assert_string_equal(r.devices[26]->name, "sdaa");
	assert_string_equal(r.devices[28]->name, "sdac");
	assert_string_equal(r.devices[28]->id, "sim:test:sdac");
	assert_string_equal(r.devices[0]->group, "cold");
	assert_int_equal(r.devices[28]->kind, KIND_SATA_SSD);
	assert_string_equal(r.devices[29]->name, "nvme0");
	rig_free(&r);
}

static void a_bad_node_file_is_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"[node]\nname = x\n",
		"[node]\nnaem = x\n" NVME_IDLE,
		"[node]\nname = x\nmodel_error = much\n" NVME_IDLE,
		"[node]\nname = x\nsensors = gpu\n" NVME_IDLE,
		"[node]\nname = x\nsensors =\n" NVME_IDLE,
		NODE_HEAD "[devices a]\nprofile = no-such\n",
		NODE_HEAD "[devices a]\ncount = 3\n",
		NODE_HEAD NVME_IDLE "count = 0\n",
		NODE_HEAD NVME_IDLE NVME_IDLE,
		NODE_HEAD NODE_HEAD NVME_IDLE,
		"[node]\nname = ../x\n" NVME_IDLE,
		"[node]\nname = \033[31m\n" NVME_IDLE,
		"[node]\nname = two words\n" NVME_IDLE,
		NODE_HEAD "[devices nvme/]\nprofile = samsung-pm9a3\n",
		NODE_HEAD "[devices ]\nprofile = samsung-pm9a3\n",
		NODE_HEAD NVME_IDLE "prefix = nvme/\n",
		NODE_HEAD NVME_IDLE "prefix = ../x\n",
		NODE_HEAD NVME_IDLE "prefix = \302\233\n",
		NODE_HEAD NVME_IDLE "prefix =\n",
		NODE_HEAD NVME_IDLE "group = a/b\n",
		NODE_HEAD NVME_IDLE "pool = ..\n",
		NODE_HEAD NVME_IDLE "[workload a b]\nread = 70%\n",
		NODE_HEAD NVME_IDLE "count = 2\ncount = 2\n",
		NODE_HEAD NVME_IDLE "[workload w]\nread = 70%\n[workload w]\nrandom = 70%\n",
		NODE_HEAD NVME_IDLE "[fault]\ndevice = nvme0\nkind = lie\ndevice = nvme0\n",
		NODE_HEAD NVME_IDLE "[fault]\ndevice = nvme0\nkind = lie\n[fault]\nkind = lie\n",
		NODE_HEAD NVME_IDLE "count = 1e9\n",
		NODE_HEAD NVME_IDLE "read = 170%\n",
		NODE_HEAD NVME_IDLE "demand = constant -5\n",
		NODE_HEAD NVME_IDLE "demand = sine mean=5 swing=5\n",
		NODE_HEAD NVME_IDLE "demand = 10s:5 5s:6\n",
		NODE_HEAD NVME_IDLE "demand = sine mean=5 period=10s mean=6\n",
		NODE_HEAD NVME_IDLE "demand =\n",
		NODE_HEAD NVME_IDLE "repeat = 1h\n",
		NODE_HEAD NVME_IDLE "workload = w\n",
		NODE_HEAD NVME_IDLE "[fault]\nat = 5s\n",
		NODE_HEAD NVME_IDLE "[fault]\ndevice = sdq\nkind = lie\n",
		NODE_HEAD NVME_IDLE "[fault]\ndevice = nvme0\n",
		NODE_HEAD NVME_IDLE "[surprise]\na = b\n",
		NODE_HEAD NVME_IDLE "[surprise]\n",
		NODE_HEAD NVME_IDLE "[devices b]\n",
		NODE_HEAD NVME_IDLE "[fault]\n",
		NODE_HEAD NVME_IDLE "[workload w] read = 5%\n",
	};
	Rig r;

	(void)state;
	rig_new(&r);
	log_set_max_level(LOG_CRIT);
	for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
		rig_write(&r, bad[i]);
		if (rig_try(&r, r.node_path, NULL) >= 0)
			fail_msg("taken: %s", bad[i]);
	}
	assert_int_equal(rig_try(&r, "/nonexistent.node", NULL), -ENOENT);
	log_set_max_level(LOG_INFO);
	rig_free(&r);
}

static void a_device_outlives_its_node(void **state)
{
	Rig r;
	Device *d;

	(void)state;
	rig_new(&r);
	rig_open(&r, NODE_HEAD NVME_IDLE);
	d = device_ref(rig_device(&r, "nvme0"));
	rig_close(&r);
	expect_attr(d, "queue/nr_requests", "1023");
	device_unref(d);
	rig_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nr_requests_is_raised_to_four_and_refused_above_the_tags),
		cmocka_unit_test(a_scheduler_switch_resets_nr_requests),
		cmocka_unit_test(strict_guarantees_is_there_only_while_bfq_is),
		cmocka_unit_test(max_sectors_must_be_whole_pages_up_to_the_hardware_limit),
		cmocka_unit_test(disks_have_a_queue_depth_and_a_link_and_nvme_has_neither),
		cmocka_unit_test(hardware_queues_are_counted_by_their_folders),
		cmocka_unit_test(an_unknown_power_state_is_refused_and_the_hint_is_kept),
		cmocka_unit_test(a_power_limit_is_taken_between_the_lowest_state_and_the_rating),
		cmocka_unit_test(io_cost_prints_and_parses_as_the_kernel_does),
		cmocka_unit_test(a_dump_after_putting_everything_back_equals_the_one_before),
		cmocka_unit_test(disks_are_named_as_the_kernel_names_them),
		cmocka_unit_test(a_bad_node_file_is_refused),
		cmocka_unit_test(a_device_outlives_its_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
