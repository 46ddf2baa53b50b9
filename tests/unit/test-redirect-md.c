/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads steered away from one leg of a raid1, in a made-up /sys whose member states read as
 * drivers/md/md.c prints them. */

#include "base/sysfs.h"
#include "fake-disk-tree.h"

#define KNOB "redirect-md"

/* "in_sync" and "writemostly" into "in_sync,write_mostly", and back */
static void settle(const char *root, const char *path, const char *before, const char *value)
{
	const char *flag = strstr(before, ",write_mostly");
	_cleanup_free_ char *text = NULL;

	assert_true(streq(value, "writemostly") || streq(value, "-writemostly"));
	text = text_printf("%.*s%s", flag ? (int)(flag - before) : (int)strlen(before), before,
			   *value == '-' ? "" : ",write_mostly");
	put(root, path, text);
}

static void member(const char *root, const char *array, const char *name, const char *state)
{
	_cleanup_free_ char *path = text_printf("devices/%s/md/dev-%s/state", array, name);

	put(root, path, state);
}

/* An array of sda (or a partition of it, by its path) and sdb. */
static void make_array(const char *root, const char *array, const char *number,
		       const char *lower_path, const char *level)
{
	const char *lower = base_name(lower_path);

	make_disk(root, array, number);
	put_of(root, array, "md/level", level);
	put_of(root, array, "md/sync_action", "idle\n");
	stack_on(root, lower, lower_path, array);
	member(root, array, lower, "in_sync\n");
	member(root, array, "sdb", "in_sync\n");
}

static void make_raid1(const char *root)
{
	make_scsi(root, "sda", "8:0");
	make_array(root, "md0", "9:0", "sda", "raid1\n");
}

static void a_leg_is_write_mostly_while_held_and_as_it_was_after(void **state)
{
	TreeDisk t = { .settle = settle };
	_cleanup_(device_unrefp) Device *d = NULL;
	KnobValue original;

	make_raid1(*state);
	d = tree_device(&t, *state, "");
	assert_true(probe_offered(KNOB, d).redirects_reads);
	assert_false(probe_offered(KNOB, d).redirects_writes);
	original = found_by(KNOB, d);
	assert_string_equal(original.text, "md0/dev-sda=balanced");
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), 0);
	expect_found(KNOB, d, "md0/dev-sda=write_mostly");
	assert_int_equal(turn_to(KNOB, d, REDIRECT_AS_FOUND, &original), 0);
	expect_found(KNOB, d, "md0/dev-sda=balanced");
	assert_int_equal(t.writes, 2);
}

static void what_the_operator_leaves_alone_is_not_offered_but_put_back(void **state)
{
	static const char *const others[] = { "none", "bcache", "nvmet" };

	make_raid1(*state);
	for (size_t i = 0; i < ELEMENTSOF(others); i++) {
		TreeDisk before = { .settle = settle }, after = { .settle = settle };
		_cleanup_(device_unrefp) Device *d = tree_device(&before, *state, "");
		_cleanup_(device_unrefp) Device *left = tree_device(&after, *state, others[i]);
		KnobValue original = found_by(KNOB, d);

		assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), 0);
		probe_refused(KNOB, left, others[i]);
		assert_int_equal(turn_to(KNOB, left, REDIRECT_AS_FOUND, &original), 0);
		expect_found(KNOB, left, "md0/dev-sda=balanced");
	}
}

static void what_was_write_mostly_stays_so_and_is_not_written(void **state)
{
	TreeDisk t = { .settle = settle };
	_cleanup_(device_unrefp) Device *d = NULL;
	KnobValue original;

	make_raid1(*state);
	member(*state, "md0", "sda", "in_sync,write_mostly\n");
	d = tree_device(&t, *state, "");
	original = found_by(KNOB, d);
	for (Redirect r = REDIRECT_AS_FOUND; r <= REDIRECT_DRAIN; r++)
		assert_int_equal(turn_to(KNOB, d, r, &original), 0);
	expect_found(KNOB, d, "md0/dev-sda=write_mostly");
	assert_int_equal(t.writes, 0);
}

static void to_drain_is_as_found(void **state)
{
	TreeDisk t = { .settle = settle };
	_cleanup_(device_unrefp) Device *d = NULL;
	KnobValue original;

	make_raid1(*state);
	d = tree_device(&t, *state, "");
	original = found_by(KNOB, d);
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), 0);
	assert_int_equal(turn_to(KNOB, d, REDIRECT_DRAIN, &original), 0);
	expect_found(KNOB, d, "md0/dev-sda=balanced");
}

static void both_partitions_of_a_disk_are_steered(void **state)
{
	TreeDisk t = { .settle = settle };
	_cleanup_(device_unrefp) Device *d = NULL;
	KnobValue original;

	make_scsi(*state, "sda", "8:0");
	make_partition(*state, "sda", "sda1", "8:1");
	make_partition(*state, "sda", "sda2", "8:2");
	make_partition(*state, "sda", "sda3", "8:3");
	make_array(*state, "md0", "9:0", "sda/sda1", "raid1\n");
	make_array(*state, "md1", "9:1", "sda/sda2", "raid1\n");
	make_array(*state, "md2", "9:2", "sda/sda3", "raid5\n");
	d = tree_device(&t, *state, "");
	(void)probe_offered(KNOB, d);
	original = found_by(KNOB, d);
	assert_string_equal(original.text, "md0/dev-sda1=balanced md1/dev-sda2=balanced");
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), 0);
	expect_found(KNOB, d, "md0/dev-sda1=write_mostly md1/dev-sda2=write_mostly");
	assert_int_equal(turn_to(KNOB, d, REDIRECT_AS_FOUND, &original), 0);
	expect_found(KNOB, d, original.text);
}

static void without_another_leg_for_reads_it_is_not_offered(void **state)
{
	static const char *const others[] = { "in_sync,write_mostly\n", "faulty\n", "spare\n",
					      "in_sync,faulty\n", "journal\n" };
	TreeDisk t = { .settle = settle };
	_cleanup_(device_unrefp) Device *d = NULL;

	make_raid1(*state);
	d = tree_device(&t, *state, "");
	for (size_t i = 0; i < ELEMENTSOF(others); i++) {
		member(*state, "md0", "sdb", others[i]);
		probe_refused(KNOB, d, "md0 has no other leg");
	}
	/* a third one will do */
	member(*state, "md0", "sdc", "in_sync,blocked\n");
	(void)probe_offered(KNOB, d);
}

static void only_a_raid1_is_offered(void **state)
{
	TreeDisk t = { .settle = settle };
	_cleanup_(device_unrefp) Device *d = NULL;

	make_scsi(*state, "sda", "8:0");
	d = tree_device(&t, *state, "");
	probe_refused(KNOB, d, "in no md array");
	make_array(*state, "md0", "9:0", "sda", "raid5\n");
	probe_refused(KNOB, d, "md0 is raid5");
}

static void an_array_that_goes_away_needs_nothing_put_back(void **state)
{
	TreeDisk t = { .settle = settle };
	_cleanup_(device_unrefp) Device *d = NULL;
	KnobValue original;

	make_raid1(*state);
	d = tree_device(&t, *state, "");
	original = found_by(KNOB, d);
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), 0);
	drop(*state, "devices/sda/holders/md0");
	expect_found(KNOB, d, "none");
	assert_int_equal(turn_to(KNOB, d, REDIRECT_AS_FOUND, &original), 0);
	assert_int_equal(t.writes, 1);
	assert_int_equal(knob_apply(knob_find(KNOB), d, &original, NULL), 0);
}

/* The journal names it as it was called before the machine was reset. */
static void a_member_that_has_another_name_now_is_put_back(void **state)
{
	TreeDisk t = { .settle = settle };
	_cleanup_(device_unrefp) Device *d = NULL;
	const KnobValue original = { "md127/dev-sdq=balanced" },
			gone = { "md127/dev-sdq=balanced "
				 "md126/dev-sdq1=balanced" };

	make_raid1(*state);
	d = tree_device(&t, *state, "");
	member(*state, "md0", "sda", "in_sync,write_mostly\n");
	expect_found(KNOB, d, "md0/dev-sda=write_mostly");
	assert_int_equal(turn_to(KNOB, d, REDIRECT_AS_FOUND, &original), 0);
	expect_found(KNOB, d, "md0/dev-sda=balanced");
	assert_int_equal(turn_to(KNOB, d, REDIRECT_AS_FOUND, &gone), 0);
	assert_int_equal(t.writes, 1);
}

/* The flag is in its superblock, and comes back with it. */
static void an_array_that_is_stopped_is_not_taken_for_gone(void **state)
{
	TreeDisk t = { .settle = settle };
	_cleanup_(device_unrefp) Device *d = NULL;
	KnobValue original, v;

	make_raid1(*state);
	put(*state, "udev/sda", "ID_FS_TYPE=linux_raid_member\n");
	d = tree_device(&t, *state, "");
	original = found_by(KNOB, d);
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), 0);
	drop(*state, "devices/sda/holders/md0");
	assert_int_equal(knob_find(KNOB)->read(d, &v), -ENXIO);
	probe_refused(KNOB, d, "cannot be asked");
	link_to(*state, "devices/sda/holders/md0", "devices/md0");
	assert_int_equal(turn_to(KNOB, d, REDIRECT_AS_FOUND, &original), 0);
	expect_found(KNOB, d, "md0/dev-sda=balanced");
}

static void a_busy_array_is_an_error_and_tried_again(void **state)
{
	TreeDisk t = { .settle = settle, .error = -EBUSY };
	_cleanup_(device_unrefp) Device *d = NULL;
	KnobValue original;

	make_raid1(*state);
	d = tree_device(&t, *state, "");
	original = found_by(KNOB, d);
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), -EBUSY);
	assert_true(t.writes > 1);
	expect_found(KNOB, d, "md0/dev-sda=balanced");
}

static void expect_text(const char *root, const char *path, const char *expected)
{
	_cleanup_free_ char *full = text_printf("%s/%s", root, path);
	char text[64];

	assert_int_equal(read_attribute(full, text, sizeof(text)), 0);
	assert_string_equal(text, expected);
}

/* Whatever a value names: this disk's own places are all that is written. */
static void only_a_member_s_own_state_can_be_written(void **state)
{
	static const KnobValue values[] = {
		{ "md0/dev-sda=balanced md0/dev-sdb=write_mostly" },
		{ "md0/dev-sda=balanced md1/dev-sda=write_mostly" },
		{ "md0/dev-sda=balanced md0/../../sdb=write_mostly" },
	};
	TreeDisk t = { .settle = settle };
	_cleanup_(device_unrefp) Device *d = NULL;

	make_raid1(*state);
	make_disk(*state, "md1", "9:1");
	put_of(*state, "md1", "md/level", "raid1\n");
	member(*state, "md1", "sda", "in_sync\n");
	d = tree_device(&t, *state, "");
	for (size_t i = 0; i < ELEMENTSOF(values); i++)
		assert_int_equal(knob_find(KNOB)->write(d, &values[i]), 0);
	assert_int_equal(t.writes, 0);
	expect_text(*state, "devices/md0/md/dev-sdb/state", "in_sync");
	expect_text(*state, "devices/md1/md/dev-sda/state", "in_sync");
	expect_text(*state, "devices/md0/md/sync_action", "idle");
}

static void arrays_that_do_not_fit_are_an_error(void **state)
{
	TreeDisk t = { .settle = settle };
	_cleanup_(device_unrefp) Device *d = NULL;
	KnobValue v;

	make_scsi(*state, "sda", "8:0");
	for (unsigned i = 0; i < 9; i++) {
		_cleanup_free_ char *array = text_printf("md_of_a_name_that_is_rather_%u", i);
		_cleanup_free_ char *number = text_printf("9:%u", i);

		make_array(*state, array, number, "sda", "raid1\n");
	}
	d = tree_device(&t, *state, "");
	assert_int_equal(knob_find(KNOB)->read(d, &v), -ENOBUFS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROOT_TEST(a_leg_is_write_mostly_while_held_and_as_it_was_after),
		ROOT_TEST(what_the_operator_leaves_alone_is_not_offered_but_put_back),
		ROOT_TEST(what_was_write_mostly_stays_so_and_is_not_written),
		ROOT_TEST(to_drain_is_as_found),
		ROOT_TEST(both_partitions_of_a_disk_are_steered),
		ROOT_TEST(without_another_leg_for_reads_it_is_not_offered),
		ROOT_TEST(only_a_raid1_is_offered),
		ROOT_TEST(an_array_that_goes_away_needs_nothing_put_back),
		ROOT_TEST(a_member_that_has_another_name_now_is_put_back),
		ROOT_TEST(an_array_that_is_stopped_is_not_taken_for_gone),
		ROOT_TEST(a_busy_array_is_an_error_and_tried_again),
		ROOT_TEST(only_a_member_s_own_state_can_be_written),
		ROOT_TEST(arrays_that_do_not_fit_are_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
