/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Real block devices on a made-up /sys, and one loop device of this test's own on the real one. */

#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/text.h"
#include "device/block.h"

typedef struct Seen {
	unsigned added, removed;
	Device *device; /* the last one added */
} Seen;

static void see(Device *d, DeviceEvent event, void *userdata)
{
	Seen *s = userdata;

	s->added += event == DEVICE_ADDED;
	s->removed += event == DEVICE_REMOVED;
	if (event == DEVICE_ADDED) {
		device_unref(s->device);
		s->device = device_ref(d);
	}
}

static void seen_free(Seen *s)
{
	s->device = device_unref(s->device);
}

/* A fake tree: every path is below *state. */

static int make_root(void **state)
{
	char *root = strdup("/tmp/storpower-block-XXXXXX");

	*state = root;
	return root && mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	_cleanup_free_ char *root = *state;
	_cleanup_free_ char *command = text_printf("rm -rf '%s'", root);

	return strncmp(root, "/tmp/storpower-block-", 21) || !command ? -1 : system(command);
}

static void put(const char *root, const char *path, const char *text)
{
	_cleanup_free_ char *full = text_printf("%s/%s", root, path), *folder = strdup(full);

	*strrchr(folder, '/') = '\0';
	assert_int_equal(mkdir_parents(folder, 0755), 0);
	assert_int_equal(write_file_atomic(full, text, 0644), 0);
}

static void link_to(const char *root, const char *path, const char *target)
{
	_cleanup_free_ char *full = text_printf("%s/%s", root, path), *folder = strdup(full);
	_cleanup_free_ char *to = text_printf("%s/%s", root, target);

	*strrchr(folder, '/') = '\0';
	assert_int_equal(mkdir_parents(folder, 0755), 0);
	assert_int_equal(symlink(to, full), 0);
}

static void drop(const char *root, const char *path)
{
	_cleanup_free_ char *full = text_printf("%s/%s", root, path);

	assert_int_equal(unlink(full), 0);
}

/* block/NAME, class/block/NAME and dev/block/MAJ:MIN lead to devices/NAME. */
static void make_disk(const char *root, const char *name, const char *dev)
{
	_cleanup_free_ char *folder = text_printf("devices/%s", name);
	_cleanup_free_ char *attr = text_printf("%s/dev", folder);
	_cleanup_free_ char *block = text_printf("block/%s", name);
	_cleanup_free_ char *class = text_printf("class/block/%s", name);
	_cleanup_free_ char *number = text_printf("dev/block/%s", dev);

	put(root, attr, dev);
	link_to(root, block, folder);
	link_to(root, class, folder);
	link_to(root, number, folder);
}

static void make_partition(const char *root, const char *disk, const char *name, const char *dev)
{
	_cleanup_free_ char *folder = text_printf("devices/%s/%s", disk, name);
	_cleanup_free_ char *attr = text_printf("%s/dev", folder);
	_cleanup_free_ char *number_attr = text_printf("%s/partition", folder);
	_cleanup_free_ char *class = text_printf("class/block/%s", name);
	_cleanup_free_ char *number = text_printf("dev/block/%s", dev);

	put(root, attr, dev);
	put(root, number_attr, "1\n");
	link_to(root, class, folder);
	link_to(root, number, folder);
}

static Inventory *open_one(const char *root, const char *name, Seen *seen)
{
	const BlockConfig config = { .name = (char *)name, .group = (char *)"rack1" };
	Inventory *i;

	*seen = (Seen){ 0 };
	assert_int_equal(block_inventory_open(root, &config, 1, NULL, &i), 0);
	assert_int_equal(inventory_start(i, see, seen), 0);
	return i;
}

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

static void attributes_are_read_and_written_below_the_disk(void **state)
{
	_cleanup_(inventory_freep) Inventory *i = NULL;
	const char *root = *state;
	char text[32];
	Device *d;
	Seen seen;

	make_disk(root, "nvme0n1", "259:0");
	put(root, "devices/nvme0n1/queue/nr_requests", "64\n");
	i = open_one(root, "nvme0n1", &seen);
	d = seen.device;
	assert_int_equal(d->kind, KIND_NVME);
	assert_string_equal(d->id, "name:nvme0n1");
	assert_int_equal(d->ops->attr_read(d, "queue/nr_requests", text, sizeof(text)), 0);
	assert_string_equal(text, "64");
	assert_int_equal(d->ops->attr_write(d, "queue/nr_requests", "8\n"), 0);
	assert_int_equal(d->ops->attr_read(d, "queue/nr_requests", text, sizeof(text)), 0);
	assert_int_equal(atoi(text), 8);
	assert_int_equal(d->ops->attr_write(d, "queue/absent", "8"), -ENOENT);
	drop(root, "block/nvme0n1");
	assert_int_equal(d->ops->attr_write(d, "queue/nr_requests", "8"), -ENODEV);
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

static void expect_protection(const char *root, const char *disk, const char *why)
{
	Seen seen;
	_cleanup_(inventory_freep) Inventory *i = open_one(root, disk, &seen);

	assert_non_null(i);
	assert_int_equal(seen.added, 1);
	if (why)
		assert_string_equal(seen.device->protected_why, why);
	else
		assert_null(seen.device->protected_why);
	seen_free(&seen);
}

/* sda1 is /boot, swap is sdb2, the journal is on a volume dm-0 upon RAID md0 of sdc1 and sdd; the
 * root is btrfs on sde1; data is sdf. */
static void what_the_system_lives_on_is_protected(void **state)
{
	const char *root = *state;

	make_disk(root, "sda", "8:0");
	make_partition(root, "sda", "sda1", "8:1");
	make_disk(root, "sdb", "8:16");
	make_partition(root, "sdb", "sdb2", "8:18");
	make_disk(root, "sdc", "8:32");
	make_partition(root, "sdc", "sdc1", "8:33");
	make_disk(root, "sdd", "8:48");
	make_disk(root, "md0", "9:0");
	link_to(root, "devices/md0/slaves/sdc1", "devices/sdc/sdc1");
	link_to(root, "devices/md0/slaves/sdd", "devices/sdd");
	make_disk(root, "dm-0", "253:0");
	link_to(root, "devices/dm-0/slaves/md0", "devices/md0");
	make_disk(root, "sde", "8:64");
	make_partition(root, "sde", "sde1", "8:65");
	make_disk(root, "sdf", "8:80");
	put(root, "proc/self/mountinfo",
	    "22 1 0:25 / / rw,relatime shared:1 - btrfs /dev/sde1 rw\n"
	    "23 22 8:1 / /boot rw shared:2 - ext4 /dev/sda1 rw\n"
	    "24 22 253:0 / /var/log rw - xfs /dev/mapper/vg-log rw\n"
	    "25 22 8:80 / /srv/data rw - xfs /dev/sdf rw\n"
	    "26 22 0:30 / /var rw - tmpfs tmpfs rw\n"
	    "torn line\n");
	put(root, "proc/swaps",
	    "Filename Type Size Used Priority\n"
	    "/dev/sdb2 partition 1 0 -2\n");

	expect_protection(root, "sda", "holds the boot files");
	expect_protection(root, "sdb", "holds swap space");
	expect_protection(root, "sdc", "holds the system journal");
	expect_protection(root, "sdd", "holds the system journal");
	expect_protection(root, "md0", "holds the system journal");
	expect_protection(root, "dm-0", "holds the system journal");
	expect_protection(root, "sde", "holds the root file system");
	expect_protection(root, "sdf", NULL);
}

static void a_swap_file_protects_its_disk(void **state)
{
	const char *root = *state;
	_cleanup_free_ char *file = text_printf("%s/swapfile", root), *swaps = NULL, *dev = NULL;
	struct stat st;

	put(root, "swapfile", "");
	assert_int_equal(stat(file, &st), 0);
	dev = text_printf("%u:%u", major(st.st_dev), minor(st.st_dev));
	make_disk(root, "sda", dev);
	swaps = text_printf("Filename Type Size Used Priority\n%s file 1 0 -2\n", file);
	put(root, "proc/swaps", swaps);
	expect_protection(root, "sda", "holds a swap file");
}

static void a_path_of_a_multipath_device_is_protected(void **state)
{
	const char *root = *state;

	make_disk(root, "sda", "8:0");
	make_disk(root, "sdb", "8:16");
	make_disk(root, "dm-1", "253:1");
	make_disk(root, "dm-2", "253:2");
	put(root, "devices/dm-1/dm/uuid", "mpath-3600\n");
	put(root, "devices/dm-2/dm/uuid", "LVM-abc\n");
	link_to(root, "devices/sda/holders/dm-1", "devices/dm-1");
	link_to(root, "devices/sdb/holders/dm-2", "devices/dm-2");
	expect_protection(root, "sda",
			  "is a path of a multipath device, which is to be named instead");
	expect_protection(root, "sdb", NULL);
}

static void memory_floppies_and_read_only_devices_are_refused(void **state)
{
	static const char *const names[] = { "zram0", "ram1", "fd0", "sr0", "sda" };
	const char *root = *state;

	for (size_t n = 0; n < ELEMENTSOF(names); n++) {
		_cleanup_(inventory_freep) Inventory *i = NULL;
		_cleanup_free_ char *dev = text_printf("1:%zu", n);
		Seen seen;

		make_disk(root, names[n], dev);
		put(root, "devices/sda/ro", "1\n");
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
	assert_string_equal(seen.device->id, "loop:/srv/a_b.img");
	assert_string_equal(seen.device->model, "loop");
	assert_int_equal(i->ops->process(i), 0);
	assert_int_equal(seen.added + seen.removed, 1);
	put(root, "devices/loop7/loop/backing_file", "/srv/c.img\n");
	assert_int_equal(i->ops->process(i), 0);
	assert_int_equal(seen.removed, 1);
	assert_string_equal(seen.device->id, "loop:/srv/c.img");
	drop(root, "devices/loop7/loop/backing_file");
	assert_int_equal(i->ops->process(i), 0);
	assert_int_equal(seen.removed, 2);
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
	Seen seen = { 0 };

	make_disk(root, "sda", "8:0");
	make_disk(root, "sdb", "8:16");
	put(root, "devices/sda/device/wwid", "naa.5\n");
	put(root, "devices/sdb/device/wwid", "naa.5\n");
	assert_int_equal(block_inventory_open(root, configs, ELEMENTSOF(configs), NULL, &i), 0);
	assert_int_equal(inventory_start(i, see, &seen), 0);
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

static void a_loop_device_comes_when_its_file_is_set_and_goes_when_cleared(void **state)
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
	assert_non_null(strstr(seen.device->id, file));
	assert_int_equal(ioctl(loop, LOOP_CLR_FD), 0);
	close(TAKE_FD(loop)); /* it is cleared when the last one closes it */
	assert_true(wait_for(i, &seen.removed, 1));
	seen_free(&seen);
}

#define ROOT_TEST(f) cmocka_unit_test_setup_teardown(f, make_root, remove_root)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROOT_TEST(a_disk_is_known_by_what_it_is_not_by_its_place),
		ROOT_TEST(attributes_are_read_and_written_below_the_disk),
		ROOT_TEST(counters_are_the_fields_of_stat),
		ROOT_TEST(what_the_system_lives_on_is_protected),
		ROOT_TEST(a_swap_file_protects_its_disk),
		ROOT_TEST(a_path_of_a_multipath_device_is_protected),
		ROOT_TEST(memory_floppies_and_read_only_devices_are_refused),
		ROOT_TEST(a_device_comes_and_goes_and_comes_back_as_another),
		ROOT_TEST(two_devices_of_one_identity_are_told_apart),
		ROOT_TEST(a_loop_device_comes_when_its_file_is_set_and_goes_when_cleared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
