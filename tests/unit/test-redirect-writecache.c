/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The dm-writecache knob on a made-up table and status. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "fake-upper.h"

#define KNOB "redirect-writecache"

/* 10 000 blocks of 4 KiB; writes nothing back. */
static FakeUpper with_table(const char *table)
{
	FakeUpper u = { .component = "writecache",
			.whats = { { "table", "" }, { "status", "0 10000 8000 0 1 2 3 4" } } };

	fake_put(&u, "table", table);
	return u;
}

static KnobValue original_of(Device *d)
{
	KnobValue v;

	assert_int_equal(knob_find(KNOB)->read(d, &v), 0);
	return v;
}

static void expect_read(Device *d, const char *text)
{
	assert_string_equal(original_of(d).text, text);
}

static void the_value_is_the_options_alone(void **state)
{
	static const struct {
		const char *table, *value;
	} pairs[] = {
		{ "s 8:0 252:1 4096 0", "writecache" },
		{ "s 8:0 252:1 4096 2 start_sector 2048", "writecache" },
		{ "s 8:0 252:1 4096 4 high_watermark 70 low_watermark 60",
		  "writecache high_watermark=70 low_watermark=60" },
		{ "p 8:0 259:1 4096 8 start_sector 8 autocommit_time 60000 max_age 90000 fua "
		  "metadata_only",
		  "writecache autocommit_time=60000 max_age=90000 fua metadata_only" },
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(pairs); i++) {
		FakeUpper u = with_table(pairs[i].table);
		_cleanup_(device_unrefp) Device *d = fake_upper_device(&u);

		expect_read(d, pairs[i].value);
	}
}

static void holding_raises_the_watermarks_and_drops_the_age(void **state)
{
	FakeUpper u = with_table("s 8:0 252:1 4096 10 start_sector 2048 high_watermark 70 "
				 "low_watermark 60 writeback_jobs 64 max_age 90000");
	_cleanup_(device_unrefp) Device *d = fake_upper_device(&u);
	KnobValue original = original_of(d);

	(void)state;
	expect_offered(KNOB, &u);
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), 0);
	assert_string_equal(fake_what(&u, "table"),
			    "s 8:0 252:1 4096 8 start_sector 2048 high_watermark 95 "
			    "low_watermark 90 writeback_jobs 64");
}

static void higher_watermarks_than_ours_are_kept(void **state)
{
	FakeUpper u = with_table("s 8:0 252:1 4096 4 high_watermark 99 low_watermark 98");
	_cleanup_(device_unrefp) Device *d = fake_upper_device(&u);
	KnobValue original = original_of(d);

	(void)state;
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), 0);
	assert_int_equal(u.writes, 0);
}

static void draining_writes_back_all_in_the_background(void **state)
{
	FakeUpper u = with_table("s 8:0 252:1 4096 0");
	_cleanup_(device_unrefp) Device *d = fake_upper_device(&u);
	KnobValue original = original_of(d);

	(void)state;
	assert_int_equal(turn_to(KNOB, d, REDIRECT_DRAIN, &original), 0);
	assert_string_equal(fake_what(&u, "table"),
			    "s 8:0 252:1 4096 4 high_watermark 0 low_watermark 0");
}

static void what_was_found_is_put_back_exactly(void **state)
{
	static const char *const tables[] = {
		"s 8:0 252:1 4096 0",
		"s 253:2 253:3 512 2 high_watermark 70",
		"s 8:0 252:1 4096 3 max_age 90000 metadata_only",
		"p 8:0 259:1 4096 15 start_sector 2048 high_watermark 70 low_watermark 60 "
		"writeback_jobs 64 autocommit_blocks 4096 autocommit_time 60000 max_age 90000 nofua",
		"s 8:0 252:1 4096 4 high_watermark 99 pause_writeback 3000",
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(tables); i++) {
		FakeUpper u = with_table(tables[i]);
		_cleanup_(device_unrefp) Device *d = fake_upper_device(&u);
		KnobValue original = original_of(d);

		assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), 0);
		assert_int_equal(turn_to(KNOB, d, REDIRECT_DRAIN, &original), 0);
		assert_int_equal(turn_to(KNOB, d, REDIRECT_AS_FOUND, &original), 0);
		assert_string_equal(fake_what(&u, "table"), tables[i]);
	}
}

/* LVM has made the volume anew since: its devices stay what they are. */
static void the_devices_of_the_moment_are_kept(void **state)
{
	FakeUpper u = with_table("s 8:0 252:1 4096 2 high_watermark 70");
	_cleanup_(device_unrefp) Device *d = fake_upper_device(&u);
	KnobValue original = original_of(d);

	(void)state;
	fake_put(&u, "table",
		 "s 8:16 252:9 512 6 start_sector 8 high_watermark 95 "
		 "low_watermark 90");
	assert_int_equal(turn_to(KNOB, d, REDIRECT_AS_FOUND, &original), 0);
	assert_string_equal(fake_what(&u, "table"),
			    "s 8:16 252:9 512 4 start_sector 8 high_watermark 70");
}

/* A kill between loading a table and using it leaves it there: whoever puts back what is so
 * already throws it away. */
static void restoring_writes_the_table_even_where_it_is_the_same(void **state)
{
	FakeUpper u = with_table("s 8:0 252:1 4096 0");
	_cleanup_(device_unrefp) Device *d = fake_upper_device(&u);
	KnobValue original = original_of(d);

	(void)state;
	assert_int_equal(knob_find(KNOB)->write(d, &original), 0);
	assert_string_equal(u.last, "s 8:0 252:1 4096 0");
}

/* From 0 and 0, a third of the cache being written back: the device would stand still so long. */
static void a_table_is_not_replaced_while_much_is_written_back(void **state)
{
	FakeUpper u = with_table("s 8:0 252:1 4096 4 high_watermark 0 low_watermark 0");
	_cleanup_(device_unrefp) Device *d = fake_upper_device(&u);
	KnobValue original = { "writecache" };

	(void)state;
	fake_put(&u, "status", "0 100000 66000 64 0 0");
	assert_int_equal(knob_find(KNOB)->write(d, &original), -EBUSY);
	assert_int_equal(u.writes, 0);
	fake_put(&u, "status", "0 100000 99000 64 0 0");
	assert_int_equal(turn_to(KNOB, d, REDIRECT_AS_FOUND, &original), 0);
	fake_put(&u, "table", "s 8:0 252:1 4096 0");
	fake_put(&u, "status", "0 100000 10000 0 0 0");
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), 0);
}

static void a_cache_in_trouble_is_not_offered(void **state)
{
	FakeUpper u = with_table("s 8:0 252:1 4096 1 cleaner");

	(void)state;
	expect_refused(KNOB, &u, "emptied");
	fake_put(&u, "table", "s 8:0 252:1 4096 0");
	expect_offered(KNOB, &u);
	fake_put(&u, "status", "-5 10000 8000 0");
	expect_refused(KNOB, &u, "IO error");
	fake_put(&u, "table", "0 8:0");
	expect_refused(KNOB, &u, "cannot be read");
	u.error = -EMLINK;
	expect_refused(KNOB, &u, "several");
	u.error = -ENOENT;
	expect_refused(KNOB, &u, "no dm-writecache");
}

static void a_device_that_is_suspended_by_others_is_tried_again(void **state)
{
	FakeUpper u = with_table("s 8:0 252:1 4096 0");
	_cleanup_(device_unrefp) Device *d = fake_upper_device(&u);
	KnobValue original = original_of(d);

	(void)state;
	u.refuse = 2;
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), 0);
	u.refuse = 9;
	assert_int_equal(turn_to(KNOB, d, REDIRECT_AS_FOUND, &original), -EBUSY);
}

static void room_is_what_fits_below_the_held_watermark(void **state)
{
	FakeUpper u = with_table("s 8:0 252:1 4096 0");
	_cleanup_(device_unrefp) Device *d = fake_upper_device(&u);
	CacheState c;

	(void)state;
	assert_int_equal(knob_find(KNOB)->cache(d, &c), 0);
	assert_int_equal(c.size_bytes, 10000 * 4096);
	assert_int_equal(c.dirty_bytes, 2000 * 4096);
	/* at 500 free blocks it writes back */
	assert_int_equal(c.room_bytes, (8000 - 501) * 4096);
	fake_put(&u, "status", "0 10000 501 0");
	assert_int_equal(knob_find(KNOB)->cache(d, &c), 0);
	assert_int_equal(c.room_bytes, 0);
	fake_put(&u, "table", "s 8:0 252:1 4096 2 high_watermark 99");
	assert_int_equal(knob_find(KNOB)->cache(d, &c), 0);
	assert_int_equal(c.room_bytes, (501 - 101) * 4096);
	fake_put(&u, "status", "0 10000 10001 0");
	assert_int_equal(knob_find(KNOB)->cache(d, &c), -EBADMSG);
	fake_put(&u, "status", "-5 10000 8000 0");
	assert_int_equal(knob_find(KNOB)->cache(d, &c), -EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_value_is_the_options_alone),
		cmocka_unit_test(holding_raises_the_watermarks_and_drops_the_age),
		cmocka_unit_test(higher_watermarks_than_ours_are_kept),
		cmocka_unit_test(draining_writes_back_all_in_the_background),
		cmocka_unit_test(what_was_found_is_put_back_exactly),
		cmocka_unit_test(the_devices_of_the_moment_are_kept),
		cmocka_unit_test(restoring_writes_the_table_even_where_it_is_the_same),
		cmocka_unit_test(a_table_is_not_replaced_while_much_is_written_back),
		cmocka_unit_test(a_cache_in_trouble_is_not_offered),
		cmocka_unit_test(a_device_that_is_suspended_by_others_is_tried_again),
		cmocka_unit_test(room_is_what_fits_below_the_held_watermark),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
