/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a cgroup's number is called: by a tree of folders of our own. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/text.h"
#include "meter/cgroup-names.h"

#define DB "system.slice/db.service"

typedef struct Fixture {
	char root[32];
	CgroupNames *names;
} Fixture;

static uint64_t make(const Fixture *f, const char *path)
{
	_cleanup_free_ char *full = text_printf("%s/%s", f->root, path);
	struct stat st;

	assert_int_equal(mkdir(full, 0700), 0);
	assert_int_equal(stat(full, &st), 0);
	return st.st_ino;
}

static void gone(const Fixture *f, const char *path)
{
	_cleanup_free_ char *full = text_printf("%s/%s", f->root, path);

	assert_int_equal(rmdir(full), 0);
}

static int set_up(void **state)
{
	Fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	*state = f;
	strcpy(f->root, "/tmp/storpower-cgroups-XXXXXX");
	return mkdtemp(f->root) ? cgroup_names_new(f->root, &f->names) : -1;
}

static int tear_down(void **state)
{
	Fixture *f = *state;

	cgroup_names_free(f->names);
	rmdir(f->root);
	free(f);
	return 0;
}

static void assert_name(Fixture *f, uint64_t id, const char *expected, bool expected_gone)
{
	bool is_gone = !expected_gone;
	const char *name;

	cgroup_names_begin(f->names);
	name = cgroup_name(f->names, id, &is_gone);
	if (expected)
		assert_string_equal(name, expected);
	else
		assert_null(name);
	assert_int_equal(is_gone, expected_gone);
}

static void a_cgroup_is_named_by_its_path_and_later_ones_too(void **state)
{
	Fixture *f = *state;
	uint64_t slice = make(f, "system.slice"), db = make(f, DB), late;

	assert_name(f, db, DB, false);
	assert_name(f, slice, "system.slice", false);
	late = make(f, "user.slice");
	assert_name(f, late, "user.slice", false);
	assert_name(f, db, DB, false);
	gone(f, "user.slice");
	gone(f, DB);
	gone(f, "system.slice");
}

static void one_that_went_keeps_its_name_and_is_said_to_be_gone(void **state)
{
	Fixture *f = *state;
	uint64_t id = make(f, "job");

	assert_name(f, id, "job", false);
	gone(f, "job");
	assert_name(f, id, "job", true);
}

static void one_that_was_never_seen_has_no_name(void **state)
{
	Fixture *f = *state;
	uint64_t id = make(f, "job");

	gone(f, "job");
	assert_name(f, id, NULL, true);
	assert_name(f, id, NULL, true);
}

static void many_are_told_apart(void **state)
{
	Fixture *f = *state;
	uint64_t id[200];
	char name[16];

	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "g%d", i);
		id[i] = make(f, name);
	}
	for (int i = 199; i >= 0; i--) {
		snprintf(name, sizeof(name), "g%d", i);
		assert_name(f, id[i], name, false);
		gone(f, name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_cgroup_is_named_by_its_path_and_later_ones_too,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_that_went_keeps_its_name_and_is_said_to_be_gone,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_that_was_never_seen_has_no_name, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(many_are_told_apart, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
