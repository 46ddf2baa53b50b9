/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is managed without being named, by which names the configuration reaches it, and NVMe
 * controllers with their namespaces. */

#include "test-hw-block.h"

/* class/nvme/NAME, live, with a serial number. */
static void make_controller(const char *root, const char *name, const char *serial)
{
	_cleanup_free_ char *folder = text_printf("devices/ctrl/%s", name);
	_cleanup_free_ char *class = text_printf("class/nvme/%s", name);
	const struct {
		const char *attr, *text;
	} attrs[] = { { "dev", "240:0\n" },      { "state", "live\n" },
		      { "transport", "pcie\n" }, { "model", "SAMSUNG MZQL23T8HCLS-00A07    \n" },
		      { "serial", serial },      { "subsysnqn", "nqn.2014-08.org:one\n" } };

	for (size_t i = 0; i < ELEMENTSOF(attrs); i++) {
		_cleanup_free_ char *path = text_printf("%s/%s", folder, attrs[i].attr);

		put(root, path, attrs[i].text);
	}
	link_to(root, class, folder);
}

/* class/nvme-subsystem/NAME with its controllers. */
static void make_subsystem(const char *root, const char *name, const char *const *controllers)
{
	for (; *controllers; controllers++) {
		_cleanup_free_ char *link =
			text_printf("class/nvme-subsystem/%s/%s", name, *controllers);
		_cleanup_free_ char *to = text_printf("devices/ctrl/%s", *controllers);

		link_to(root, link, to);
	}
}

/* A block device that the controller's folder shows as its own. */
static void make_namespace(const char *root, const char *controller, const char *name,
			   const char *dev)
{
	_cleanup_free_ char *link = text_printf("devices/ctrl/%s/%s", controller, name);
	_cleanup_free_ char *to = text_printf("devices/%s", name);

	make_disk(root, name, dev);
	link_to(root, link, to);
}

/* The kernel's own multipath hides the way through one controller: without a device number. */
static void make_path(const char *root, const char *controller, const char *name)
{
	_cleanup_free_ char *dev = text_printf("devices/%s/dev", name);

	make_namespace(root, controller, name, "0:0");
	drop(root, dev);
	drop(root, "dev/block/0:0");
}

static void drop_namespace(const char *root, const char *controller, const char *name)
{
	_cleanup_free_ char *link = text_printf("devices/ctrl/%s/%s", controller, name);
	_cleanup_free_ char *block = text_printf("block/%s", name);

	drop(root, link);
	drop(root, block);
}

static void disks_and_controllers_are_managed_and_others_ignored(void **state)
{
	static const char *const others[] = { "loop0", "zram0", "ram0", "fd0",   "sr0",
					      "vda",   "md0",   "dm-0", "nullb0" };
	_cleanup_(inventory_freep) Inventory *i = NULL;
	const char *root = *state;
	Seen seen;

	for (size_t n = 0; n < ELEMENTSOF(others); n++) {
		_cleanup_free_ char *dev = text_printf("1:%zu", n);

		make_disk(root, others[n], dev);
	}
	put(root, "devices/loop0/loop/backing_file", "/x\n");
	make_scsi(root, "sdr", "8:1");
	put(root, "devices/sdr/ro", "1\n");
	make_scsi(root, "sdu", "8:2");
	put(root, "devices/sdu/removable", "1\n");
	put(root, "devices/sr0/device/type", "5\n");
	make_scsi(root, "usb1/sdx", "8:3"); /* its own path leads over USB */
	drop(root, "block/usb1/sdx");
	link_to(root, "block/sdx", "devices/usb1/sdx");
	i = open_all(root, &seen);
	assert_int_equal(seen.added, 0);
	make_scsi(root, "sda", "8:4");
	make_controller(root, "nvme0", "S1\n");
	make_namespace(root, "nvme0", "nvme0n1", "259:0");
	assert_int_equal(i->ops->process(i), 0);
	assert_int_equal(seen.added, 2);
	assert_int_equal(i->ops->process(i), 0);
	assert_int_equal(seen.added + seen.removed, 2);
	seen_free(&seen);
}

static void discovery_can_be_switched_off_and_single_devices_left_alone(void **state)
{
	const BlockConfig alone = { .name = (char *)"sdb", .unmanaged = true };
	_cleanup_(inventory_freep) Inventory *i = NULL, *none = NULL;
	const char *root = *state;
	Seen seen;

	make_scsi(root, "sda", "8:0");
	make_scsi(root, "sdb", "8:16");
	none = open_with(root, &(BlockOptions){ .discover = false }, &seen);
	assert_int_equal(seen.added, 0);
	i = open_with(root, &(BlockOptions){ .discover = true, .configs = &alone, .n_configs = 1 },
		      &seen);
	assert_int_equal(seen.added, 1);
	assert_string_equal(seen.device->name, "sda");
	seen_free(&seen);
}

static void a_read_only_disk_is_managed_when_it_is_named(void **state)
{
	_cleanup_(inventory_freep) Inventory *i = NULL;
	const char *root = *state;
	Seen seen;

	make_scsi(root, "sda", "8:0");
	put(root, "devices/sda/ro", "1\n");
	i = open_one(root, "sda", &seen);
	assert_int_equal(seen.added, 1);
	seen_free(&seen);
}

static void expect_name(const char *root, const char *config, const char *name)
{
	Seen seen;
	_cleanup_(inventory_freep) Inventory *i = open_one(root, config, &seen);

	assert_non_null(i);
	assert_int_equal(seen.added, 1);
	assert_string_equal(seen.device->name, name);
	assert_string_equal(seen.device->group, "rack1");
	seen_free(&seen);
}

static void a_section_reaches_its_device_by_any_of_its_names(void **state)
{
	const char *root = *state;

	make_scsi(root, "sda", "8:0");
	make_scsi(root, "sdb", "8:16");
	make_controller(root, "nvme3", "S4YZNX0R  \n");
	make_namespace(root, "nvme3", "nvme3n1", "259:0");
	put(root, "devices/nvme3n1/wwid", "eui.0025\n");
	expect_name(root, "sdb", "sdb");
	expect_name(root, "wwid:naa.5000c500sdb", "sdb");
	expect_name(root, "nvme3", "nvme3");
	expect_name(root, "nvme3n1", "nvme3");
	expect_name(root, "serial:S4YZNX0R", "nvme3");
	expect_name(root, "wwid:eui.0025", "nvme3");
}

static void a_controller_is_its_one_namespace_to_the_block_layer(void **state)
{
	_cleanup_(inventory_freep) Inventory *i = NULL;
	const char *root = *state;
	char text[32];
	Device *d;
	Seen seen;

	make_controller(root, "nvme0", "S1\n");
	make_namespace(root, "nvme0", "nvme0n1", "259:7");
	put(root, "devices/nvme0n1/queue/nr_requests", "64\n");
	put(root, "devices/nvme0n1/stat", "1 0 8 1 2 0 16 1 0 1 1\n");
	put(root, "proc/self/mountinfo", "1 1 259:7 / /srv rw - xfs /dev/nvme0n1 rw\n");
	i = open_all(root, &seen);
	d = seen.device;
	assert_string_equal(d->name, "nvme0");
	assert_string_equal(d->id, "serial:S1");
	assert_string_equal(d->model, "SAMSUNG MZQL23T8HCLS-00A07");
	assert_string_equal(d->node, "/dev/nvme0");
	assert_string_equal(d->stack, "/srv");
	assert_int_equal(d->kind, KIND_NVME);
	assert_true(d->devnum == makedev(259, 7));
	assert_null(d->block_why_not);
	assert_int_equal(d->ops->attr_read(d, "queue/nr_requests", text, sizeof(text)), 0);
	assert_string_equal(text, "64");
	assert_null(d->ops->condition_get);
	seen_free(&seen);
}

static void several_namespaces_are_counted_together_and_not_shaped(void **state)
{
	_cleanup_(inventory_freep) Inventory *i = NULL;
	const char *root = *state;
	DeviceCounters c;
	char text[32];
	Device *d;
	Seen seen;

	make_controller(root, "nvme0", "S1\n");
	make_namespace(root, "nvme0", "nvme0n2", "259:2");
	make_namespace(root, "nvme0", "nvme0n1", "259:1");
	put(root, "devices/nvme0n1/stat", "10 0 80 1 20 0 160 2 3 1 1\n");
	put(root, "devices/nvme0n2/stat", "1 0 8 1 2 0 16 1 4 1 1\n");
	put(root, "proc/self/mountinfo", "1 1 259:2 / /usr rw - xfs /dev/nvme0n2 rw\n");
	i = open_all(root, &seen);
	d = seen.device;
	assert_int_equal(seen.added, 1);
	assert_true(d->devnum == 0);
	assert_non_null(strstr(d->block_why_not, "nvme0 has 2 namespaces"));
	assert_int_equal(d->ops->attr_read(d, "queue/nr_requests", text, sizeof(text)),
			 -EOPNOTSUPP);
	assert_int_equal(d->ops->cgroup_read(d, "io.cost.qos", text, sizeof(text)), -EOPNOTSUPP);
	assert_int_equal(d->ops->counters(d, &c), 0);
	assert_int_equal(c.ios[READ_IO], 11);
	assert_int_equal(c.bytes[WRITE_IO], 176 * 512);
	assert_true(c.outstanding == 7 && c.latency_us == 5000);
	assert_string_equal(d->protected_why, "holds the system's programs");
	assert_string_equal(d->stack, "nvme0n2: /usr");
	seen_free(&seen);
}

/* What is set lies on the queue of the first: it is given back before the two are looked at. */
static void another_namespace_comes_when_the_first_one_is_given_back(void **state)
{
	_cleanup_(inventory_freep) Inventory *i = NULL;
	const char *root = *state;
	char text[32];
	Device *first;
	Seen seen;

	make_controller(root, "nvme0", "S1\n");
	make_namespace(root, "nvme0", "nvme0n1", "259:1");
	put(root, "devices/nvme0n1/queue/nr_requests", "64\n");
	i = open_all(root, &seen);
	first = device_ref(seen.device);
	make_namespace(root, "nvme0", "nvme0n2", "259:2");
	for (unsigned looks = 0; looks < 2; looks++) {
		assert_int_equal(i->ops->process(i), 0);
		assert_int_equal(seen.changed, 1);
		assert_int_equal(seen.added + seen.removed, 1);
		assert_true(first->departing);
	}
	assert_int_equal(first->ops->attr_write(first, "queue/nr_requests", "128\n"), 0);
	assert_int_equal(inventory_departed(i, first), 0);
	assert_int_equal(seen.added, 2);
	assert_non_null(strstr(seen.device->block_why_not, "nvme0 has 2 namespaces"));
	assert_int_equal(inventory_departed(i, first), 0);
	assert_int_equal(seen.added, 2);
	/* of none, what was set is gone; of several, nobody knows where it was */
	assert_int_equal(
		seen.device->ops->attr_read(seen.device, "queue/nr_requests", text, sizeof(text)),
		-EOPNOTSUPP);
	drop_namespace(root, "nvme0", "nvme0n1");
	drop_namespace(root, "nvme0", "nvme0n2");
	assert_int_equal(i->ops->process(i), 0);
	assert_int_equal(seen.added, 3);
	assert_int_equal(
		seen.device->ops->attr_read(seen.device, "queue/nr_requests", text, sizeof(text)),
		-ENXIO);
	device_unref(first);
	seen_free(&seen);
}

static void a_controller_without_a_namespace_offers_its_features_alone(void **state)
{
	_cleanup_(inventory_freep) Inventory *i = NULL;
	const char *root = *state;
	DeviceCounters c;
	Seen seen;

	make_controller(root, "nvme0", "S1\n");
	i = open_all(root, &seen);
	assert_string_equal(seen.device->block_why_not, "nvme0 has no namespace");
	assert_int_equal(seen.device->ops->counters(seen.device, &c), 0);
	assert_int_equal(c.ios[READ_IO], 0);
	/* the namespace comes when the kernel has scanned it */
	make_namespace(root, "nvme0", "nvme0n1", "259:1");
	assert_int_equal(i->ops->process(i), 0);
	assert_int_equal(seen.added, 2);
	assert_int_equal(seen.removed, 1);
	assert_null(seen.device->block_why_not);
	drop_namespace(root, "nvme0", "nvme0n1");
	assert_int_equal(i->ops->process(i), 0);
	assert_int_equal(seen.removed, 2);
	seen_free(&seen);
}

/* With the kernel's own multipath nvme1n1 is of the subsystem; the queues are the hidden devices'.
 */
static void below_native_multipath_each_controller_has_its_own_queue(void **state)
{
	_cleanup_(inventory_freep) Inventory *i = NULL;
	const char *root = *state;
	char text[32];
	Device *d;
	Seen seen;

	make_disk(root, "nvme1n1", "259:9");
	make_controller(root, "nvme2", "S2\n");
	make_path(root, "nvme2", "nvme1c2n1");
	put(root, "devices/nvme1c2n1/queue/nr_requests", "127\n");
	put(root, "devices/nvme1c2n1/stat", "5 0 8 1 2 0 16 1 0 1 1\n");
	put(root, "proc/self/mountinfo", "1 1 259:9 / /usr rw - xfs /dev/nvme1n1 rw\n");
	i = open_all(root, &seen);
	d = seen.device;
	assert_int_equal(seen.added, 1);
	assert_true(d->devnum == makedev(259, 9));
	assert_true(d->above_queue);
	assert_int_equal(d->ops->attr_read(d, "queue/nr_requests", text, sizeof(text)), 0);
	assert_string_equal(text, "127");
	assert_string_equal(d->protected_why, "holds the system's programs");
	seen_free(&seen);
}

static void a_subsystem_is_one_device_however_many_controllers_lead_to_it(void **state)
{
	_cleanup_(inventory_freep) Inventory *i = NULL;
	const char *root = *state;
	DeviceCounters counters;
	char text[32];
	Seen seen;

	make_disk(root, "nvme0n1", "259:9");
	make_controller(root, "nvme0", "S\n");
	make_controller(root, "nvme1", "S\n");
	make_controller(root, "nvme2", "T\n");
	make_subsystem(root, "nvme-subsys0", (const char *[]){ "nvme0", "nvme1", NULL });
	make_subsystem(root, "nvme-subsys2", (const char *[]){ "nvme2", NULL });
	make_path(root, "nvme0", "nvme0c0n1");
	make_path(root, "nvme1", "nvme0c1n1");
	put(root, "devices/nvme0c0n1/queue/nr_requests", "127\n");
	put(root, "devices/nvme0c0n1/stat", "5 0 8 1 2 0 16 1 0 1 1\n");
	put(root, "devices/nvme0c1n1/stat", "6 0 8 1 3 0 16 1 0 1 1\n");
	i = open_all(root, &seen);
	assert_int_equal(seen.added, 2);
	seen_free(&seen);
	inventory_freep(&i);
	/* by any of its names: its controllers', its namespaces' */
	i = open_one(root, "nvme1", &seen);
	assert_int_equal(seen.added, 1);
	assert_string_equal(seen.device->name, "nvme0");
	seen_free(&seen);
	inventory_freep(&i);
	i = open_one(root, "serial:S", &seen);
	assert_int_equal(seen.added, 1);
	assert_int_equal(seen.device->ops->attr_read(seen.device, "host/state", text, sizeof(text)),
			 -EOPNOTSUPP); /* of which of the two? */
	/* the queues are several; a cgroup's limit on the head holds for all of them */
	assert_true(seen.device->devnum == makedev(259, 9));
	assert_int_equal(
		seen.device->ops->attr_read(seen.device, "queue/nr_requests", text, sizeof(text)),
		-EOPNOTSUPP);
	assert_non_null(strstr(seen.device->block_why_not, "2 controllers lead to nvme0n1"));
	assert_int_equal(seen.device->ops->counters(seen.device, &counters), 0);
	assert_true(counters.ios[READ_IO] == 11 && counters.ios[WRITE_IO] == 5);
	drop(root, "class/nvme/nvme1"); /* its link in the subsystem's folder may stay longer */
	assert_int_equal(i->ops->process(i), 0);
	assert_true(seen.added == 2 && seen.removed == 1);
	assert_string_equal(seen.device->id, "serial:S");
	assert_null(seen.device->block_why_not);
	assert_int_equal(seen.device->ops->attr_read(seen.device, "host/state", text, sizeof(text)),
			 0);
	assert_string_equal(text, "live");
	seen_free(&seen);
}

static void a_controller_across_a_network_is_left_alone_unless_it_is_named(void **state)
{
	_cleanup_(inventory_freep) Inventory *i = NULL;
	const BlockConfig config = { .name = (char *)"nqn:nqn.2014-08.org:one" };
	const char *root = *state;
	Seen seen;

	make_controller(root, "nvme0", "S1\n");
	put(root, "devices/ctrl/nvme0/transport", "rdma\n");
	i = open_all(root, &seen);
	assert_int_equal(seen.added, 0);
	inventory_freep(&i);
	i = open_with(root, &(BlockOptions){ .discover = true, .configs = &config, .n_configs = 1 },
		      &seen);
	assert_int_equal(seen.added, 1);
	assert_string_equal(seen.device->id, config.name);
	seen_free(&seen);
}

static void a_controller_is_waited_for_until_it_is_live_and_kept_while_it_is_reset(void **state)
{
	_cleanup_(inventory_freep) Inventory *i = NULL;
	const char *root = *state;
	Seen seen;

	make_controller(root, "nvme0", "S1\n");
	put(root, "devices/ctrl/nvme0/transport", "tcp\n");
	put(root, "devices/ctrl/nvme0/state", "connecting\n");
	i = open_one(root, "nvme0", &seen);
	assert_int_equal(seen.added, 0);
	put(root, "devices/ctrl/nvme0/state", "live\n");
	assert_int_equal(i->ops->process(i), 0);
	assert_int_equal(seen.added, 1);
	assert_string_equal(seen.device->id, "nqn:nqn.2014-08.org:one");
	put(root, "devices/ctrl/nvme0/state", "resetting\n");
	assert_int_equal(i->ops->process(i), 0);
	assert_int_equal(seen.added + seen.removed, 1);
	drop(root, "class/nvme/nvme0");
	assert_int_equal(i->ops->process(i), 0);
	assert_int_equal(seen.removed, 1);
	seen_free(&seen);
}

/* Its path: devices/BUS/.../hostN/target/1:0:0:0 */
static void attach(const char *root, const char *disk, const char *path)
{
	_cleanup_free_ char *device = text_printf("devices/%s/device", disk);
	_cleanup_free_ char *type = text_printf("%s/type", path);

	make_disk(root, disk, "8:0");
	put(root, type, "0\n");
	link_to(root, device, path);
}

static void expect_hba(const char *root, const char *disk, const char *hba)
{
	Seen seen;
	_cleanup_(inventory_freep) Inventory *i = open_one(root, disk, &seen);

	assert_int_equal(seen.added, 1);
	assert_string_equal(seen.device->hba, hba);
	seen_free(&seen);
}

static void a_disk_hangs_on_its_pci_function_or_what_its_host_is_a_part_of(void **state)
{
	static const struct {
		const char *path, *hba;
	} cases[] = {
		{ "pci/0000:00:17.0/ata3/host2/target2:0:0/2:0:0:0", "0000:00:17.0 ahci" },
		{ "pci/0000:01:00.0/host0/port-0:0/expander-0:0/port-0:0:1/end_device-0:0:1/"
		  "target0:0:1/0:0:1:0",
		  "0000:01:00.0" },
		{ "pseudo/tcm_loop_0/tcm_loop_adapter_0/host5/target5:0:1/5:0:1:0",
		  "tcm_loop_adapter_0" },
		{ "pci/0000:00:14.0/usb1/1-1/1-1:1.0/host3/target3:0:0/3:0:0:0", "1-1:1.0" },
		{ "virtual/nothing", "" },
	};
	const char *root = *state;

	put(root, "drivers/ahci/new_id", "");
	link_to(root, "devices/pci/0000:00:17.0/driver", "drivers/ahci");
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		_cleanup_free_ char *path = text_printf("devices/%s", cases[i].path);

		attach(root, "sda", path);
		expect_hba(root, "sda", cases[i].hba);
		drop(root, "devices/sda/device");
		drop(root, "block/sda");
		drop(root, "class/block/sda");
		drop(root, "dev/block/8:0");
	}
}

static void a_disk_that_the_configuration_keeps_awake_says_so(void **state)
{
	const BlockConfig awake = { .name = (char *)"sda", .keep_awake = true };
	_cleanup_(inventory_freep) Inventory *i = NULL;
	const char *root = *state;
	Seen seen;

	make_scsi(root, "sda", "8:0");
	i = open_with(root, &(BlockOptions){ .configs = &awake, .n_configs = 1 }, &seen);
	assert_string_equal(seen.device->keep_awake_why, "the configuration keeps it awake");
	seen_free(&seen);
}

static void the_cache_of_others_is_kept_awake_be_it_a_disk_or_a_controller(void **state)
{
	_cleanup_(inventory_freep) Inventory *i = NULL;
	const char *root = *state;
	Seen seen;

	make_controller(root, "nvme0", "S1\n");
	make_namespace(root, "nvme0", "nvme0n1", "259:0");
	make_disk(root, "bcache0", "252:0");
	put(root, "devices/nvme0n1/bcache/written", "0\n");
	put(root, "fs/bcache/11-22/bdev0/label", "\n");
	link_to(root, "fs/bcache/11-22/bdev0/dev", "devices/bcache0");
	i = open_all(root, &seen);
	assert_null(seen.device->keep_awake_why);
	link_to(root, "devices/nvme0n1/bcache/set", "fs/bcache/11-22");
	assert_int_equal(i->ops->process(i), 0);
	assert_string_equal(seen.device->keep_awake_why, "it is the cache of bcache0");
	assert_int_equal(seen.changed, 0);
	assert_int_equal(seen.moved, 1);
	seen_free(&seen);
}

static void a_disk_that_joins_or_leaves_a_pool_is_told_and_nothing_given_back(void **state)
{
	_cleanup_(inventory_freep) Inventory *i = NULL;
	const char *root = *state;
	Seen seen;

	make_scsi(root, "sda", "8:0");
	make_disk(root, "sdb", "8:16");
	i = open_one(root, "sda", &seen);
	assert_string_equal(seen.device->pool, "");
	assert_int_equal(i->ops->process(i), 0);
	assert_int_equal(seen.moved, 0);
	make_disk(root, "md0", "9:0");
	put(root, "devices/md0/md/sync_action", "idle\n");
	stack_on(root, "sda", "sda", "md0");
	stack_on(root, "sdb", "sdb", "md0");
	assert_int_equal(i->ops->process(i), 0);
	assert_string_equal(seen.device->pool, "md0");
	assert_int_equal(seen.moved, 1);
	drop(root, "devices/sda/holders/md0");
	drop(root, "devices/md0/slaves/sda");
	assert_int_equal(i->ops->process(i), 0);
	assert_string_equal(seen.device->pool, "");
	assert_int_equal(seen.moved, 2);
	assert_int_equal(seen.changed, 0);
	seen_free(&seen);
}

static void a_disk_is_asked_whether_its_pool_may_sleep(void **state)
{
	_cleanup_(inventory_freep) Inventory *i = NULL;
	_cleanup_free_ char *why = NULL;
	const char *root = *state;
	Device *d;
	Seen seen;

	make_scsi(root, "sda", "8:0");
	make_disk(root, "md0", "9:0");
	put(root, "devices/md0/md/sync_action", "idle\n");
	stack_on(root, "sda", "sda", "md0");
	i = open_one(root, "sda", &seen);
	d = seen.device;
	assert_int_equal(d->ops->may_sleep(d, &why), 0);
	assert_null(why);
	put(root, "devices/md0/md/sync_action", "recover\n");
	assert_int_equal(d->ops->may_sleep(d, &why), -EBUSY);
	assert_string_equal(why, "md0 is being resynced (recover)");
	seen_free(&seen);
}

static void what_the_operator_names_above_a_disk_is_known_and_all_can_be_put_back(void **state)
{
	const BlockConfig none = { .name = (char *)"sda", .redirect = (char *)"none" };
	_cleanup_(inventory_freep) Inventory *i = NULL;
	const char *root = *state, *told;
	Device *d;
	Seen seen;

	make_scsi(root, "sda", "8:0");
	i = open_one(root, "sda", &seen);
	d = seen.device;
	assert_int_equal(d->ops->sysfs_root(d, &told), 0);
	assert_string_equal(told, root);
	assert_string_equal(d->redirect, "");
	seen_free(&seen);
	inventory_freep(&i);
	i = open_with(root, &(BlockOptions){ .configs = &none, .n_configs = 1 }, &seen);
	d = seen.device;
	assert_string_equal(d->redirect, "none");
	assert_int_equal(d->ops->sysfs_root(d, &told), 0);
	/* another device has its name now */
	drop(root, "block/sda");
	make_disk(root, "sdb", "8:16");
	link_to(root, "block/sda", "devices/sdb");
	assert_int_equal(d->ops->sysfs_root(d, &told), -ENODEV);
	seen_free(&seen);
}

static void above_what_never_sleeps_nothing_is_steered(void **state)
{
	_cleanup_(inventory_freep) Inventory *i = NULL;
	Seen seen;

	make_disk(*state, "vda", "252:0");
	i = open_one(*state, "vda", &seen);
	assert_non_null(seen.device->ops->attr_read);
	assert_null(seen.device->ops->sysfs_root);
	seen_free(&seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROOT_TEST(disks_and_controllers_are_managed_and_others_ignored),
		ROOT_TEST(discovery_can_be_switched_off_and_single_devices_left_alone),
		ROOT_TEST(a_read_only_disk_is_managed_when_it_is_named),
		ROOT_TEST(a_section_reaches_its_device_by_any_of_its_names),
		ROOT_TEST(a_controller_is_its_one_namespace_to_the_block_layer),
		ROOT_TEST(several_namespaces_are_counted_together_and_not_shaped),
		ROOT_TEST(another_namespace_comes_when_the_first_one_is_given_back),
		ROOT_TEST(a_controller_without_a_namespace_offers_its_features_alone),
		ROOT_TEST(below_native_multipath_each_controller_has_its_own_queue),
		ROOT_TEST(a_subsystem_is_one_device_however_many_controllers_lead_to_it),
		ROOT_TEST(a_controller_across_a_network_is_left_alone_unless_it_is_named),
		ROOT_TEST(a_controller_is_waited_for_until_it_is_live_and_kept_while_it_is_reset),
		ROOT_TEST(a_disk_hangs_on_its_pci_function_or_what_its_host_is_a_part_of),
		ROOT_TEST(a_disk_that_the_configuration_keeps_awake_says_so),
		ROOT_TEST(the_cache_of_others_is_kept_awake_be_it_a_disk_or_a_controller),
		ROOT_TEST(a_disk_that_joins_or_leaves_a_pool_is_told_and_nothing_given_back),
		ROOT_TEST(a_disk_is_asked_whether_its_pool_may_sleep),
		ROOT_TEST(what_the_operator_names_above_a_disk_is_known_and_all_can_be_put_back),
		ROOT_TEST(above_what_never_sleeps_nothing_is_steered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
