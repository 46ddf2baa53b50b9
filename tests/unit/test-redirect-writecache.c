/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The dm-writecache knob on a made-up device mapper. */

#include "redirect-knob.h"

#include "redirect/writecache-host.h"
#include "stack/dm-table.h"

#define KNOB "redirect-writecache"

/* What is in writecache-host.c and dm-table.c otherwise. */

static struct {
	DmTable active, waiting;
	char status[256];
	int error;  /* of whatever is asked */
	int refuse; /* so many tables are answered EBUSY */
	unsigned writes, cleared;
} dm;

int writecache_find(Device *d, dev_t *ret)
{
	(void)d;
	*ret = 1;
	return dm.error;
}

int dm_table_read(dev_t devnum, DmPart part, DmTable *ret)
{
	(void)devnum;
	*ret = part == DM_WAITING ? dm.waiting : dm.active;
	if (part == DM_STATUS)
		snprintf(ret->parameters, sizeof(ret->parameters), "%s", dm.status);
	return dm.error;
}

int dm_table_replace(dev_t devnum, const DmTable *t)
{
	(void)devnum;
	dm.writes++;
	if (dm.refuse && dm.refuse--)
		return -EBUSY;
	dm.active = *t;
	return 0;
}

int dm_table_clear(dev_t devnum)
{
	(void)devnum;
	dm.cleared++;
	dm.active.waiting = false;
	return 0;
}

static void put_table(const char *parameters)
{
	dm.active = (DmTable){ .target = WRITECACHE };
	snprintf(dm.active.parameters, sizeof(dm.active.parameters), "%s", parameters);
}

static void put_status(const char *status)
{
	snprintf(dm.status, sizeof(dm.status), "%s", status);
}

/* 10 000 blocks of 4 KiB; writes nothing back. */
static Device *with_table(const char *parameters)
{
	static const DeviceOps ops = {};

	memset(&dm, 0, sizeof(dm));
	put_table(parameters);
	put_status("0 10000 8000 0 1 2 3 4");
	return fake_disk(&ops, NULL, "");
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
		_cleanup_(device_unrefp) Device *d = with_table(pairs[i].table);

		expect_found(KNOB, d, pairs[i].value);
	}
}

static void holding_raises_the_watermarks_and_drops_the_age(void **state)
{
	_cleanup_(device_unrefp) Device *d =
		with_table("s 8:0 252:1 4096 10 start_sector 2048 high_watermark 70 "
			   "low_watermark 60 writeback_jobs 64 max_age 90000");
	KnobValue original = found_by(KNOB, d);

	(void)state;
	(void)probe_offered(KNOB, d);
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), 0);
	assert_string_equal(dm.active.parameters,
			    "s 8:0 252:1 4096 8 start_sector 2048 high_watermark 95 "
			    "low_watermark 90 writeback_jobs 64");
}

static void higher_watermarks_than_ours_are_kept(void **state)
{
	_cleanup_(device_unrefp) Device *d =
		with_table("s 8:0 252:1 4096 4 high_watermark 99 low_watermark 98");
	KnobValue original = found_by(KNOB, d);

	(void)state;
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), 0);
	assert_int_equal(dm.writes, 0);
}

static void draining_writes_back_all_in_the_background(void **state)
{
	_cleanup_(device_unrefp) Device *d = with_table("s 8:0 252:1 4096 0");
	KnobValue original = found_by(KNOB, d);

	(void)state;
	assert_int_equal(turn_to(KNOB, d, REDIRECT_DRAIN, &original), 0);
	assert_string_equal(dm.active.parameters,
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
		_cleanup_(device_unrefp) Device *d = with_table(tables[i]);
		KnobValue original = found_by(KNOB, d);

		assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), 0);
		assert_int_equal(turn_to(KNOB, d, REDIRECT_DRAIN, &original), 0);
		assert_int_equal(turn_to(KNOB, d, REDIRECT_AS_FOUND, &original), 0);
		assert_string_equal(dm.active.parameters, tables[i]);
	}
}

/* LVM has made the volume anew since: its devices stay what they are. */
static void the_devices_of_the_moment_are_kept(void **state)
{
	_cleanup_(device_unrefp) Device *d = with_table("s 8:0 252:1 4096 2 high_watermark 70");
	KnobValue original = found_by(KNOB, d);

	(void)state;
	put_table("s 8:16 252:9 512 6 start_sector 8 high_watermark 95 "
		  "low_watermark 90");
	assert_int_equal(turn_to(KNOB, d, REDIRECT_AS_FOUND, &original), 0);
	assert_string_equal(dm.active.parameters,
			    "s 8:16 252:9 512 4 start_sector 8 high_watermark 70");
}

/* A kill between loading a table and using it leaves it there: whoever puts back what is so
 * already throws it away. Others' tables are let alone. */
static void restoring_throws_a_table_away_that_a_kill_left_waiting(void **state)
{
	_cleanup_(device_unrefp) Device *d = with_table("s 8:0 252:1 4096 0");
	KnobValue original = found_by(KNOB, d);

	(void)state;
	assert_int_equal(knob_find(KNOB)->write(d, &original), 0);
	assert_int_equal(dm.cleared, 0);
	dm.active.waiting = true;
	dm.waiting = (DmTable){ WRITECACHE, "s 8:0 252:1 4096 2 high_watermark 95" };
	assert_int_equal(knob_find(KNOB)->write(d, &original), 0);
	assert_int_equal(dm.cleared, 1);
	dm.active.waiting = true;
	dm.waiting = (DmTable){ WRITECACHE, "s 8:0 252:17 4096 0" };
	assert_int_equal(knob_find(KNOB)->write(d, &original), -EBUSY);
	dm.waiting = (DmTable){ "linear", "8:0 0" };
	assert_int_equal(knob_find(KNOB)->write(d, &original), -EBUSY);
	assert_int_equal(dm.cleared, 1);
	assert_int_equal(dm.writes, 0);
}

/* From 0 and 0, a third of the cache being written back: the device would stand still so long. */
static void a_table_is_not_replaced_while_much_is_written_back(void **state)
{
	_cleanup_(device_unrefp) Device *d =
		with_table("s 8:0 252:1 4096 4 high_watermark 0 low_watermark 0");
	KnobValue original = { "writecache" };

	(void)state;
	put_status("0 100000 66000 64 0 0");
	assert_int_equal(knob_find(KNOB)->write(d, &original), -EBUSY);
	assert_int_equal(dm.writes, 0);
	put_status("0 100000 99000 64 0 0");
	assert_int_equal(turn_to(KNOB, d, REDIRECT_AS_FOUND, &original), 0);
	put_table("s 8:0 252:1 4096 0");
	put_status("0 100000 10000 0 0 0");
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), 0);
}

static void a_cache_in_trouble_is_not_offered(void **state)
{
	_cleanup_(device_unrefp) Device *d = with_table("s 8:0 252:1 4096 1 cleaner");

	(void)state;
	probe_refused(KNOB, d, "emptied");
	put_table("s 8:0 252:1 4096 0");
	(void)probe_offered(KNOB, d);
	put_status("-5 10000 8000 0");
	probe_refused(KNOB, d, "IO error");
	put_table("0 8:0");
	probe_refused(KNOB, d, "cannot be read");
	dm.error = -EMLINK;
	probe_refused(KNOB, d, "several");
	dm.error = -ENOENT;
	probe_refused(KNOB, d, "no dm-writecache");
}

static void a_device_that_is_suspended_by_others_is_tried_again(void **state)
{
	_cleanup_(device_unrefp) Device *d = with_table("s 8:0 252:1 4096 0");
	KnobValue original = found_by(KNOB, d);

	(void)state;
	dm.refuse = 2;
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), 0);
	dm.refuse = 0;
	dm.active.suspended = true;
	assert_int_equal(turn_to(KNOB, d, REDIRECT_AS_FOUND, &original), -EBUSY);
	assert_int_equal(dm.writes, 3);
	dm.active.suspended = false;
	dm.refuse = 9;
	assert_int_equal(turn_to(KNOB, d, REDIRECT_AS_FOUND, &original), -EBUSY);
}

static void room_is_what_fits_below_the_held_watermark(void **state)
{
	_cleanup_(device_unrefp) Device *d = with_table("s 8:0 252:1 4096 0");
	CacheState c;

	(void)state;
	assert_int_equal(knob_find(KNOB)->cache(d, &c), 0);
	assert_int_equal(c.size_bytes, 10000 * 4096);
	assert_int_equal(c.dirty_bytes, 2000 * 4096);
	/* at 500 free blocks it writes back */
	assert_int_equal(c.room_bytes, (8000 - 501) * 4096);
	put_status("0 10000 501 0");
	assert_int_equal(knob_find(KNOB)->cache(d, &c), 0);
	assert_int_equal(c.room_bytes, 0);
	put_table("s 8:0 252:1 4096 2 high_watermark 99");
	assert_int_equal(knob_find(KNOB)->cache(d, &c), 0);
	assert_int_equal(c.room_bytes, (501 - 101) * 4096);
	put_status("0 10000 10001 0");
	assert_int_equal(knob_find(KNOB)->cache(d, &c), -EBADMSG);
	put_status("-5 10000 8000 0");
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
		cmocka_unit_test(restoring_throws_a_table_away_that_a_kill_left_waiting),
		cmocka_unit_test(a_table_is_not_replaced_while_much_is_written_back),
		cmocka_unit_test(a_cache_in_trouble_is_not_offered),
		cmocka_unit_test(a_device_that_is_suspended_by_others_is_tried_again),
		cmocka_unit_test(room_is_what_fits_below_the_held_watermark),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
