/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which components above a disk are its own to steer, and bcache's attributes, in a fake /sys. */

#include "base/sysfs.h"
#include "stack/upper-internal.h"
#include "test-hw-block.h"

static char *join(char **words)
{
	char *all = strdup("");

	for (char **w = words; *w; w++) {
		char *longer = text_printf("%s%s%s", all, *all ? " " : "", *w);

		free(all);
		all = longer;
	}
	return all;
}

static void expect_nodes(const char *root, const char *disk, const char *names)
{
	UpperDisk on = { .sysfs_root = root, .disk = disk };
	_cleanup_(strv_freep) char **nodes = upper_nodes(&on);
	_cleanup_free_ char *all = NULL;

	assert_non_null(nodes);
	all = join(nodes);
	assert_string_equal(all, names);
}

/* `upper` lies on `lower`, both devices. */
static void stack(const char *root, const char *upper, const char *lower)
{
	_cleanup_free_ char *holder = text_printf("devices/%s/holders/%s", lower, base_name(upper));
	_cleanup_free_ char *slave = text_printf("devices/%s/slaves/%s", upper, base_name(lower));
	_cleanup_free_ char *up = text_printf("devices/%s", upper);
	_cleanup_free_ char *down = text_printf("devices/%s", lower);

	link_to(root, holder, up);
	link_to(root, slave, down);
}

static void a_disk_alone_is_its_only_node(void **state)
{
	make_disk(*state, "sda", "8:0");
	expect_nodes(*state, "sda", "sda");
	expect_nodes(*state, "sdz", "sdz");
}

static void volumes_that_lie_on_one_disk_are_among_its_nodes(void **state)
{
	const char *root = *state;

	make_disk(root, "sda", "8:0");
	make_partition(root, "sda", "sda1", "8:1");
	make_disk(root, "dm-0", "253:0");
	make_disk(root, "dm-1", "253:1");
	stack(root, "dm-0", "sda/sda1");
	stack(root, "dm-1", "dm-0");
	expect_nodes(root, "sda", "sda sda1 dm-0 dm-1");
}

static void a_volume_over_two_disks_is_no_node_of_either(void **state)
{
	const char *root = *state;

	make_disk(root, "sda", "8:0");
	make_disk(root, "sdb", "8:16");
	make_disk(root, "dm-0", "253:0");
	stack(root, "dm-0", "sda");
	stack(root, "dm-0", "sdb");
	expect_nodes(root, "sda", "sda");
	expect_nodes(root, "sdb", "sdb");
}

static void a_volume_over_two_partitions_of_one_disk_is_a_node(void **state)
{
	const char *root = *state;

	make_disk(root, "sda", "8:0");
	make_partition(root, "sda", "sda1", "8:1");
	make_partition(root, "sda", "sda2", "8:2");
	make_disk(root, "dm-0", "253:0");
	stack(root, "dm-0", "sda/sda1");
	stack(root, "dm-0", "sda/sda2");
	UpperDisk on = { .sysfs_root = root, .disk = "sda" };
	_cleanup_(strv_freep) char **nodes = upper_nodes(&on);

	assert_non_null(nodes);
	assert_string_equal(nodes[3], "dm-0");
	assert_null(nodes[4]);
}

/* A backing device with its set, which serves n disks. */
static void make_bcache(const char *root, const char *device, unsigned n)
{
	_cleanup_free_ char *mode = text_printf("devices/%s/bcache/cache_mode", device);
	_cleanup_free_ char *link = text_printf("devices/%s/bcache/cache", device);

	put(root, mode, "writethrough [writeback] writearound none\n");
	link_to(root, link, "fs/bcache/set");
	put(root, "fs/bcache/set/congested_read_threshold_us", "2000\n");
	put(root, "fs/bcache/set/cache0/nbuckets", "4096\n");
	for (unsigned i = 0; i < n; i++) {
		_cleanup_free_ char *bdev = text_printf("fs/bcache/set/bdev%u/state", i);

		put(root, bdev, "clean\n");
	}
}

static Upper *upper_of(const char *root, const char *disk)
{
	Upper *u;

	assert_int_equal(upper_open(root, disk, &u), 0);
	return u;
}

static void expect(Upper *u, const char *what, const char *text)
{
	char buf[128];

	assert_int_equal(upper_read(u, "bcache", what, buf, sizeof(buf)), 0);
	assert_string_equal(buf, text);
}

static void bcache_is_found_on_the_disk_with_its_set_and_cache(void **state)
{
	const char *root = *state;
	_cleanup_(upper_closep) Upper *u = NULL;

	make_disk(root, "sda", "8:0");
	make_bcache(root, "sda", 3);
	u = upper_of(root, "sda");
	expect(u, "cache_mode", "writethrough [writeback] writearound none");
	expect(u, "set/congested_read_threshold_us", "2000");
	expect(u, "cache/nbuckets", "4096");
	expect(u, "backing_devices", "3");
}

static void bcache_is_found_on_a_partition_and_written(void **state)
{
	const char *root = *state;
	_cleanup_(upper_closep) Upper *u = NULL;
	char buf[64];

	make_disk(root, "sda", "8:0");
	make_partition(root, "sda", "sda2", "8:2");
	make_bcache(root, "sda/sda2", 1);
	u = upper_of(root, "sda");
	assert_int_equal(upper_write(u, "bcache", "set/congested_read_threshold_us", "3000"), 0);
	expect(u, "set/congested_read_threshold_us", "3000");
	assert_int_equal(upper_read(u, "bcache", "no_such", buf, sizeof(buf)), -ENOENT);
	assert_int_equal(upper_write(u, "bcache", "no_such", "1"), -ENOENT);
}

/* Assembled after the disk was found, and taken apart again. */
static void what_comes_and_goes_is_seen_at_once(void **state)
{
	const char *root = *state;
	_cleanup_(upper_closep) Upper *u = NULL;
	char buf[64];

	make_disk(root, "sda", "8:0");
	u = upper_of(root, "sda");
	assert_int_equal(upper_read(u, "bcache", "cache_mode", buf, sizeof(buf)), -ENOENT);
	make_bcache(root, "sda", 1);
	expect(u, "backing_devices", "1");
	drop(root, "devices/sda/bcache/cache");
	assert_int_equal(upper_read(u, "bcache", "set/bucket_size", buf, sizeof(buf)), -ENOENT);
	expect(u, "cache_mode", "writethrough [writeback] writearound none");
	drop(root, "devices/sda/bcache/cache_mode");
	assert_int_equal(upper_read(u, "bcache", "cache_mode", buf, sizeof(buf)), -ENOENT);
}

static void a_cache_device_is_not_taken_for_a_backing_device(void **state)
{
	const char *root = *state;
	_cleanup_(upper_closep) Upper *u = NULL;
	char buf[64];

	make_disk(root, "nvme0n1", "259:0");
	put(root, "devices/nvme0n1/bcache/nbuckets", "4096\n");
	link_to(root, "devices/nvme0n1/bcache/set", "fs/bcache/set");
	u = upper_of(root, "nvme0n1");
	assert_int_equal(upper_read(u, "bcache", "nbuckets", buf, sizeof(buf)), -ENOENT);
}

static void two_of_a_kind_on_one_disk_are_said(void **state)
{
	const char *root = *state;
	_cleanup_(upper_closep) Upper *u = NULL;
	char buf[64];

	make_disk(root, "sda", "8:0");
	make_partition(root, "sda", "sda1", "8:1");
	make_partition(root, "sda", "sda2", "8:2");
	make_bcache(root, "sda/sda1", 0);
	put(root, "devices/sda/sda2/bcache/cache_mode", "[writeback]\n");
	link_to(root, "devices/sda/sda2/bcache/cache", "fs/bcache/set");
	u = upper_of(root, "sda");
	assert_int_equal(upper_read(u, "bcache", "cache_mode", buf, sizeof(buf)), -EMLINK);
}

static void an_unknown_component_is_not_found(void **state)
{
	_cleanup_(upper_closep) Upper *u = upper_of(*state, "sda");
	char buf[64];

	assert_int_equal(upper_read(u, "cachefs", "x", buf, sizeof(buf)), -ENOENT);
	assert_int_equal(upper_write(u, "cachefs", "x", "1"), -ENOENT);
}

/* Nothing of this machine is asked about a made-up disk. */
static void below_a_fake_tree_the_device_mapper_is_not_asked(void **state)
{
	const char *root = *state;
	_cleanup_(upper_closep) Upper *u = NULL;
	char buf[64];

	make_disk(root, "sda", "8:0");
	make_disk(root, "dm-0", "253:0");
	stack(root, "dm-0", "sda");
	u = upper_of(root, "sda");
	assert_int_equal(upper_read(u, "writecache", "table", buf, sizeof(buf)), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROOT_TEST(a_disk_alone_is_its_only_node),
		ROOT_TEST(volumes_that_lie_on_one_disk_are_among_its_nodes),
		ROOT_TEST(a_volume_over_two_disks_is_no_node_of_either),
		ROOT_TEST(a_volume_over_two_partitions_of_one_disk_is_a_node),
		ROOT_TEST(bcache_is_found_on_the_disk_with_its_set_and_cache),
		ROOT_TEST(bcache_is_found_on_a_partition_and_written),
		ROOT_TEST(what_comes_and_goes_is_seen_at_once),
		ROOT_TEST(a_cache_device_is_not_taken_for_a_backing_device),
		ROOT_TEST(two_of_a_kind_on_one_disk_are_said),
		ROOT_TEST(an_unknown_component_is_not_found),
		ROOT_TEST(below_a_fake_tree_the_device_mapper_is_not_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
