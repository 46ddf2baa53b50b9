/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What lies on a disk, and which disks are protected for it. */

#include "test-hw-block.h"

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

static void expect_stack(const char *root, const char *disk, const char *stack)
{
	Seen seen;
	_cleanup_(inventory_freep) Inventory *i = open_one(root, disk, &seen);

	assert_int_equal(seen.added, 1);
	assert_string_equal(seen.device->stack, stack);
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

static void a_swap_file_on_btrfs_protects_its_disks(void **state)
{
	const char *root = *state;
	_cleanup_free_ char *swaps = NULL, *mounts = NULL;
	struct stat st;

	/* a file of a file system without a device stands for it */
	assert_int_equal(stat("/proc/self/mountinfo", &st), 0);
	assert_int_equal(major(st.st_dev), 0);
	make_disk(root, "sda", "8:0");
	make_disk(root, "sdb", "8:16");
	mounts = text_printf("21 1 0:20 / /proc rw - proc proc rw\n"
			     "22 1 0:40 / /proc/self rw - btrfs /dev/sdb rw\n");
	put(root, "proc/self/mountinfo", mounts);
	swaps = text_printf("Filename Type Size Used Priority\n%s file 1 0 -2\n",
			    "/proc/self/mountinfo");
	put(root, "proc/swaps", swaps);
	expect_protection(root, "sdb", "holds a swap file");
	expect_protection(root, "sda", NULL);
	expect_stack(root, "sdb", "/proc/self, a swap file");
}

/* Something is mounted over its folder, as ProtectHome= does, or it was made by another root. */
static void a_swap_file_out_of_sight_protects_its_disk(void **state)
{
	const char *root = *state;

	make_disk(root, "sda", "8:0");
	make_disk(root, "sdb", "8:16");
	put(root, "proc/self/mountinfo",
	    "22 1 8:0 / /no/where rw - ext4 /dev/sda rw\n"
	    "23 22 8:16 / /no/where/else rw - ext4 /dev/sdb rw\n");
	put(root, "proc/swaps",
	    "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
	    "/no/where/my\\040swap file 1 0 -2\n");
	expect_protection(root, "sda", "holds a swap file");
	expect_protection(root, "sdb", NULL);
	expect_stack(root, "sda", "/no/where, a swap file");
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

static void the_stack_is_told_from_the_disk_upwards(void **state)
{
	const char *root = *state;

	make_disk(root, "sda", "8:0");
	make_partition(root, "sda", "sda1", "8:1");
	make_partition(root, "sda", "sda2", "8:2");
	make_partition(root, "sda", "sda3", "8:3");
	make_partition(root, "sda", "sda10", "8:10");
	make_disk(root, "md0", "9:0");
	make_disk(root, "dm-0", "253:0");
	put(root, "devices/dm-0/dm/name", "vg-data\n");
	stack_on(root, "sda2", "sda/sda2", "md0");
	stack_on(root, "md0", "md0", "dm-0");
	put(root, "udev/sda10", "ID_FS_TYPE=xfs\n");
	put(root, "proc/self/mountinfo",
	    "24 22 8:1 / /boot rw - ext4 /dev/sda1 rw\n"
	    "25 22 253:0 / /srv/my\\040data rw - xfs /dev/mapper/vg-data rw\n"
	    "26 22 253:0 /sub /export rw - xfs /dev/mapper/vg-data rw\n");
	put(root, "proc/swaps", "Filename Type Size Used Priority\n");
	expect_stack(root, "sda",
		     "sda1: /boot; sda2: md0, vg-data, /srv/my data; sda10: unused xfs");
	expect_stack(root, "md0", "vg-data, /srv/my data");
	make_disk(root, "sdb", "8:16");
	expect_stack(root, "sdb", "");
}

static void of_many_mounts_some_are_named(void **state)
{
	const char *root = *state;

	make_disk(root, "sda", "8:0");
	put(root, "proc/self/mountinfo",
	    "1 1 8:0 / /a rw - xfs /dev/sda rw\n2 1 8:0 / /b rw - xfs /dev/sda rw\n"
	    "3 1 8:0 / /c rw - xfs /dev/sda rw\n4 1 8:0 / /d rw - xfs /dev/sda rw\n"
	    "5 1 8:0 / /e rw - xfs /dev/sda rw\n");
	expect_stack(root, "sda", "/a, /b, /c and 2 more");
}

/* The mount names one device of the file system; the others hold it as well. */
static void every_device_of_a_btrfs_root_is_protected(void **state)
{
	const char *root = *state;

	make_disk(root, "sda", "8:0");
	make_partition(root, "sda", "sda3", "8:3");
	make_disk(root, "sdb", "8:16");
	make_disk(root, "sdc", "8:32");
	link_to(root, "fs/btrfs/11-22/devices/sda3", "devices/sda/sda3");
	link_to(root, "fs/btrfs/11-22/devices/sdb", "devices/sdb");
	link_to(root, "fs/btrfs/33-44/devices/sdc", "devices/sdc");
	put(root, "proc/self/mountinfo",
	    "22 1 0:25 /@ / rw - btrfs /dev/sda3 rw\n"
	    "23 22 0:26 /@home /home rw - btrfs /dev/sda3 rw\n"
	    "24 22 0:27 / /data rw - btrfs /dev/sdc rw\n");
	expect_protection(root, "sda", "holds the root file system");
	expect_protection(root, "sdb", "holds the root file system");
	expect_protection(root, "sdc", NULL);
	expect_stack(root, "sdb", "/, /home");
	expect_stack(root, "sdc", "/data");
}

static void every_disk_of_a_zfs_root_pool_is_protected(void **state)
{
	const char *root = *state;

	make_disk(root, "sda", "8:0");
	make_partition(root, "sda", "sda1", "8:1");
	make_disk(root, "sdb", "8:16");
	make_partition(root, "sdb", "sdb1", "8:17");
	make_disk(root, "sdc", "8:32");
	put(root, "udev/sda1", "ID_FS_TYPE=zfs_member\nID_FS_LABEL=rpool\n");
	put(root, "udev/sdb1", "ID_FS_TYPE=zfs_member\nID_FS_LABEL=rpool\n");
	put(root, "udev/sdc", "ID_FS_TYPE=zfs_member\nID_FS_LABEL=tank\n");
	put(root, "proc/self/mountinfo", "22 1 0:25 / / rw - zfs rpool/ROOT/debian rw\n");
	expect_protection(root, "sda", "holds the root file system");
	expect_protection(root, "sdb", "holds the root file system");
	expect_protection(root, "sdc", NULL);
	expect_stack(root, "sdc", "ZFS pool tank");
}

/* The cache of a bcache device is no slave of it. */
static void both_sides_of_a_bcache_are_protected(void **state)
{
	const char *root = *state;

	make_disk(root, "sda", "8:0");
	make_disk(root, "sdb", "8:16");
	make_disk(root, "bcache0", "252:0");
	stack_on(root, "sda", "sda", "bcache0");
	put(root, "devices/sda/bcache/state", "dirty\n");
	put(root, "devices/sdb/bcache/written", "0\n");
	link_to(root, "fs/bcache/11-22/cache0", "devices/sdb/bcache");
	link_to(root, "fs/bcache/11-22/bdev0", "devices/sda/bcache");
	link_to(root, "devices/sda/bcache/dev", "devices/bcache0");
	link_to(root, "devices/sdb/bcache/set", "fs/bcache/11-22");
	link_to(root, "devices/bcache0/bcache/cache", "fs/bcache/11-22");
	put(root, "proc/self/mountinfo", "22 1 252:0 / /var rw - ext4 /dev/bcache0 rw\n");
	expect_protection(root, "sda", "holds the system's state and journal");
	expect_protection(root, "sdb", "holds the system's state and journal");
	expect_stack(root, "sda", "bcache0, /var");
	expect_stack(root, "sdb", "cache of bcache0");
}

/* md126 has a partition for /boot and one for a volume with the root. */
static void partitions_of_an_array_protect_its_disks(void **state)
{
	const char *root = *state;

	make_disk(root, "sda", "8:0");
	make_disk(root, "sdb", "8:16");
	make_disk(root, "md126", "9:126");
	stack_on(root, "sda", "sda", "md126");
	stack_on(root, "sdb", "sdb", "md126");
	make_partition(root, "md126", "md126p1", "259:1");
	make_partition(root, "md126", "md126p2", "259:2");
	make_disk(root, "dm-0", "253:0");
	put(root, "devices/dm-0/dm/name", "vg-root\n");
	stack_on(root, "md126p2", "md126/md126p2", "dm-0");
	put(root, "proc/self/mountinfo", "22 1 253:0 / / rw - ext4 /dev/mapper/vg-root rw\n");
	expect_protection(root, "sda", "holds the root file system");
	expect_stack(root, "sda", "md126, md126p1, md126p2, vg-root, /");
	put(root, "proc/self/mountinfo", "22 1 259:1 / /boot rw - ext4 /dev/md126p1 rw\n");
	expect_protection(root, "sda", "holds the boot files");
	expect_protection(root, "sdb", "holds the boot files");
	expect_stack(root, "sdb", "md126, md126p1, /boot, md126p2, vg-root");
	expect_stack(root, "md126", "md126p1: /boot; md126p2: vg-root");
}

/* One was detached from the set, and its number is free. */
static void a_cache_tells_all_that_it_caches(void **state)
{
	const char *root = *state;

	make_disk(root, "sda", "8:0");
	make_disk(root, "sdb", "8:16");
	make_disk(root, "bcache1", "252:16");
	put(root, "devices/sda/bcache/state", "dirty\n");
	put(root, "devices/sdb/bcache/written", "0\n");
	link_to(root, "fs/bcache/11-22/cache0", "devices/sdb/bcache");
	link_to(root, "fs/bcache/11-22/bdev1", "devices/sda/bcache");
	link_to(root, "devices/sda/bcache/dev", "devices/bcache1");
	link_to(root, "devices/sdb/bcache/set", "fs/bcache/11-22");
	expect_stack(root, "sdb", "cache of bcache1");
}

static void storpowers_own_journal_is_protected_wherever_it_is_mounted(void **state)
{
	const char *root = *state;

	make_disk(root, "sda", "8:0");
	put(root, "proc/self/mountinfo", "22 1 8:0 / /var/lib/storpower rw - ext4 /dev/sda rw\n");
	expect_protection(root, "sda", "holds storpower's own journal");
}

/* What is bound may lie deeper than PATH_MAX, as escapes are counted in four characters. */
static void a_mount_of_a_folder_deep_down_protects_its_disk(void **state)
{
	_cleanup_free_ char *table = NULL;
	const char *root = *state;
	char deep[5000] = "";

	for (size_t i = 0; i + 4 < sizeof(deep); i += 4)
		memcpy(deep + i, i % 40 ? "\\040" : "/abc", 4);
	table = text_printf("22 1 8:0 %s /var rw - ext4 /dev/sda rw\n", deep);
	make_disk(root, "sda", "8:0");
	put(root, "proc/self/mountinfo", table);
	expect_protection(root, "sda", "holds the system's state and journal");
}

static void a_disk_that_becomes_vital_is_told_and_one_that_no_longer_is(void **state)
{
	_cleanup_(inventory_freep) Inventory *i = NULL;
	const char *root = *state;
	Seen seen;

	make_disk(root, "sda", "8:0");
	i = open_one(root, "sda", &seen);
	assert_null(seen.device->protected_why);
	put(root, "proc/self/mountinfo", "22 1 8:0 / /srv rw - ext4 /dev/sda rw\n");
	assert_int_equal(i->ops->process(i), 0);
	assert_int_equal(seen.changed, 0);
	assert_string_equal(seen.device->stack, "/srv");
	put(root, "proc/self/mountinfo", "22 1 8:0 / /var rw - ext4 /dev/sda rw\n");
	assert_int_equal(i->ops->process(i), 0);
	assert_int_equal(seen.changed, 1);
	assert_string_equal(seen.device->protected_why, "holds the system's state and journal");
	assert_int_equal(i->ops->process(i), 0);
	assert_int_equal(seen.changed, 1);
	put(root, "proc/self/mountinfo", "");
	assert_int_equal(i->ops->process(i), 0);
	assert_int_equal(seen.changed, 2);
	assert_null(seen.device->protected_why);
	assert_string_equal(seen.device->stack, "");
	assert_int_equal(seen.added + seen.removed, 1);
	seen_free(&seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROOT_TEST(what_the_system_lives_on_is_protected),
		ROOT_TEST(a_swap_file_protects_its_disk),
		ROOT_TEST(a_swap_file_on_btrfs_protects_its_disks),
		ROOT_TEST(a_swap_file_out_of_sight_protects_its_disk),
		ROOT_TEST(a_path_of_a_multipath_device_is_protected),
		ROOT_TEST(the_stack_is_told_from_the_disk_upwards),
		ROOT_TEST(of_many_mounts_some_are_named),
		ROOT_TEST(every_device_of_a_btrfs_root_is_protected),
		ROOT_TEST(every_disk_of_a_zfs_root_pool_is_protected),
		ROOT_TEST(both_sides_of_a_bcache_are_protected),
		ROOT_TEST(partitions_of_an_array_protect_its_disks),
		ROOT_TEST(a_cache_tells_all_that_it_caches),
		ROOT_TEST(storpowers_own_journal_is_protected_wherever_it_is_mounted),
		ROOT_TEST(a_mount_of_a_folder_deep_down_protects_its_disk),
		ROOT_TEST(a_disk_that_becomes_vital_is_told_and_one_that_no_longer_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
