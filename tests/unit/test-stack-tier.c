/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which disk is behind which cache, and how many of its reads the cache serves. */

#include "test-hw-block.h"

#include "stack/tier.h"

static void make_drive(const char *root, const char *name, const char *dev)
{
	make_scsi(root, name, dev);
	put_of(root, name, "queue/rotational", "1\n");
}

static void put_stats(const char *root, const char *backing)
{
	put_of(root, backing, "bcache/stats_total/cache_hits", "900\n");
	put_of(root, backing, "bcache/stats_total/cache_misses", "80\n");
	put_of(root, backing, "bcache/stats_total/cache_bypass_hits", "7\n");
	put_of(root, backing, "bcache/stats_total/cache_bypass_misses", "13\n");
}

static void expect_tier(const char *root, const char *disk, const char *cached_by_it,
			const char *behind)
{
	Seen seen;
	_cleanup_(inventory_freep) Inventory *i = open_one(root, disk, &seen);

	assert_int_equal(seen.added, 1);
	assert_string_equal(seen.device->cached_by_it, cached_by_it);
	assert_string_equal(seen.device->behind, behind);
	seen_free(&seen);
}

static int count_reads(const char *root, const char *disk, CacheReads *ret)
{
	Seen seen;
	_cleanup_(inventory_freep) Inventory *i = open_one(root, disk, &seen);
	int r = seen.device->ops->cache_reads(seen.device, seen.device->behind, ret);

	seen_free(&seen);
	return r;
}

/* Some kernels have the cache among the slaves, others do not. */
static void a_disk_and_its_cache_know_what_they_have_in_common(void **state)
{
	const char *root = *state;

	make_drive(root, "sda", "8:0");
	make_drive(root, "sdb", "8:16");
	make_drive(root, "sdc", "8:32");
	link_bcache(root, "sda", "sdb");
	expect_tier(root, "sda", "", "bcache0");
	expect_tier(root, "sdb", "bcache0", "");
	expect_tier(root, "sdc", "", "");
	stack_on(root, "sdb", "sdb", "bcache0");
	expect_tier(root, "sda", "", "bcache0");
	expect_tier(root, "sdb", "bcache0", "");
}

static void all_disks_of_a_cached_array_are_behind_the_cache(void **state)
{
	const char *root = *state;

	make_drive(root, "sda", "8:0");
	make_drive(root, "sdb", "8:16");
	make_drive(root, "sdc", "8:32");
	make_disk(root, "md0", "9:0");
	put_of(root, "md0", "md/level", "raid1\n");
	stack_on(root, "sda", "sda", "md0");
	stack_on(root, "sdb", "sdb", "md0");
	link_bcache(root, "md0", "sdc");
	expect_tier(root, "sda", "", "bcache0");
	expect_tier(root, "sdb", "", "bcache0");
	expect_tier(root, "sdc", "bcache0", "");
}

static void reads_that_bypass_a_bcache_count_by_where_they_were_served(void **state)
{
	const char *root = *state;
	CacheReads reads;

	make_drive(root, "sda", "8:0");
	make_drive(root, "sdb", "8:16");
	link_bcache(root, "sda", "sdb");
	assert_int_equal(count_reads(root, "sda", &reads), -ENODATA);
	put_stats(root, "sda");
	assert_int_equal(count_reads(root, "sda", &reads), 0);
	assert_int_equal(reads.hits, 907);
	assert_int_equal(reads.misses, 93);
	put_of(root, "sda", "bcache/stats_total/cache_misses", "many\n");
	assert_int_equal(count_reads(root, "sda", &reads), -ENODATA);
}

static void reads_of_mapped_devices_are_in_their_status(void **state)
{
	static const struct {
		const char *target, *status;
		int result;
		CacheReads reads;
	} cases[] = {
		{ "cache",
		  "8 11/1028 512 789/1007 403 67 1100 0 0 0 0 1 writeback 2",
		  0,
		  { 403, 67 } },
		{ "cache", "Fail", -ENODATA, {} },
		{ "writecache", "0 2560 2500 0 1000 250 9 0 0 0 9", 0, { 250, 750 } },
		{ "writecache", "0 2560 2500 0", -ENODATA, {} }, /* before Linux 5.15 */
		{ "linear", "", -ENODATA, {} },
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		DmTable t = {};
		CacheReads reads = {};

		snprintf(t.target, sizeof(t.target), "%s", cases[i].target);
		snprintf(t.parameters, sizeof(t.parameters), "%s", cases[i].status);
		assert_int_equal(tier_parse_status(&t, &reads), cases[i].result);
		assert_int_equal(reads.hits, cases[i].reads.hits);
		assert_int_equal(reads.misses, cases[i].reads.misses);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROOT_TEST(a_disk_and_its_cache_know_what_they_have_in_common),
		ROOT_TEST(all_disks_of_a_cached_array_are_behind_the_cache),
		ROOT_TEST(reads_that_bypass_a_bcache_count_by_where_they_were_served),
		cmocka_unit_test(reads_of_mapped_devices_are_in_their_status),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
