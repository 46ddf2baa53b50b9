/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which cgroup waits most for IO: by a tree of folders of our own. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/text.h"
#include "meter/pressure.h"

typedef struct Fixture {
	char root[32];
	char *node_file;
} Fixture;

/* percent NULL: the kernel keeps none */
static void make(const Fixture *f, const char *cgroup, const char *percent)
{
	_cleanup_free_ char *folder = text_printf("%s/%s", f->root, cgroup);
	_cleanup_free_ char *file = text_printf("%s/io.pressure", folder);
	_cleanup_free_ char *text =
		text_printf("some avg10=%s avg60=9.00 avg300=9.00 total=9\n"
			    "full avg10=99.00 avg60=99.00 avg300=99.00 total=9\n",
			    percent ?: "");

	assert_int_equal(mkdir(folder, 0700), 0);
	if (percent)
		assert_int_equal(write_file_atomic(file, text, 0600), 0);
}

static int set_up(void **state)
{
	Fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	*state = f;
	strcpy(f->root, "/tmp/storpower-pressure-XXXXXX");
	if (!mkdtemp(f->root))
		return -1;
	f->node_file = text_printf("%s/io.pressure", f->root);
	return f->node_file ? 0 : -1;
}

static int tear_down(void **state)
{
	Fixture *f = *state;
	_cleanup_free_ char *command = text_printf("rm -r %s", f->root);
	int r = command ? system(command) : -1;

	free(f->node_file);
	free(f);
	return r;
}

static void the_cgroup_that_waits_most_is_told(void **state)
{
	Fixture *f = *state;
	_cleanup_free_ char *cgroup = NULL;
	double percent;

	make(f, "none.slice", NULL);
	make(f, "a.slice", "7.54");
	make(f, "b.slice", "81.25");
	make(f, "b.slice/below", "99.00");
	make(f, "c.slice", "0.00");
	assert_int_equal(pressure_worst(f->root, f->node_file, &cgroup, &percent), 0);
	assert_string_equal(cgroup, "b.slice");
	assert_float_equal(percent, 81.25, 0);
}

static void where_no_cgroup_tells_the_node_does(void **state)
{
	Fixture *f = *state;
	_cleanup_free_ char *cgroup = NULL, *without_hierarchy = NULL;
	double percent;

	make(f, "none.slice", NULL);
	assert_int_equal(pressure_worst(f->root, f->node_file, &cgroup, &percent), -EOPNOTSUPP);
	assert_int_equal(write_file_atomic(f->node_file, "some avg10=3.50 avg60=1.00\n", 0600), 0);
	assert_int_equal(pressure_worst(f->root, f->node_file, &cgroup, &percent), 0);
	assert_string_equal(cgroup, "/");
	assert_float_equal(percent, 3.5, 0);
	assert_int_equal(pressure_worst(NULL, f->node_file, &without_hierarchy, &percent), 0);
	assert_string_equal(without_hierarchy, "/");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_cgroup_that_waits_most_is_told, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(where_no_cgroup_tells_the_node_does, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
