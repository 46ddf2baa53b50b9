/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which disks sleep and wake together, what keeps them up, and which are others' caches. */

#include "test-hw-block.h"

#include "stack/pool.h"

static void expect_pool(const char *root, const char *disk, const char *name)
{
	_cleanup_(topology_freep) Topology *t = NULL;
	_cleanup_free_ char *found = NULL;

	assert_int_equal(topology_read(root, &t), 0);
	found = pool_name(t, disk);
	assert_non_null(found);
	assert_string_equal(found, name);
}

/* sda to sdN-1, which turn */
static void make_disks(const char *root, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		char name[] = { 's', 'd', (char)('a' + i), '\0' };
		_cleanup_free_ char *dev = text_printf("8:%u", 16 * i);

		make_scsi(root, name, dev);
		put_of(root, name, "queue/rotational", "1\n");
	}
}

static void make_array(const char *root, const char *name, const char *dev)
{
	make_disk(root, name, dev);
	put_of(root, name, "md/level", "raid5\n");
	put_of(root, name, "md/sync_action", "idle\n");
	put_of(root, name, "md/degraded", "0\n");
	put_of(root, name, "md/reshape_position", "none\n");
}

static void make_mapped(const char *root, const char *name, const char *dev, const char *dm_name,
			const char *uuid)
{
	make_disk(root, name, dev);
	put_of(root, name, "dm/name", dm_name);
	put_of(root, name, "dm/uuid", uuid);
}

#define VG_A "LVM-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define VG_B "LVM-bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define LV   "llllllllllllllllllllllllllllllll"

static void members_of_an_array_are_one_pool_and_others_none(void **state)
{
	const char *root = *state;

	make_disks(root, 4);
	make_partition(root, "sdb", "sdb2", "8:18");
	make_array(root, "md0", "9:0");
	stack_on(root, "sda", "sda", "md0");
	stack_on(root, "sdb2", "sdb/sdb2", "md0");
	stack_on(root, "sdc", "sdc", "md0");
	expect_pool(root, "sda", "md0");
	expect_pool(root, "sdb", "md0");
	expect_pool(root, "sdc", "md0");
	expect_pool(root, "sdd", "");
	expect_pool(root, "sdz", "");
}

static void an_array_of_one_disk_and_a_flash_drive_joins_nobody(void **state)
{
	const char *root = *state;

	make_disks(root, 1);
	make_disk(root, "nvme0n1", "259:0");
	put_of(root, "nvme0n1", "queue/rotational", "0\n");
	make_array(root, "md0", "9:0");
	stack_on(root, "sda", "sda", "md0");
	stack_on(root, "nvme0n1", "nvme0n1", "md0");
	expect_pool(root, "sda", "");
	expect_pool(root, "nvme0n1", "");
}

static void flash_and_disks_of_an_array_are_a_pool_each(void **state)
{
	const char *root = *state;

	make_disks(root, 2);
	make_array(root, "md0", "9:0");
	for (unsigned i = 0; i < 2; i++) {
		_cleanup_free_ char *name = text_printf("nvme%un1", i);
		_cleanup_free_ char *dev = text_printf("259:%u", i);

		make_disk(root, name, dev);
		put_of(root, name, "queue/rotational", "0\n");
		stack_on(root, name, name, "md0");
	}
	stack_on(root, "sda", "sda", "md0");
	expect_pool(root, "nvme0n1", "md0");
	expect_pool(root, "nvme1n1", "md0");
	expect_pool(root, "sda", ""); /* alone among flash */
	expect_pool(root, "sdb", "");
}

static void a_volume_group_has_its_name_without_the_doubled_hyphens(void **state)
{
	const char *root = *state;

	make_disks(root, 4);
	make_mapped(root, "dm-0", "253:0", "my--vg-home--data\n", VG_A LV "\n");
	make_mapped(root, "dm-1", "253:1", "my--vg-root\n", VG_A LV "-real\n");
	make_mapped(root, "dm-2", "253:2", "other-root\n", VG_B LV "\n");
	stack_on(root, "sda", "sda", "dm-0");
	stack_on(root, "sdb", "sdb", "dm-1");
	stack_on(root, "sdc", "sdc", "dm-2");
	stack_on(root, "sdd", "sdd", "dm-2");
	expect_pool(root, "sda", "my-vg");
	expect_pool(root, "sdb", "my-vg");
	expect_pool(root, "sdc", "other");
	expect_pool(root, "sdd", "other");
}

static void a_mapped_device_over_several_disks_joins_them(void **state)
{
	const char *root = *state;

	make_disks(root, 3);
	make_mapped(root, "dm-0", "253:0", "striped\n", "\n");
	make_mapped(root, "dm-1", "253:1", "alone\n", "CRYPT-LUKS2-x\n");
	stack_on(root, "sda", "sda", "dm-0");
	stack_on(root, "sdb", "sdb", "dm-0");
	stack_on(root, "sdc", "sdc", "dm-1");
	expect_pool(root, "sda", "striped");
	expect_pool(root, "sdb", "striped");
	expect_pool(root, "sdc", "");
}

static void a_group_on_an_array_has_one_name_for_all_its_disks(void **state)
{
	const char *root = *state;

	make_disks(root, 3);
	make_array(root, "md0", "9:0");
	make_mapped(root, "dm-0", "253:0", "vg-lv\n", VG_A LV "\n");
	stack_on(root, "sda", "sda", "md0");
	stack_on(root, "sdb", "sdb", "md0");
	stack_on(root, "md0", "md0", "dm-0");
	expect_pool(root, "sda", "md0");
	expect_pool(root, "sdb", "md0");
	/* the group grows by a disk of its own: now it is the larger one */
	make_mapped(root, "dm-1", "253:1", "vg-more\n", VG_A LV "\n");
	stack_on(root, "sdc", "sdc", "dm-1");
	expect_pool(root, "sda", "vg");
	expect_pool(root, "sdc", "vg");
}

static void a_group_on_a_partition_of_an_array_has_its_disks(void **state)
{
	const char *root = *state;

	make_disks(root, 3);
	make_array(root, "md0", "9:0");
	make_partition(root, "md0", "md0p1", "259:1");
	make_mapped(root, "dm-0", "253:0", "vg-lv\n", VG_A LV "\n");
	stack_on(root, "sda", "sda", "md0");
	stack_on(root, "sdb", "sdb", "md0");
	stack_on(root, "md0p1", "md0/md0p1", "dm-0");
	stack_on(root, "sdc", "sdc", "dm-0");
	expect_pool(root, "sda", "vg");
	expect_pool(root, "sdb", "vg");
	expect_pool(root, "sdc", "vg");
}

/* md0 is sda and sdb, md1 is sdb and sdc, md2 is sdc, sdd and sde: by their partitions. */
static void pools_that_share_a_disk_are_one(void **state)
{
	const char *root = *state;

	make_disks(root, 6);
	make_partition(root, "sdb", "sdb1", "8:17");
	make_partition(root, "sdb", "sdb2", "8:18");
	make_partition(root, "sdc", "sdc1", "8:33");
	make_partition(root, "sdc", "sdc2", "8:34");
	make_array(root, "md0", "9:0");
	make_array(root, "md1", "9:1");
	make_array(root, "md2", "9:2");
	stack_on(root, "sda", "sda", "md0");
	stack_on(root, "sdb1", "sdb/sdb1", "md0");
	stack_on(root, "sdb2", "sdb/sdb2", "md1");
	stack_on(root, "sdc1", "sdc/sdc1", "md1");
	stack_on(root, "sdc2", "sdc/sdc2", "md2");
	stack_on(root, "sdd", "sdd", "md2");
	stack_on(root, "sde", "sde", "md2");
	for (int c = 'a'; c <= 'e'; c++)
		expect_pool(root, (char[]){ 's', 'd', (char)c, '\0' }, "md2");
	expect_pool(root, "sdf", "");
}

static void a_btrfs_is_a_pool_mounted_or_not(void **state)
{
	const char *root = *state;

	make_disks(root, 5);
	make_partition(root, "sda", "sda3", "8:3");
	link_to(root, "fs/btrfs/11-22/devices/sda3", "devices/sda/sda3");
	link_to(root, "fs/btrfs/11-22/devices/sdb", "devices/sdb");
	put(root, "fs/btrfs/features/raid56", "1\n");
	put(root, "udev/sdc", "ID_FS_TYPE=btrfs\nID_FS_UUID=33-44\n");
	put(root, "udev/sdd", "ID_FS_TYPE=btrfs\nID_FS_UUID=33-44\n");
	put(root, "udev/sde", "ID_FS_TYPE=btrfs\nID_FS_UUID=55-66\n");
	expect_pool(root, "sda", "btrfs 11-22");
	expect_pool(root, "sdb", "btrfs 11-22");
	expect_pool(root, "sdc", "btrfs 33-44");
	expect_pool(root, "sdd", "btrfs 33-44");
	expect_pool(root, "sde", "");
}

static void a_zfs_pool_is_known_by_its_labels(void **state)
{
	const char *root = *state;

	make_disks(root, 4);
	make_partition(root, "sda", "sda1", "8:1");
	make_mapped(root, "dm-0", "253:0", "secret\n", "CRYPT-LUKS2-x\n");
	stack_on(root, "sdc", "sdc", "dm-0");
	put(root, "udev/sda1", "ID_FS_TYPE=zfs_member\nID_FS_LABEL=tank\n");
	put(root, "udev/sdb", "ID_FS_TYPE=zfs_member\nID_FS_LABEL=tank\n");
	put(root, "udev/dm-0", "ID_FS_TYPE=zfs_member\nID_FS_LABEL=tank\n");
	put(root, "udev/sdd", "ID_FS_TYPE=zfs_member\n");
	expect_pool(root, "sda", "zpool tank");
	expect_pool(root, "sdb", "zpool tank");
	expect_pool(root, "sdc", "zpool tank");
	expect_pool(root, "sdd", "");
}

/* Some kernels have the cache among the slaves, others do not. */
static void the_cache_of_a_member_is_no_member(void **state)
{
	const char *root = *state;

	make_disks(root, 3);
	link_bcache(root, "sda", "sdc");
	stack_on(root, "sdc", "sdc", "bcache0");
	make_array(root, "md0", "9:0");
	stack_on(root, "bcache0", "bcache0", "md0");
	stack_on(root, "sdb", "sdb", "md0");
	expect_pool(root, "sda", "md0");
	expect_pool(root, "sdb", "md0");
	expect_pool(root, "sdc", "");
}

static void a_circle_of_layers_ends(void **state)
{
	const char *root = *state;
	_cleanup_free_ char *why = NULL;

	make_disks(root, 1);
	make_array(root, "md0", "9:0");
	make_array(root, "md1", "9:1");
	stack_on(root, "md0", "md0", "md1");
	stack_on(root, "md1", "md1", "md0");
	stack_on(root, "sda", "sda", "md0");
	expect_pool(root, "sda", "");
	assert_int_equal(pool_busy(root, "sda", &why), 0);
	assert_null(why);
}

static void expect_redirect(const char *root, const char *disk, const char *wanted)
{
	_cleanup_(topology_freep) Topology *t = NULL;
	_cleanup_free_ char *why = NULL;

	assert_int_equal(topology_read(root, &t), 0);
	assert_int_equal(pool_redirect_target(t, disk, &why), 0);
	if (wanted)
		assert_string_equal(why, wanted);
	else
		assert_null(why);
}

static void the_cache_of_a_bcache_is_a_redirect_target(void **state)
{
	const char *root = *state;

	make_disks(root, 4);
	link_bcache(root, "sda", "sdb");
	expect_redirect(root, "sdb", "it is the cache of bcache0");
	expect_redirect(root, "sda", NULL);
	expect_redirect(root, "sdc", NULL);
	/* a second disk on the same set */
	make_disk(root, "bcache1", "252:16");
	stack_on(root, "sdc", "sdc", "bcache1");
	put_of(root, "sdc", "bcache/state", "clean\n");
	link_to(root, "fs/bcache/11-22/bdev1", "devices/sdc/bcache");
	link_to(root, "devices/sdc/bcache/dev", "devices/bcache1");
	{
		_cleanup_(topology_freep) Topology *t = NULL;
		_cleanup_free_ char *why = NULL;

		assert_int_equal(topology_read(root, &t), 0);
		assert_int_equal(pool_redirect_target(t, "sdb", &why), 0);
		assert_non_null(strstr(why, "it is the cache of bcache"));
		assert_non_null(strstr(why, "bcache0"));
		assert_non_null(strstr(why, "bcache1"));
	}
}

static void a_cache_on_an_array_makes_its_members_redirect_targets(void **state)
{
	const char *root = *state;

	make_disks(root, 3);
	make_array(root, "md0", "9:0");
	stack_on(root, "sdb", "sdb", "md0");
	stack_on(root, "sdc", "sdc", "md0");
	link_bcache(root, "sda", "md0");
	expect_redirect(root, "sdb", "it is the cache of bcache0");
	expect_redirect(root, "sdc", "it is the cache of bcache0");
}

static void expect_busy(const char *root, const char *disk, const char *wanted)
{
	_cleanup_free_ char *why = NULL;

	assert_int_equal(pool_busy(root, disk, &why), 0);
	if (wanted)
		assert_string_equal(why, wanted);
	else
		assert_null(why);
}

static void an_array_at_work_or_degraded_stays_up(void **state)
{
	static const char *const actions[][2] = {
		{ "resync\n", "md0 is being resynced (resync)" },
		{ "recover\n", "md0 is being resynced (recover)" },
		{ "check\n", "md0 is being checked (check)" },
		{ "repair\n", "md0 is being repaired (repair)" },
		{ "reshape\n", "md0 is being reshaped (reshape)" },
		{ "frozen\n", "md0 has its sync action at frozen" },
	};
	const char *root = *state;

	make_disks(root, 2);
	make_partition(root, "sdb", "sdb1", "8:17");
	make_array(root, "md0", "9:0");
	stack_on(root, "sda", "sda", "md0");
	stack_on(root, "sdb1", "sdb/sdb1", "md0");
	expect_busy(root, "sda", NULL);
	for (size_t i = 0; i < ELEMENTSOF(actions); i++) {
		put_of(root, "md0", "md/sync_action", actions[i][0]);
		expect_busy(root, "sda", actions[i][1]);
		expect_busy(root, "sdb", actions[i][1]);
	}
	put_of(root, "md0", "md/sync_action", "idle\n");
	put_of(root, "md0", "md/degraded", "1\n");
	expect_busy(root, "sdb", "md0 is degraded");
	put_of(root, "md0", "md/degraded", "0\n");
	put_of(root, "md0", "md/reshape_position", "4096\n");
	expect_busy(root, "sda", "md0 is half reshaped");
}

static void an_array_without_redundancy_keeps_nobody_up(void **state)
{
	const char *root = *state;

	make_disks(root, 1);
	make_disk(root, "md0", "9:0");
	put_of(root, "md0", "md/level", "raid0\n");
	stack_on(root, "sda", "sda", "md0");
	expect_busy(root, "sda", NULL);
}

static void what_lies_two_layers_up_keeps_a_disk_up(void **state)
{
	const char *root = *state;

	make_disks(root, 1);
	make_mapped(root, "dm-0", "253:0", "vg-leg\n", VG_A LV "\n");
	make_array(root, "md7", "9:7");
	stack_on(root, "sda", "sda", "dm-0");
	stack_on(root, "dm-0", "dm-0", "md7");
	put_of(root, "md7", "md/sync_action", "check\n");
	expect_busy(root, "sda", "md7 is being checked (check)");
}

static void what_lies_on_a_partition_of_an_array_keeps_its_disks_up(void **state)
{
	const char *root = *state;

	make_disks(root, 1);
	make_array(root, "md0", "9:0");
	make_partition(root, "md0", "md0p1", "259:1");
	stack_on(root, "sda", "sda", "md0");
	link_to(root, "fs/btrfs/11-22/devices/md0p1", "devices/md0/md0p1");
	put(root, "fs/btrfs/11-22/exclusive_operation", "balance\n");
	expect_busy(root, "sda", "btrfs 11-22 is being balanced");
}

static void a_volume_that_is_being_moved_keeps_a_disk_up(void **state)
{
	const char *root = *state;

	make_disks(root, 1);
	make_mapped(root, "dm-0", "253:0", "vg-pvmove0\n", VG_A LV "\n");
	stack_on(root, "sda", "sda", "dm-0");
	expect_busy(root, "sda", "vg-pvmove0 moves a volume");
}

static void a_btrfs_at_work_or_without_a_device_stays_up(void **state)
{
	const char *root = *state;

	make_disks(root, 2);
	link_to(root, "fs/btrfs/11-22/devices/sda", "devices/sda");
	put(root, "fs/btrfs/11-22/exclusive_operation", "none\n");
	put(root, "fs/btrfs/11-22/devinfo/1/missing", "0\n");
	put(root, "fs/btrfs/11-22/devinfo/2/missing", "0\n");
	put(root, "proc/self/mountinfo", "25 1 0:26 / /srv rw - btrfs /dev/sda rw\n");
	expect_busy(root, "sda", NULL);
	put(root, "fs/btrfs/11-22/exclusive_operation", "balance\n");
	expect_busy(root, "sda", "btrfs on /srv is being balanced");
	expect_busy(root, "sdb", NULL);
	put(root, "fs/btrfs/11-22/exclusive_operation", "device replace\n");
	expect_busy(root, "sda", "btrfs on /srv is busy (device replace)");
	put(root, "fs/btrfs/11-22/exclusive_operation", "none\n");
	put(root, "fs/btrfs/11-22/devinfo/2/missing", "1\n");
	expect_busy(root, "sda", "btrfs on /srv misses a device");
	/* mounted in a place that is not seen from here */
	put(root, "proc/self/mountinfo", "");
	expect_busy(root, "sda", "btrfs 11-22 misses a device");
}

/* A zpool(8) that says what a test has it say. */
static void zpool_says(const char *root, const char *script)
{
	_cleanup_free_ char *text = text_printf("#!/bin/sh\n%s\n", script);
	_cleanup_free_ char *path = text_printf("%s/sbin/zpool", root);

	put(root, "sbin/zpool", text);
	assert_int_equal(chmod(path, 0755), 0);
}

#define POOL(name, state, scan)                                                                    \
	"  pool: " name "\n state: " state "\n  scan: " scan                                       \
	"\n\t100M scanned at 10M/s\nconfig:\n\n\tNAME  STATE READ WRITE CKSUM\n\t" name            \
	"  ONLINE 0 0 0\n\t  /dev/sda1  ONLINE 0 0 0\n\nerrors: No known data errors\n\n"
#define HERE(text) "cat <<'END'\n" text "END\n"

static void zpool_keeps_up_what_is_scrubbed_resilvered_or_unwell(void **state)
{
	static const char *const cases[][2] = {
		{ HERE(POOL("tank", "ONLINE", "none requested")), NULL },
		{ HERE(POOL("tank", "ONLINE", "scrub repaired 0B in 00:00:01 with 0 errors")),
		  NULL },
		{ HERE(POOL("tank", "ONLINE", "scrub in progress since Sun Jul 25 16:07:49 2021")),
		  "zpool tank is being scrubbed" },
		{ HERE(POOL("tank", "ONLINE", "scrub paused since Sun Jul 25 16:07:49 2021")),
		  "zpool tank is being scrubbed (paused)" },
		{ HERE(POOL("tank", "ONLINE", "resilver in progress since Sun Jul 25")),
		  "zpool tank is being resilvered" },
		{ HERE(POOL("tank", "DEGRADED", "none requested")), "zpool tank is DEGRADED" },
		{ HERE(POOL("tank", "SUSPENDED", "none requested")), "zpool tank is SUSPENDED" },
		/* another pool's troubles are its own */
		{ HERE(POOL("other", "FAULTED", "scrub in progress since")
			       POOL("tank", "ONLINE", "none requested")),
		  NULL },
		{ "echo no pools available", NULL },
		{ HERE("  pool: tank\n state: ONLINE\nremove: Evacuation of mirror-1 in progress "
		       "since\n"),
		  "zpool tank is losing a device" },
		{ HERE("  pool: tank\n state: ONLINE\nexpand: expansion of raidz2-0 in progress "
		       "since\n"),
		  "zpool tank is being expanded" },
	};
	const char *root = *state;

	make_disks(root, 2);
	make_partition(root, "sda", "sda1", "8:1");
	put(root, "udev/sda1", "ID_FS_TYPE=zfs_member\nID_FS_LABEL=tank\n");
	expect_busy(root, "sda", NULL); /* there is no zpool(8) */
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		zpool_says(root, cases[i][0]);
		expect_busy(root, "sda", cases[i][1]);
	}
	expect_busy(root, "sdb", NULL);
}

static void zpool_is_asked_in_english_for_full_paths(void **state)
{
	const char *root = *state;

	make_disks(root, 1);
	put(root, "udev/sda", "ID_FS_TYPE=zfs_member\nID_FS_LABEL=tank\n");
	zpool_says(root, "[ \"$LC_ALL $*\" = 'C status -P' ] || exit 1\n" HERE(
				 POOL("tank", "DEGRADED", "none requested")));
	expect_busy(root, "sda", "zpool tank is DEGRADED");
}

static void a_zpool_that_does_not_answer_keeps_the_pool_up(void **state)
{
	const char *root = *state;

	make_disks(root, 1);
	put(root, "udev/sda", "ID_FS_TYPE=zfs_member\nID_FS_LABEL=tank\n");
	zpool_says(root, "exit 3");
	expect_busy(root, "sda", "zpool status does not say how zpool tank is: Input/output error");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROOT_TEST(members_of_an_array_are_one_pool_and_others_none),
		ROOT_TEST(an_array_of_one_disk_and_a_flash_drive_joins_nobody),
		ROOT_TEST(flash_and_disks_of_an_array_are_a_pool_each),
		ROOT_TEST(a_volume_group_has_its_name_without_the_doubled_hyphens),
		ROOT_TEST(a_mapped_device_over_several_disks_joins_them),
		ROOT_TEST(a_group_on_an_array_has_one_name_for_all_its_disks),
		ROOT_TEST(a_group_on_a_partition_of_an_array_has_its_disks),
		ROOT_TEST(pools_that_share_a_disk_are_one),
		ROOT_TEST(a_btrfs_is_a_pool_mounted_or_not),
		ROOT_TEST(a_zfs_pool_is_known_by_its_labels),
		ROOT_TEST(the_cache_of_a_member_is_no_member),
		ROOT_TEST(a_circle_of_layers_ends),
		ROOT_TEST(the_cache_of_a_bcache_is_a_redirect_target),
		ROOT_TEST(a_cache_on_an_array_makes_its_members_redirect_targets),
		ROOT_TEST(an_array_at_work_or_degraded_stays_up),
		ROOT_TEST(an_array_without_redundancy_keeps_nobody_up),
		ROOT_TEST(what_lies_two_layers_up_keeps_a_disk_up),
		ROOT_TEST(what_lies_on_a_partition_of_an_array_keeps_its_disks_up),
		ROOT_TEST(a_volume_that_is_being_moved_keeps_a_disk_up),
		ROOT_TEST(a_btrfs_at_work_or_without_a_device_stays_up),
		ROOT_TEST(zpool_keeps_up_what_is_scrubbed_resilvered_or_unwell),
		ROOT_TEST(zpool_is_asked_in_english_for_full_paths),
		ROOT_TEST(a_zpool_that_does_not_answer_keeps_the_pool_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
