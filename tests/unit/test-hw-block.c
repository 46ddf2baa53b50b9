/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Real block devices on a made-up /sys, and one loop device of this test's own on the real one. */

#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <poll.h>
#include <sys/ioctl.h>

#include "test-hw-block.h"

static void a_disk_is_known_by_what_it_is_not_by_its_place(void **state)
{
	_cleanup_(inventory_freep) Inventory *i = NULL;
	const char *root = *state;
	Seen seen;

	make_disk(root, "sda", "8:0");
	put(root, "devices/sda/device/model", "ST2000NX0463    \n");
	put(root, "devices/sda/device/wwid", "t10.ATA     ST2000NX0463\n");
	put(root, "devices/sda/queue/rotational", "1\n");
	i = open_one(root, "sda", &seen);
	assert_int_equal(seen.added, 1);
	assert_string_equal(seen.device->id, "wwid:t10.ATA_____ST2000NX0463");
	assert_string_equal(seen.device->model, "ST2000NX0463");
	assert_string_equal(seen.device->group, "rack1");
	assert_int_equal(seen.device->kind, KIND_HDD);
	assert_true(seen.device->devnum == makedev(8, 0));
	assert_null(seen.device->protected_why);
	assert_non_null(seen.device->profile);
	assert_int_equal(i->ops->fd(i), -1);
	seen_free(&seen);
}

static void what_a_disk_says_of_itself_is_made_printable(void **state)
{
	_cleanup_(inventory_freep) Inventory *i = NULL;
	const char *root = *state;
	Seen seen;

	make_disk(root, "sda", "8:0");
	put(root, "devices/sda/device/model", "ACME\344 \302\233 ST\342\200\2562\n");
	put(root, "devices/sda/device/wwid", "t10.ATA \344\033\n");
	put(root, "proc/self/mountinfo", "1 1 8:0 / /srv/t\344nk rw - xfs /dev/sda rw\n");
	i = open_one(root, "sda", &seen);
	assert_string_equal(seen.device->id, "wwid:t10.ATA_\344\033"); /* to be found again */
	assert_string_equal(seen.device->model, "ACME? ?? ST???2");
	assert_string_equal(seen.device->stack, "/srv/t?nk");
	assert_string_equal(seen.device->profile->models[0], seen.device->model);
	seen_free(&seen);
}

static void attributes_are_read_and_written_below_the_disk(void **state)
{
	_cleanup_free_ char *depth = NULL;
	_cleanup_(inventory_freep) Inventory *i = NULL;
	const char *root = *state;
	char text[32];
	Device *d;
	Seen seen;

	make_disk(root, "sdc", "8:32");
	put(root, "devices/sdc/queue/nr_requests", "64\n");
	i = open_one(root, "sdc", &seen);
	d = seen.device;
	assert_string_equal(d->id, "name:sdc");
	assert_string_equal(d->node, "/dev/sdc");
	assert_int_equal(d->ops->attr_read(d, "queue/nr_requests", text, sizeof(text)), 0);
	assert_string_equal(text, "64");
	assert_int_equal(d->ops->attr_write(d, "queue/nr_requests", "8\n"), 0);
	assert_int_equal(d->ops->attr_read(d, "queue/nr_requests", text, sizeof(text)), 0);
	assert_int_equal(atoi(text), 8);
	assert_int_equal(d->ops->attr_write(d, "queue/absent", "8"), -ENOENT);
	assert_int_equal(d->ops->attr_writable(d, "queue/nr_requests"), 0);
	depth = text_printf("%s/devices/sdc/queue/nr_requests", root);
	assert_int_equal(chmod(depth, 0444), 0);
	assert_int_equal(d->ops->attr_writable(d, "queue/nr_requests"), -EACCES);
	drop(root, "block/sdc");
	assert_int_equal(d->ops->attr_write(d, "queue/nr_requests", "8"), -ENODEV);
	seen_free(&seen);
}

/* The kernel gives names out again at once. */
static void another_disk_of_the_same_name_is_not_written_to(void **state)
{
	_cleanup_(inventory_freep) Inventory *i = NULL;
	_cleanup_free_ char *old = NULL, *moved = NULL;
	const char *root = *state;
	char text[32];
	Device *d;
	Seen seen;

	make_disk(root, "sdc", "8:32");
	put(root, "devices/sdc/queue/nr_requests", "64\n");
	i = open_one(root, "sdc", &seen);
	d = seen.device;
	old = text_printf("%s/devices/sdc", root);
	moved = text_printf("%s/devices/gone", root);
	assert_int_equal(rename(old, moved), 0);
	put(root, "devices/sdc/queue/nr_requests", "256\n");
	assert_int_equal(d->ops->attr_write(d, "queue/nr_requests", "8"), -ENODEV);
	assert_int_equal(d->ops->attr_read(d, "queue/nr_requests", text, sizeof(text)), 0);
	assert_string_equal(text, "256");
	seen_free(&seen);
}

static void counters_are_the_fields_of_stat(void **state)
{
	_cleanup_(inventory_freep) Inventory *i = NULL;
	const char *root = *state;
	DeviceCounters c;
	Device *d;
	Seen seen;

	make_disk(root, "sdb", "8:16");
	put(root, "devices/sdb/stat", "  10 2 800 30 20 5 1600 70 3 90 100 4 5 6 7 8 9\n");
	i = open_one(root, "sdb", &seen);
	d = seen.device;
	assert_int_equal(d->ops->counters(d, &c), 0);
	assert_int_equal(c.ios[READ_IO], 10);
	assert_int_equal(c.ios[WRITE_IO], 20);
	assert_int_equal(c.bytes[READ_IO], 800 * 512);
	assert_int_equal(c.bytes[WRITE_IO], 1600 * 512);
	assert_true(c.latency_us == 100000);
	assert_false(c.has_pattern || c.has_joules);
	assert_true(c.time_us > 0);
	put(root, "devices/sdb/stat", "garbage\n");
	assert_int_equal(d->ops->counters(d, &c), -EBADMSG);
	drop(root, "devices/sdb/stat");
	drop(root, "block/sdb");
	assert_int_equal(d->ops->counters(d, &c), -ENODEV);
	seen_free(&seen);
}

static void an_attribute_of_the_host_is_the_disks(void **state)
{
	_cleanup_(inventory_freep) Inventory *i = NULL;
	const char *root = *state, *attr = "host/link_power_management_policy";
	char text[64];
	Device *d;
	Seen seen;

	make_disk(root, "sda", "8:0");
	put(root, "devices/ata3/host2/target2:0:0/2:0:0:0/type", "0\n");
	link_to(root, "devices/sda/device", "devices/ata3/host2/target2:0:0/2:0:0:0");
	put(root, "class/scsi_host/host2/link_power_management_policy", "medium_power\n");
	i = open_one(root, "sda", &seen);
	d = seen.device;
	assert_int_equal(d->ops->attr_read(d, attr, text, sizeof(text)), 0);
	assert_string_equal(text, "medium_power");
	assert_int_equal(d->ops->attr_write(d, attr, "max_performance\n"), 0);
	assert_int_equal(d->ops->attr_read(d, attr, text, sizeof(text)), 0);
	assert_string_equal(text, "max_performance");
	seen_free(&seen);
	make_disk(root, "vda", "254:0");
	inventory_freep(&i);
	i = open_one(root, "vda", &seen);
	d = seen.device;
	assert_int_equal(d->ops->attr_read(d, attr, text, sizeof(text)), -EOPNOTSUPP);
	assert_null(d->ops->condition_get);
	assert_null(d->ops->feature_get);
	seen_free(&seen);
}

/* An ATA Information page of a drive whose model is longer than INQUIRY's 16 characters. */
static void put_ata_page(const char *root, const char *folder, unsigned word_78, size_t size)
{
	static const char model[] = "Samsung SSD 860 EVO 1TB                 ";
	_cleanup_free_ char *path = text_printf("%s/%s/vpd_pg89", root, folder);
	char page[572] = {};

	for (size_t i = 0; i < sizeof(model) - 1; i++)
		page[60 + 54 + (i ^ 1)] = model[i];
	page[60 + 156] = (char)(word_78 & 0xff);
	page[60 + 157] = (char)(word_78 >> 8);
	assert_int_equal(write_bytes_atomic(path, page, size, 0644), 0);
}

static void a_sata_disk_has_the_whole_model_and_says_whether_its_link_sleeps(void **state)
{
	static const struct {
		unsigned word_78;
		size_t size;
		bool whole, sleeps;
	} cases[] = { { 0x0008, 572, true, true },  { 0x004c, 572, true, true },
		      { 0x0000, 572, true, false }, { 0x0040, 572, true, false },
		      { 0xffff, 572, true, false }, { 0x0008, 200, false, false } };
	const char *root = *state, *folder = "devices/ata4/host3/target3:0:0/3:0:0:0";

	make_disk(root, "sdb", "8:16");
	put(root, "devices/ata4/host3/target3:0:0/3:0:0:0/model", "Samsung SSD 860 \n");
	link_to(root, "devices/sdb/device", folder);
	for (size_t n = 0; n < ELEMENTSOF(cases); n++) {
		_cleanup_(inventory_freep) Inventory *i = NULL;
		Seen seen;

		put_ata_page(root, folder, cases[n].word_78, cases[n].size);
		i = open_one(root, "sdb", &seen);
		assert_string_equal(seen.device->model,
				    cases[n].whole ? "Samsung SSD 860 EVO 1TB" : "Samsung SSD 860");
		assert_int_equal(seen.device->link_sleeps, cases[n].sleeps);
		seen_free(&seen);
	}
}

static void memory_floppies_and_optical_drives_are_refused(void **state)
{
	static const char *const names[] = { "zram0", "ram1", "fd0", "sr0" };
	const char *root = *state;

	for (size_t n = 0; n < ELEMENTSOF(names); n++) {
		_cleanup_(inventory_freep) Inventory *i = NULL;
		_cleanup_free_ char *dev = text_printf("1:%zu", n);
		Seen seen;

		make_disk(root, names[n], dev);
		i = open_one(root, names[n], &seen);
		assert_int_equal(seen.added, 0);
		assert_int_equal(i->ops->process(i), 0);
		assert_int_equal(seen.added, 0);
	}
}

static void a_device_comes_and_goes_and_comes_back_as_another(void **state)
{
	_cleanup_(inventory_freep) Inventory *i = NULL;
	const char *root = *state;
	Seen seen;

	i = open_one(root, "loop7", &seen);
	assert_int_equal(seen.added, 0);
	make_disk(root, "loop7", "7:7"); /* without a file: not there */
	assert_int_equal(i->ops->process(i), 0);
	assert_int_equal(seen.added, 0);
	put(root, "devices/loop7/loop/backing_file", "/srv/a b.img\n");
	assert_int_equal(i->ops->process(i), 0);
	assert_int_equal(seen.added, 1);
	assert_string_equal(seen.device->id, "name:loop7");
	assert_string_equal(seen.device->model, "loop");
	assert_int_equal(i->ops->process(i), 0);
	assert_int_equal(seen.added + seen.removed, 1);
	put(root, "devices/loop7/loop/backing_file", "/srv/c.img\n");
	assert_int_equal(i->ops->process(i), 0);
	assert_int_equal(seen.removed, 1);
	assert_int_equal(seen.added, 2);
	drop(root, "block/loop7");
	assert_int_equal(i->ops->process(i), 0);
	assert_int_equal(seen.removed, 2);
	seen_free(&seen);
}

static void a_loop_device_without_its_file_stays_until_another_comes(void **state)
{
	_cleanup_(inventory_freep) Inventory *i = NULL;
	const char *root = *state;
	Seen seen;

	make_disk(root, "loop7", "7:7");
	put(root, "devices/loop7/loop/backing_file", "/srv/a.img\n");
	i = open_one(root, "loop7", &seen);
	assert_int_equal(seen.added, 1);
	assert_false(seen.device->departing);
	for (int looks = 0; looks < 2; looks++) {
		if (!looks)
			drop(root, "devices/loop7/loop/backing_file");
		assert_int_equal(i->ops->process(i), 0);
		assert_int_equal(seen.changed, 1);
		assert_int_equal(seen.removed, 0);
		assert_true(seen.device->departing && seen.device->protected_why);
	}
	put(root, "devices/loop7/loop/backing_file", "/srv/a.img\n");
	assert_int_equal(i->ops->process(i), 0);
	assert_int_equal(seen.removed, 1);
	assert_int_equal(seen.added, 2);
	assert_false(seen.device->departing);
	seen_free(&seen);
}

static void what_is_there_without_being_managed_is_found_by_its_id(void **state)
{
	_cleanup_(inventory_freep) Inventory *i = NULL;
	const char *root = *state;
	Seen seen;

	make_disk(root, "loop7", "7:7"); /* without a file */
	make_scsi(root, "sda", "8:0");
	i = open_one(root, "loop7", &seen);
	assert_int_equal(seen.added, 0);
	assert_int_equal(inventory_find(i, "wwid:naa.5000c500sdb"), -ENODEV);
	assert_int_equal(inventory_find(i, "name:loop8"), -ENODEV);
	assert_int_equal(seen.added, 0);
	assert_int_equal(inventory_find(i, "wwid:naa.5000c500sda"), 0);
	assert_int_equal(seen.added, 1);
	assert_true(seen.device->departing);
	assert_int_equal(inventory_find(i, "name:loop7"), 0);
	assert_int_equal(inventory_find(i, "name:loop7"), 0);
	assert_int_equal(seen.added, 2);
	assert_true(seen.device->departing);
	assert_int_equal(i->ops->process(i), 0);
	assert_int_equal(seen.removed + seen.changed, 0);
	seen_free(&seen);
}

static void two_devices_of_one_identity_are_told_apart(void **state)
{
	const BlockConfig configs[] = { { .name = (char *)"sda" },
					{ .name = (char *)"sdb" },
					{ .name = (char *)"../sda" },
					{ .name = (char *)"" } };
	_cleanup_(inventory_freep) Inventory *i = NULL;
	const char *root = *state;
	Seen seen;

	make_disk(root, "sda", "8:0");
	make_disk(root, "sdb", "8:16");
	put(root, "devices/sda/device/wwid", "naa.5\n");
	put(root, "devices/sdb/device/wwid", "naa.5\n");
	i = open_with(root, &(BlockOptions){ .configs = configs, .n_configs = ELEMENTSOF(configs) },
		      &seen);
	assert_int_equal(seen.added, 2);
	assert_string_equal(seen.device->id, "wwid:naa.5:sdb");
	assert_int_equal(i->ops->process(i), 0);
	assert_int_equal(seen.added + seen.removed, 2);
	seen_free(&seen);
}

/* The real /sys. */

static bool wait_for(Inventory *i, const unsigned *count, unsigned n)
{
	for (int tries = 0; tries < 50 && *count < n; tries++) {
		struct pollfd p = { .fd = i->ops->fd(i), .events = POLLIN };

		poll(&p, 1, 100);
		if (p.revents)
			i->ops->process(i);
	}
	return *count >= n;
}

static void a_loop_device_comes_when_its_file_is_set_and_departs_when_cleared(void **state)
{
	const char *root = *state;
	_cleanup_free_ char *file = text_printf("%s/loop.img", root), *name = NULL, *node = NULL;
	_cleanup_close_ int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	_cleanup_close_ int backing = -EBADF, loop = -EBADF;
	_cleanup_(inventory_freep) Inventory *i = NULL;
	struct loop_config config = { 0 };
	Seen seen;
	int n;

	n = control < 0 ? -1 : ioctl(control, LOOP_CTL_GET_FREE);
	name = text_printf("loop%d", n);
	node = text_printf("/dev/%s", name);
	loop = n < 0 ? -1 : open(node, O_RDWR | O_CLOEXEC);
	if (loop < 0) {
		print_message(
			"no loop device to be had here (root and /dev/loop-control needed)\n");
		skip();
	}
	backing = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(backing >= 0 && ftruncate(backing, 16 << 20) == 0);
	i = open_one("/sys", name, &seen);
	assert_int_equal(seen.added, 0);
	config.fd = (unsigned)backing;
	assert_int_equal(ioctl(loop, LOOP_CONFIGURE, &config), 0);
	assert_true(wait_for(i, &seen.added, 1));
	assert_string_equal(seen.device->name, name);
	assert_int_equal(ioctl(loop, LOOP_CLR_FD), 0);
	close(TAKE_FD(loop)); /* it is cleared when the last one closes it */
	assert_true(wait_for(i, &seen.changed, 1));
	assert_true(seen.device->departing);
	seen_free(&seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROOT_TEST(a_disk_is_known_by_what_it_is_not_by_its_place),
		ROOT_TEST(what_a_disk_says_of_itself_is_made_printable),
		ROOT_TEST(attributes_are_read_and_written_below_the_disk),
		ROOT_TEST(another_disk_of_the_same_name_is_not_written_to),
		ROOT_TEST(counters_are_the_fields_of_stat),
		ROOT_TEST(a_sata_disk_has_the_whole_model_and_says_whether_its_link_sleeps),
		ROOT_TEST(memory_floppies_and_optical_drives_are_refused),
		ROOT_TEST(an_attribute_of_the_host_is_the_disks),
		ROOT_TEST(a_device_comes_and_goes_and_comes_back_as_another),
		ROOT_TEST(a_loop_device_without_its_file_stays_until_another_comes),
		ROOT_TEST(what_is_there_without_being_managed_is_found_by_its_id),
		ROOT_TEST(two_devices_of_one_identity_are_told_apart),
		ROOT_TEST(a_loop_device_comes_when_its_file_is_set_and_departs_when_cleared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
