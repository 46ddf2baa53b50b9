/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Hosts of an NVMe-oF target steered to another path, in a made-up configfs. */

#include "base/sysfs.h"
#include "fake-disk-tree.h"

#define KNOB "redirect-nvmet"
#define ROOT "kernel/config/nvmet"

/* What has become of writes to the configfs: this program is linked with --wrap=write_attribute. */
static struct {
	unsigned n;
	int error; /* of each */
} writes;

int __wrap_write_attribute(const char *path, const char *text)
{
	writes.n++;
	assert_true(access(path, F_OK) == 0 && streq(base_name(path), "ana_state"));
	return writes.error ?: write_file_atomic(path, text, 0644);
}

static void put_state(const char *root, unsigned port, unsigned group, const char *state)
{
	_cleanup_free_ char *path =
		text_printf(ROOT "/ports/%u/ana_groups/%u/ana_state", port, group);

	put(root, path, state);
}

static void add_namespace(const char *root, const char *subsystem, unsigned id, const char *device,
			  const char *group)
{
	_cleanup_free_ char *folder =
		text_printf(ROOT "/subsystems/%s/namespaces/%u", subsystem, id);
	_cleanup_free_ char *path = text_printf("%s/device_path", folder);
	_cleanup_free_ char *grpid = text_printf("%s/ana_grpid", folder);

	put(root, path, device);
	put(root, grpid, group);
}

static void link_port(const char *root, unsigned port, const char *subsystem)
{
	_cleanup_free_ char *link = text_printf(ROOT "/ports/%u/subsystems/%s", port, subsystem);
	_cleanup_free_ char *to = text_printf(ROOT "/subsystems/%s", subsystem);

	link_to(root, link, to);
}

/* sda as namespace 1 of "a", in group 2, by the ports 1 and 10 */
static void make_target(const char *root)
{
	memset(&writes, 0, sizeof(writes));
	make_scsi(root, "sda", "8:0");
	make_partition(root, "sda", "sda1", "8:1");
	add_namespace(root, "a", 1, "/dev/sda\n", "2\n");
	for (unsigned port = 1; port <= 10; port += 9) {
		put_state(root, port, 1, "optimized\n");
		put_state(root, port, 2, "optimized\n");
		link_port(root, port, "a");
	}
}

static void all_ports_are_held_and_put_back(void **state)
{
	TreeDisk t = {};
	_cleanup_(device_unrefp) Device *d = NULL;
	KnobValue original;
	Offer offer;

	make_target(*state);
	d = tree_device(&t, *state, "nvmet");
	offer = probe_offered(KNOB, d);
	assert_true(offer.redirects_reads && offer.redirects_writes);
	original = found_by(KNOB, d);
	assert_string_equal(original.text, "1/2=optimized 10/2=optimized");
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), 0);
	expect_found(KNOB, d, "1/2=non-optimized 10/2=non-optimized");
	assert_int_equal(turn_to(KNOB, d, REDIRECT_DRAIN, &original), 0);
	expect_found(KNOB, d, original.text);
	assert_int_equal(writes.n, 4);
}

static void a_path_that_is_closed_stays_closed(void **state)
{
	TreeDisk t = {};
	_cleanup_(device_unrefp) Device *d = NULL;
	KnobValue original;

	make_target(*state);
	put_state(*state, 10, 2, "inaccessible\n");
	d = tree_device(&t, *state, "nvmet");
	original = found_by(KNOB, d);
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), 0);
	expect_found(KNOB, d, "1/2=non-optimized 10/2=inaccessible");
	assert_int_equal(turn_to(KNOB, d, REDIRECT_AS_FOUND, &original), 0);
	expect_found(KNOB, d, "1/2=optimized 10/2=inaccessible");
	assert_int_equal(writes.n, 2);
}

static void it_is_offered_only_where_it_is_declared(void **state)
{
	static const char *const others[] = { "", "none", "md" };

	make_target(*state);
	for (size_t i = 0; i < ELEMENTSOF(others); i++) {
		TreeDisk t = {};
		_cleanup_(device_unrefp) Device *d = tree_device(&t, *state, others[i]);

		probe_refused(KNOB, d, *others[i] ? others[i] : "redirect = nvmet");
	}
}

static void a_group_with_others_in_it_is_not_touched(void **state)
{
	TreeDisk t = {};
	_cleanup_(device_unrefp) Device *d = NULL;

	make_target(*state);
	d = tree_device(&t, *state, "nvmet");
	/* another group, or another port's business */
	add_namespace(*state, "a", 2, "/dev/sdb\n", "1\n");
	add_namespace(*state, "b", 1, "/dev/sdc\n", "2\n");
	put_state(*state, 3, 2, "optimized\n");
	link_port(*state, 3, "b");
	(void)probe_offered(KNOB, d);
	expect_found(KNOB, d, "1/2=optimized 10/2=optimized");
	link_port(*state, 10, "b");
	probe_refused(KNOB, d, "/dev/sdc of b namespace 1");
}

static void partitions_and_names_by_id_are_the_disk_s(void **state)
{
	_cleanup_free_ char *path = text_printf("%s/by-id", (char *)*state);
	TreeDisk t = {};
	_cleanup_(device_unrefp) Device *d = NULL;

	make_target(*state);
	put(*state, "nodes/sda", "");
	link_to(*state, "by-id", "nodes/sda");
	d = tree_device(&t, *state, "nvmet");
	add_namespace(*state, "a", 2, "/dev/sda1\n", "2\n");
	add_namespace(*state, "a", 3, path, "3\n");
	put_state(*state, 1, 3, "optimized\n");
	(void)probe_offered(KNOB, d);
	/* port 10 has no group 3: no host gets there */
	expect_found(KNOB, d, "1/2=optimized 1/3=optimized 10/2=optimized");
}

static void without_a_port_it_is_not_offered(void **state)
{
	TreeDisk t = {};
	_cleanup_(device_unrefp) Device *d = NULL;

	make_scsi(*state, "sda", "8:0");
	d = tree_device(&t, *state, "nvmet");
	probe_refused(KNOB, d, "no NVMe-oF namespace");
	add_namespace(*state, "a", 1, "/dev/sda\n", "2\n");
	probe_refused(KNOB, d, "no NVMe-oF port");
	put_state(*state, 1, 2, "optimized\n");
	probe_refused(KNOB, d, "no NVMe-oF port");
	link_port(*state, 1, "a");
	(void)probe_offered(KNOB, d);
}

static void what_was_taken_down_needs_nothing_put_back(void **state)
{
	TreeDisk t = {};
	_cleanup_(device_unrefp) Device *d = NULL;
	KnobValue original;

	make_target(*state);
	d = tree_device(&t, *state, "nvmet");
	original = found_by(KNOB, d);
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), 0);
	drop(*state, ROOT "/ports/10/subsystems/a");
	drop(*state, ROOT "/ports/10/ana_groups/2/ana_state");
	expect_found(KNOB, d, "1/2=non-optimized");
	assert_int_equal(turn_to(KNOB, d, REDIRECT_AS_FOUND, &original), 0);
	expect_found(KNOB, d, "1/2=optimized");
	drop(*state, ROOT "/subsystems/a/namespaces/1/device_path");
	expect_found(KNOB, d, "none");
	assert_int_equal(knob_apply(knob_find(KNOB), d, &original, NULL), 0);
}

/* Not exported by port 10 while it was held, and then again. */
static void a_port_that_is_unlinked_is_still_put_back(void **state)
{
	TreeDisk t = {};
	_cleanup_(device_unrefp) Device *d = NULL;
	KnobValue original;

	make_target(*state);
	d = tree_device(&t, *state, "nvmet");
	original = found_by(KNOB, d);
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), 0);
	drop(*state, ROOT "/ports/10/subsystems/a");
	assert_int_equal(turn_to(KNOB, d, REDIRECT_AS_FOUND, &original), 0);
	link_port(*state, 10, "a");
	expect_found(KNOB, d, "1/2=optimized 10/2=optimized");
}

static void a_refused_state_is_an_error(void **state)
{
	TreeDisk t = {};
	_cleanup_(device_unrefp) Device *d = NULL;
	KnobValue original;

	make_target(*state);
	d = tree_device(&t, *state, "nvmet");
	original = found_by(KNOB, d);
	writes.error = -EINVAL;
	assert_int_equal(turn_to(KNOB, d, REDIRECT_HOLD, &original), -EINVAL);
	expect_found(KNOB, d, original.text);
}

static void one_port_that_fails_leaves_the_value_unfulfilled(void **state)
{
	const KnobValue wanted = { "1/2=non-optimized 10/2=non-optimized" },
			half = { "1/2=non-optimized 10/2=optimized" }, none = { "none" };
	const Knob *k = knob_find(KNOB);

	(void)state;
	assert_false(knob_fulfils(k, NULL, &wanted, &half));
	assert_true(knob_fulfils(k, NULL, &wanted, &wanted));
	assert_true(knob_fulfils(k, NULL, &wanted, &none));
}

/* Whatever a value names. */
static void nothing_but_an_ana_state_can_be_written(void **state)
{
	static const KnobValue values[] = {
		{ "others=optimized" },     { "1/2/..=optimized" }, { "1/2/enable=optimized" },
		{ "../../../x=optimized" }, { "1=optimized" },      { "1/2/=optimized" },
	};
	TreeDisk t = {};
	_cleanup_(device_unrefp) Device *d = NULL;

	make_target(*state);
	put_state(*state, 1, 2, "inaccessible\n");
	d = tree_device(&t, *state, "nvmet");
	for (size_t i = 0; i < ELEMENTSOF(values); i++)
		assert_int_equal(knob_find(KNOB)->write(d, &values[i]), 0);
	assert_int_equal(writes.n, 0);
	expect_found(KNOB, d, "1/2=inaccessible 10/2=optimized");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROOT_TEST(all_ports_are_held_and_put_back),
		ROOT_TEST(a_path_that_is_closed_stays_closed),
		ROOT_TEST(it_is_offered_only_where_it_is_declared),
		ROOT_TEST(a_group_with_others_in_it_is_not_touched),
		ROOT_TEST(partitions_and_names_by_id_are_the_disk_s),
		ROOT_TEST(without_a_port_it_is_not_offered),
		ROOT_TEST(what_was_taken_down_needs_nothing_put_back),
		ROOT_TEST(a_port_that_is_unlinked_is_still_put_back),
		ROOT_TEST(a_refused_state_is_an_error),
		cmocka_unit_test(one_port_that_fails_leaves_the_value_unfulfilled),
		ROOT_TEST(nothing_but_an_ana_state_can_be_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
