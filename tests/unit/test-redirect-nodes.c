/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which nodes above a disk are its own to steer, and bcache found on them, in a fake /sys. */

#include "base/sysfs.h"
#include "fake-disk-tree.h"
#include "redirect/component.h"
#include "redirect/writecache-host.h"

#define KNOB "redirect-bcache"

static void expect_nodes(const char *root, const char *names)
{
	_cleanup_(own_nodes_done) OwnNodes own = {};
	TreeDisk t = {};
	_cleanup_(device_unrefp) Device *d = tree_device(&t, root, "");
	char all[256] = "";

	assert_int_equal(own_nodes_find(d, &own), 0);
	for (size_t i = 0; i < own.paths.n; i++) {
		const char *name = base_name(own.paths.list[i]);
		size_t n = strlen(all);

		assert_true(own_nodes_have(&own, name));
		snprintf(all + n, sizeof(all) - n, "%s%s", n ? " " : "", name);
	}
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
	expect_nodes(*state, "sda");
	make_disk(*state, "sda", "8:0");
	expect_nodes(*state, "sda");
	expect_nodes("", "sda");
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
	expect_nodes(root, "sda sda1 dm-0 dm-1");
}

static void a_volume_over_two_disks_is_no_node_of_either(void **state)
{
	const char *root = *state;

	make_disk(root, "sda", "8:0");
	make_disk(root, "sdb", "8:16");
	make_disk(root, "dm-0", "253:0");
	stack(root, "dm-0", "sda");
	stack(root, "dm-0", "sdb");
	expect_nodes(root, "sda");
}

static void a_volume_over_two_partitions_of_one_disk_is_a_node(void **state)
{
	_cleanup_(own_nodes_done) OwnNodes own = {};
	TreeDisk t = {};
	_cleanup_(device_unrefp) Device *d = tree_device(&t, *state, "");
	const char *root = *state;

	make_disk(root, "sda", "8:0");
	make_partition(root, "sda", "sda1", "8:1");
	make_partition(root, "sda", "sda2", "8:2");
	make_disk(root, "dm-0", "253:0");
	stack(root, "dm-0", "sda/sda1");
	stack(root, "dm-0", "sda/sda2");
	assert_int_equal(own_nodes_find(d, &own), 0);
	assert_int_equal(own.paths.n, 4);
	assert_string_equal(base_name(own.paths.list[3]), "dm-0");
}

/* Another device has its name now. */
static int is_gone(Device *d, const char **ret)
{
	(void)d;
	(void)ret;
	return -ENODEV;
}

static void of_a_disk_that_is_gone_nothing_is_read_or_written(void **state)
{
	static const DeviceOps ops = { .sysfs_root = is_gone };
	_cleanup_(device_unrefp) Device *d = fake_disk(&ops, NULL, "");
	const KnobValue none = { "none" };
	KnobValue v;

	(void)state;
	for (const Knob *const *k = knob_registry; *k; k++) {
		if ((*k)->mechanism != MECHANISM_REDIRECT)
			continue;
		assert_int_equal((*k)->read(d, &v), -ENODEV);
		assert_int_equal((*k)->write(d, &none), -ENODEV);
	}
}

static void above_a_device_without_a_tree_nothing_is_steered(void **state)
{
	static const DeviceOps ops = {};
	_cleanup_(device_unrefp) Device *d = fake_disk(&ops, NULL, "");

	(void)state;
	for (const Knob *const *k = knob_registry; *k; k++) {
		_cleanup_free_ char *why = NULL;
		Offer offer = {};

		if ((*k)->mechanism == MECHANISM_REDIRECT)
			assert_int_equal((*k)->probe(d, &offer, &why), -EOPNOTSUPP);
	}
}

/* A backing device with its set, which serves n disks; 2 GiB of cache. */
static void make_bcache(const char *root, const char *device, unsigned n)
{
	_cleanup_free_ char *folder = text_printf("devices/%s/bcache", device);
	_cleanup_free_ char *mode = text_printf("%s/cache_mode", folder);
	_cleanup_free_ char *running = text_printf("%s/writeback_running", folder);
	_cleanup_free_ char *dirty = text_printf("%s/dirty_data", folder);
	_cleanup_free_ char *link = text_printf("%s/cache", folder);

	put(root, mode, "writethrough [writeback] writearound none\n");
	put(root, running, "1\n");
	put(root, dirty, "0.0k\n");
	link_to(root, link, "fs/bcache/set");
	put(root, "fs/bcache/set/congested_read_threshold_us", "2000\n");
	put(root, "fs/bcache/set/bucket_size", "512.0k\n");
	put(root, "fs/bcache/set/cache_available_percent", "100\n");
	put(root, "fs/bcache/set/cache0/nbuckets", "4096\n");
	for (unsigned i = 0; i < n; i++) {
		_cleanup_free_ char *bdev = text_printf("fs/bcache/set/bdev%u/state", i);

		put(root, bdev, "clean\n");
	}
}

static void bcache_is_found_on_the_disk_with_its_set_and_cache(void **state)
{
	TreeDisk t = {};
	_cleanup_(device_unrefp) Device *d = tree_device(&t, *state, "");
	CacheState c;

	make_disk(*state, "sda", "8:0");
	make_bcache(*state, "sda", 3);
	(void)probe_offered(KNOB, d);
	/* the set's thresholds are others', too */
	expect_found(KNOB, d, "writeback running=1");
	assert_int_equal(knob_find(KNOB)->cache(d, &c), 0);
	assert_int_equal(c.size_bytes, 2ULL << 30);
	assert_int_equal(c.room_bytes, c.size_bytes / 100 * 40 / 3);
}

static void bcache_is_found_on_a_partition_and_written(void **state)
{
	const KnobValue value = { "writeback running=1 congested_read=3000" },
			wrong = { "writeback percent=10" };
	TreeDisk t = {};
	_cleanup_(device_unrefp) Device *d = tree_device(&t, *state, "");

	make_disk(*state, "sda", "8:0");
	make_partition(*state, "sda", "sda2", "8:2");
	make_bcache(*state, "sda/sda2", 1);
	expect_found(KNOB, d, "writeback running=1 congested_read=2000");
	assert_int_equal(knob_find(KNOB)->write(d, &value), 0);
	expect_found(KNOB, d, value.text);
	assert_int_equal(t.writes, 1);
	assert_int_equal(knob_find(KNOB)->write(d, &wrong), -ENOENT);
}

static void bcache_is_found_on_a_volume_of_the_disk(void **state)
{
	TreeDisk t = {};
	_cleanup_(device_unrefp) Device *d = tree_device(&t, *state, "");

	make_disk(*state, "sda", "8:0");
	make_partition(*state, "sda", "sda1", "8:1");
	make_disk(*state, "dm-0", "253:0");
	stack(*state, "dm-0", "sda/sda1");
	make_bcache(*state, "dm-0", 1);
	expect_found(KNOB, d, "writeback running=1 congested_read=2000");
}

/* Assembled after the disk was found, and taken apart again. */
static void what_comes_and_goes_is_seen_at_once(void **state)
{
	TreeDisk t = {};
	_cleanup_(device_unrefp) Device *d = tree_device(&t, *state, "");

	make_disk(*state, "sda", "8:0");
	expect_found(KNOB, d, "none");
	make_bcache(*state, "sda", 1);
	expect_found(KNOB, d, "writeback running=1 congested_read=2000");
	drop(*state, "devices/sda/bcache/cache");
	expect_found(KNOB, d, "writeback running=1");
	drop(*state, "devices/sda/bcache/cache_mode");
	expect_found(KNOB, d, "none");
}

static void a_cache_device_is_not_taken_for_a_backing_device(void **state)
{
	TreeDisk t = {};
	_cleanup_(device_unrefp) Device *d = tree_device(&t, *state, "");

	make_disk(*state, "sda", "8:0");
	put(*state, "devices/sda/bcache/nbuckets", "4096\n");
	link_to(*state, "devices/sda/bcache/set", "fs/bcache/set");
	expect_found(KNOB, d, "none");
	probe_refused(KNOB, d, "no bcache");
}

static void two_of_a_kind_on_one_disk_are_said(void **state)
{
	TreeDisk t = {};
	_cleanup_(device_unrefp) Device *d = tree_device(&t, *state, "");
	KnobValue v;

	make_disk(*state, "sda", "8:0");
	make_partition(*state, "sda", "sda1", "8:1");
	make_partition(*state, "sda", "sda2", "8:2");
	make_bcache(*state, "sda/sda1", 0);
	put(*state, "devices/sda/sda2/bcache/cache_mode", "[writearound]\n");
	/* that has no set */
	expect_found(KNOB, d, "writeback running=1 congested_read=2000");
	link_to(*state, "devices/sda/sda2/bcache/cache", "fs/bcache/set");
	assert_int_equal(knob_find(KNOB)->read(d, &v), -EMLINK);
	probe_refused(KNOB, d, "several");
}

/* Nothing of this machine is asked about a made-up disk. */
static void below_a_fake_tree_the_device_mapper_is_not_asked(void **state)
{
	TreeDisk t = {};
	_cleanup_(device_unrefp) Device *d = tree_device(&t, *state, "");
	dev_t devnum;

	make_disk(*state, "sda", "8:0");
	make_disk(*state, "dm-0", "253:0");
	stack(*state, "dm-0", "sda");
	assert_int_equal(writecache_find(d, &devnum), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROOT_TEST(a_disk_alone_is_its_only_node),
		ROOT_TEST(volumes_that_lie_on_one_disk_are_among_its_nodes),
		ROOT_TEST(a_volume_over_two_disks_is_no_node_of_either),
		ROOT_TEST(a_volume_over_two_partitions_of_one_disk_is_a_node),
		cmocka_unit_test(of_a_disk_that_is_gone_nothing_is_read_or_written),
		cmocka_unit_test(above_a_device_without_a_tree_nothing_is_steered),
		ROOT_TEST(bcache_is_found_on_the_disk_with_its_set_and_cache),
		ROOT_TEST(bcache_is_found_on_a_partition_and_written),
		ROOT_TEST(bcache_is_found_on_a_volume_of_the_disk),
		ROOT_TEST(what_comes_and_goes_is_seen_at_once),
		ROOT_TEST(a_cache_device_is_not_taken_for_a_backing_device),
		ROOT_TEST(two_of_a_kind_on_one_disk_are_said),
		ROOT_TEST(below_a_fake_tree_the_device_mapper_is_not_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
