/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The bcache knob on a made-up backing device, which prints sizes as the kernel does. */

#include "test-hw-block.h"

#include <stdlib.h>
#include <unistd.h>

#include "journal/journal.h"
#include "redirect-knob.h"

#define KNOB "redirect-bcache"

/* A bcache as a table of its attributes. */

typedef struct FakeAttr {
	const char *name; /* below the disk's folder bcache; NULL: no more */
	char text[256];
} FakeAttr;

typedef struct FakeBcache {
	const char *redirect; /* what the operator names; NULL: nothing */
	const char *root;     /* where the set's disks are counted; NULL: nowhere */
	FakeAttr attrs[20];
	int error;  /* of every reading and writing */
	int refuse; /* so many writes are answered EBUSY */
	bool ignore;
	unsigned writes;
} FakeBcache;

static char *fake_attr(FakeBcache *b, const char *name)
{
	for (size_t i = 0; i < ELEMENTSOF(b->attrs) && b->attrs[i].name; i++)
		if (streq(b->attrs[i].name, name))
			return b->attrs[i].text;
	return NULL;
}

static void fake_put(FakeBcache *b, const char *name, const char *text)
{
	char *to = fake_attr(b, name);

	assert_non_null(to);
	snprintf(to, sizeof(b->attrs[0].text), "%s", text);
}

/* All that begins so is there no longer. */
static void fake_drop(FakeBcache *b, const char *prefix)
{
	for (size_t i = 0; i < ELEMENTSOF(b->attrs) && b->attrs[i].name; i++)
		if (strncmp(b->attrs[i].name, prefix, strlen(prefix)) == 0)
			b->attrs[i].name = "";
}

/* bch_hprint() (drivers/md/bcache/util.c) */
static void print_size(char *buf, size_t size, unsigned long long v)
{
	static const char units[] = "?kMGTPEZY";
	unsigned long long q = v;
	unsigned u = 0, t;

	do {
		u++;
		t = q & 1023;
		q >>= 10;
	} while (q >= 1000);
	snprintf(buf, size, "%llu.%u%c", q, t * 10 / 1024, units[u]);
}

/* Sizes are printed in words, but taken in bytes only; a mode is one of a list. */
static void taken(FakeBcache *b, const char *name, const char *value)
{
	char text[64];

	if (streq(name, "sequential_cutoff")) {
		assert_int_equal(strspn(value, "0123456789"), strlen(value));
		print_size(text, sizeof(text), strtoull(value, NULL, 10));
		fake_put(b, name, text);
	} else if (streq(name, "cache_mode")) {
		fake_put(b, name,
			 streq(value, "writeback") ? "writethrough [writeback] writearound none"
						   : "[writethrough] writeback writearound none");
	} else if (streq(name, "readahead_cache_policy")) {
		fake_put(b, name, streq(value, "all") ? "[all] meta-only" : "all [meta-only]");
	} else {
		fake_put(b, name, value);
	}
}

static const char *below_bcache(const char *attr)
{
	return strncmp(attr, "bcache/", strlen("bcache/")) == 0 ? attr + strlen("bcache/") : "none";
}

static int fake_read(Device *d, const char *attr, char *buf, size_t size)
{
	FakeBcache *b = d->impl;
	const char *text = fake_attr(b, below_bcache(attr));

	if (b->error)
		return b->error;
	if (!text)
		return -ENOENT;
	return (size_t)snprintf(buf, size, "%s", text) < size ? 0 : -ENOBUFS;
}

static int fake_write(Device *d, const char *attr, const char *value)
{
	FakeBcache *b = d->impl;

	if (b->error)
		return b->error;
	if (!fake_attr(b, below_bcache(attr)))
		return -ENOENT;
	b->writes++;
	if (b->refuse && b->refuse--)
		return -EBUSY;
	if (!b->ignore)
		taken(b, below_bcache(attr), value);
	return 0;
}

static int fake_root(Device *d, const char **ret)
{
	const FakeBcache *b = d->impl;

	*ret = b->root ?: "";
	return 0;
}

static Device *fake_device(FakeBcache *b)
{
	static const DeviceOps ops = { .attr_read = fake_read,
				       .attr_write = fake_write,
				       .sysfs_root = fake_root };

	return fake_disk(&ops, b, b->redirect ?: "");
}

static void expect_refused(FakeBcache *b, const char *words)
{
	_cleanup_(device_unrefp) Device *d = fake_device(b);

	probe_refused(KNOB, d, words);
}

static void expect_offered(FakeBcache *b)
{
	_cleanup_(device_unrefp) Device *d = fake_device(b);

	(void)probe_offered(KNOB, d);
}

static const FakeBcache plain = {
	.attrs = {
		{ "cache_mode", "writethrough [writeback] writearound none" },
		{ "writeback_running", "1" },
		{ "writeback_percent", "10" },
		{ "sequential_cutoff", "4.0M" },
		{ "readahead_cache_policy", "[all] meta-only" },
		{ "cache/congested_read_threshold_us", "2000" },
		{ "cache/congested_write_threshold_us", "20000" },
		{ "state", "dirty" },
		{ "dirty_data", "1.5M" },
		{ "cache/bucket_size", "512.0k" },
		{ "cache/cache_available_percent", "80" },
		{ "cache/cache0/nbuckets", "2000" },
		{ "cache/internal/trigger_gc", "" },
	},
};

#define AS_FOUND                                                                                   \
	"writeback running=1 percent=10 cutoff=4194304 readahead=all congested_read=2000 "         \
	"congested_write=20000"

static void holding_stops_the_writeback_and_every_bypass(void **state)
{
	FakeBcache u = plain;
	_cleanup_(device_unrefp) Device *d = fake_device(&u);
	KnobValue original = { AS_FOUND };

	(void)state;
	expect_offered(&u);
	expect_found(KNOB, d, AS_FOUND);
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), 0);
	expect_found(KNOB, d,
		     "writeback running=0 percent=10 cutoff=0 readahead=all congested_read=0 "
		     "congested_write=0");
}

static void a_stopped_writeback_has_the_buckets_counted_anew(void **state)
{
	FakeBcache u = plain;
	_cleanup_(device_unrefp) Device *d = fake_device(&u);
	KnobValue original = { AS_FOUND };

	(void)state;
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), 0);
	assert_string_equal(fake_attr(&u, "cache/internal/trigger_gc"), "1");
	fake_put(&u, "cache/internal/trigger_gc", "");
	assert_int_equal(turn_to(KNOB, d, REDIRECT_DRAIN, &original), 0);
	assert_string_equal(fake_attr(&u, "cache/internal/trigger_gc"), "");
}

static void draining_runs_at_full_speed_and_bypasses_nothing(void **state)
{
	FakeBcache u = plain;
	_cleanup_(device_unrefp) Device *d = fake_device(&u);
	KnobValue original = { AS_FOUND };

	(void)state;
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), 0);
	assert_int_equal(turn_to(KNOB, d, REDIRECT_DRAIN, &original), 0);
	expect_found(KNOB, d,
		     "writeback running=1 percent=0 cutoff=0 readahead=all congested_read=0 "
		     "congested_write=0");
}

/* Every state it is found in, from every state it was put to. */
static void what_was_found_is_put_back_exactly(void **state)
{
	static const char *const cutoffs[] = { "0.0k", "4.0M", "1.3G", "999.9k", "0.5k", "3.9G" };
	static const Redirect ways[] = { REDIRECT_HOLD, REDIRECT_DRAIN };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(cutoffs) * ELEMENTSOF(ways); i++) {
		FakeBcache u = plain, before;
		_cleanup_(device_unrefp) Device *d = fake_device(&u);
		KnobValue original;

		fake_put(&u, "sequential_cutoff", cutoffs[i / 2]);
		fake_put(&u, "readahead_cache_policy",
			 i % 3 ? "all [meta-only]" : "[all] meta-only");
		fake_put(&u, "writeback_running", i % 5 ? "1" : "0");
		before = u;
		original = found_by(KNOB, d);
		assert_int_equal(turn_to(KNOB, d, ways[i % 2], &original), 0);
		assert_int_equal(turn_to(KNOB, d, ways[(i + 1) % 2], &original), 0);
		assert_int_equal(turn_to(KNOB, d, REDIRECT_AS_FOUND, &original), 0);
		fake_put(&u, "cache/internal/trigger_gc", "");
		assert_memory_equal(u.attrs, before.attrs, sizeof(u.attrs));
	}
}

static void what_is_so_already_is_not_written(void **state)
{
	FakeBcache u = plain;
	_cleanup_(device_unrefp) Device *d = fake_device(&u);
	KnobValue value = { AS_FOUND };

	(void)state;
	assert_int_equal(knob_find(KNOB)->write(d, &value), 0);
	assert_int_equal(u.writes, 0);
}

/* The set serves so many disks, in a made-up /sys. */
static void serve_disks(FakeBcache *b, const char *root, unsigned n)
{
	b->root = root;
	for (unsigned i = 0; i < n; i++) {
		_cleanup_free_ char *state =
			text_printf("class/block/sda/bcache/cache/bdev%u/state", i);

		put(root, state, "clean\n");
	}
}

static void a_set_that_serves_several_disks_keeps_its_thresholds(void **state)
{
	FakeBcache u = plain;
	_cleanup_(device_unrefp) Device *d = fake_device(&u);
	KnobValue original;

	serve_disks(&u, *state, 4);
	original = found_by(KNOB, d);
	assert_string_equal(original.text,
			    "writeback running=1 percent=10 cutoff=4194304 readahead=all");
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), 0);
	assert_string_equal(fake_attr(&u, "cache/congested_read_threshold_us"), "2000");
	assert_string_equal(fake_attr(&u, "cache/congested_write_threshold_us"), "20000");
}

/* The second disk comes while the first is held: what the first has set is not lost. */
static void thresholds_are_put_back_though_the_set_serves_another_disk_by_then(void **state)
{
	FakeBcache u = plain;
	_cleanup_(device_unrefp) Device *d = fake_device(&u);
	KnobValue original = { AS_FOUND };

	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), 0);
	serve_disks(&u, *state, 2);
	assert_int_equal(turn_to(KNOB, d, REDIRECT_AS_FOUND, &original), 0);
	assert_string_equal(fake_attr(&u, "cache/congested_read_threshold_us"), "2000");
	assert_string_equal(fake_attr(&u, "cache/congested_write_threshold_us"), "20000");
}

static void a_kernel_without_some_attributes_is_served(void **state)
{
	static const FakeBcache bare = {
		.attrs = { { "cache_mode", "[writeback]" },
			   { "writeback_running", "1" },
			   { "sequential_cutoff", "4.0M" } },
	};
	FakeBcache u = bare;
	_cleanup_(device_unrefp) Device *d = fake_device(&u);
	KnobValue original = found_by(KNOB, d);

	(void)state;
	expect_offered(&u);
	assert_string_equal(original.text, "writeback running=1 cutoff=4194304");
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), 0);
	expect_found(KNOB, d, "writeback running=0 cutoff=0");
}

static void writethrough_is_left_alone_unless_it_is_declared(void **state)
{
	FakeBcache u = plain;
	_cleanup_(device_unrefp) Device *d = fake_device(&u);
	KnobValue original;

	(void)state;
	fake_put(&u, "cache_mode", "[writethrough] writeback writearound none");
	expect_refused(&u, "cache_mode is writethrough");
	u.redirect = "bcache";
	expect_offered(&u);
	original = found_by(KNOB, d);
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), 0);
	expect_found(KNOB, d,
		     "writeback running=0 percent=10 cutoff=0 readahead=all congested_read=0 "
		     "congested_write=0");
	assert_int_equal(turn_to(KNOB, d, REDIRECT_AS_FOUND, &original), 0);
	assert_string_equal(found_by(KNOB, d).text, original.text);
}

static void a_disk_without_one_is_not_offered_it(void **state)
{
	FakeBcache u = plain;
	_cleanup_(device_unrefp) Device *bare =
		device_new("fake:sdb", "sdb", "", KIND_HDD, &(DeviceOps){}, NULL);
	_cleanup_free_ char *why = NULL;
	Offer offer = {};

	(void)state;
	u.error = -ENOENT;
	expect_refused(&u, "no bcache");
	u.error = -EMLINK;
	expect_refused(&u, "several");
	u.error = -EIO;
	expect_refused(&u, "Input/output error");
	assert_int_equal(knob_find(KNOB)->probe(bare, &offer, &why), -EOPNOTSUPP);
}

static void a_write_that_does_not_take_is_found(void **state)
{
	FakeBcache u = plain;
	_cleanup_(device_unrefp) Device *d = fake_device(&u);
	KnobValue original = { AS_FOUND };

	(void)state;
	u.ignore = true;
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), -EREMOTEIO);
	u.ignore = false;
	u.refuse = 2;
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), 0);
}

static void one_that_was_taken_away_needs_nothing_put_back_but_its_mode(void **state)
{
	FakeBcache u = plain;
	_cleanup_(device_unrefp) Device *d = fake_device(&u);
	KnobValue original = { AS_FOUND }, other = { "writethrough running=1" };
	CacheState c;

	(void)state;
	u.error = -ENOENT;
	expect_found(KNOB, d, "none");
	assert_int_equal(knob_apply(knob_find(KNOB), d, &original, NULL), 0);
	assert_int_equal(knob_apply(knob_find(KNOB), d, &other, NULL), -EREMOTEIO);
	assert_int_equal(knob_find(KNOB)->cache(d, &c), -ENOENT);
}

static void what_was_held_is_put_back_although_the_cache_was_detached(void **state)
{
	FakeBcache u = plain;
	_cleanup_(device_unrefp) Device *d = fake_device(&u);
	KnobValue original = found_by(KNOB, d);

	(void)state;
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), 0);
	fake_put(&u, "state", "no cache");
	fake_drop(&u, "cache/");
	expect_refused(&u, "no cache attached");
	assert_int_equal(turn_to(KNOB, d, REDIRECT_AS_FOUND, &original), 0);
	expect_found(KNOB, d, "writeback running=1 percent=10 cutoff=4194304 readahead=all");
}

static CacheState cache_of(FakeBcache *u)
{
	_cleanup_(device_unrefp) Device *d = fake_device(u);
	CacheState c;

	assert_int_equal(knob_find(KNOB)->cache(d, &c), 0);
	return c;
}

/* 2000 buckets of 512 KiB; writes bypass from 40 % on; 20 % are in use. */
static void room_is_what_fits_before_writes_bypass_the_cache(void **state)
{
	const uint64_t size = 2000ULL * 512 * 1024;
	FakeBcache u = plain;
	CacheState c = cache_of(&u);

	(void)state;
	assert_int_equal(c.size_bytes, size);
	assert_int_equal(c.dirty_bytes, 1536 * 1024);
	assert_int_equal(c.room_bytes, size / 100 * 20);
	fake_put(&u, "cache/cache_available_percent", "50");
	assert_int_equal(cache_of(&u).room_bytes, 0);
}

/* The count of buckets is as old as the last garbage collection; dirty_data is not. */
static void room_shrinks_with_what_was_dirtied_since(void **state)
{
	FakeBcache u = plain;

	(void)state;
	fake_put(&u, "cache/cache_available_percent", "100");
	fake_put(&u, "dirty_data", "300.0M");
	assert_int_equal(cache_of(&u).room_bytes, 2000ULL * 512 * 1024 / 100 * 40 - (300ULL << 20));
}

static void disks_of_one_set_share_its_room(void **state)
{
	FakeBcache u = plain;
	uint64_t alone = cache_of(&u).room_bytes;

	serve_disks(&u, *state, 4);
	assert_int_equal(cache_of(&u).room_bytes, alone / 4);
}

static void sizes_are_read_as_the_kernel_prints_them(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} sizes[] = {
		{ "0.0k", 0 },
		{ "0.5k", 512 },
		{ "512", 512 },
		{ "1.0k", 1024 },
		{ "999.9k", 999 * 1024 + 922 },
		{ "1.5M", 1536 * 1024 },
		{ "2.0G", 2ULL << 30 },
		{ "7.0T", 7ULL << 40 },
	};
	static const char *const wrong[] = { "", "x", "1.5", "1.5q", "-1.0k", "1.10M" };
	FakeBcache u = plain;
	_cleanup_(device_unrefp) Device *d = fake_device(&u);
	CacheState c;

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(sizes); i++) {
		fake_put(&u, "dirty_data", sizes[i].text);
		assert_int_equal(cache_of(&u).dirty_bytes, sizes[i].bytes);
	}
	for (size_t i = 0; i < ELEMENTSOF(wrong); i++) {
		fake_put(&u, "dirty_data", wrong[i]);
		assert_int_equal(knob_find(KNOB)->cache(d, &c), -EINVAL);
	}
}

#define BOOT_A "11111111-1111-1111-1111-111111111111"
#define BOOT_B "22222222-2222-2222-2222-222222222222"

/* The rest is the kernel's own default then. */
static void after_a_reset_only_the_mode_is_put_back(void **state)
{
	_cleanup_(journal_closep) Journal *j = NULL;
	const KnobValue original = { "writethrough running=1 percent=20" };
	char path[] = "/tmp/storpower-test-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(journal_open(path, BOOT_A, &j), 0);
	assert_int_equal(journal_record(j, "id-1", KNOB, &original), 0);
	assert_int_equal(journal_sync(j), 0);
	journal_forget_moot(j, knob_survival);
	assert_string_equal(journal_original(j, "id-1", KNOB)->text, original.text);
	j = journal_close(j);
	assert_int_equal(journal_open(path, BOOT_B, &j), 0);
	journal_forget_moot(j, knob_survival);
	assert_string_equal(journal_original(j, "id-1", KNOB)->text, "writethrough");
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(holding_stops_the_writeback_and_every_bypass),
		cmocka_unit_test(a_stopped_writeback_has_the_buckets_counted_anew),
		cmocka_unit_test(draining_runs_at_full_speed_and_bypasses_nothing),
		cmocka_unit_test(what_was_found_is_put_back_exactly),
		cmocka_unit_test(what_is_so_already_is_not_written),
		ROOT_TEST(a_set_that_serves_several_disks_keeps_its_thresholds),
		ROOT_TEST(thresholds_are_put_back_though_the_set_serves_another_disk_by_then),
		cmocka_unit_test(a_kernel_without_some_attributes_is_served),
		cmocka_unit_test(writethrough_is_left_alone_unless_it_is_declared),
		cmocka_unit_test(a_disk_without_one_is_not_offered_it),
		cmocka_unit_test(a_write_that_does_not_take_is_found),
		cmocka_unit_test(one_that_was_taken_away_needs_nothing_put_back_but_its_mode),
		cmocka_unit_test(after_a_reset_only_the_mode_is_put_back),
		cmocka_unit_test(what_was_held_is_put_back_although_the_cache_was_detached),
		cmocka_unit_test(room_is_what_fits_before_writes_bypass_the_cache),
		cmocka_unit_test(room_shrinks_with_what_was_dirtied_since),
		ROOT_TEST(disks_of_one_set_share_its_room),
		cmocka_unit_test(sizes_are_read_as_the_kernel_prints_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
