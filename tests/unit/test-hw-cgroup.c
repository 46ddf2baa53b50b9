/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* cgroup v2 files as the kernel prints them, in a folder of the test's own. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/text.h"
#include "hw/cgroup.h"

#define DISK makedev(8, 16)

static char root[] = "/tmp/storpower-cgroup-XXXXXX";

static void put(const char *file, const char *text)
{
	_cleanup_free_ char *path = text_printf("%s/%s", root, file);

	assert_non_null(path);
	assert_int_equal(write_file_atomic(path, text, 0644), 0);
}

static void make(const char *name)
{
	_cleanup_free_ char *path = text_printf("%s/%s", root, name);

	assert_non_null(path);
	assert_int_equal(mkdir(path, 0755), 0);
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(root))
		return -1;
	put("cgroup.controllers", "cpuset cpu io memory\n");
	make("user.slice");
	make("system.slice");
	put("system.slice/io.max", "8:1 rbps=1 wbps=max riops=max wiops=max\n"
				   "8:16 rbps=2097152 wbps=max riops=max wiops=120\n"
				   "8:160 rbps=7 wbps=max riops=max wiops=max\n");
	put("system.slice/io.stat",
	    "252:0 \n8:16 rbytes=4096 wbytes=0 rios=1 wios=0 dbytes=0 dios=0\n8:1 8:0 rbytes=1\n");
	return 0;
}

static int tear_down(void **state)
{
	_cleanup_free_ char *command = text_printf("rm -r '%s'", root);

	(void)state;
	return command ? system(command) : -1;
}

static void expect(dev_t devnum, const char *file, const char *line)
{
	char buf[256] = "untouched";

	assert_int_equal(cgroup_line_read(root, devnum, file, buf, sizeof(buf)), 0);
	assert_string_equal(buf, line);
}

static void a_device_has_its_own_line_and_no_other(void **state)
{
	(void)state;
	expect(DISK, "system.slice/io.max", "rbps=2097152 wbps=max riops=max wiops=120");
	expect(DISK, "system.slice/io.stat", "rbytes=4096 wbytes=0 rios=1 wios=0 dbytes=0 dios=0");
	expect(makedev(252, 0), "system.slice/io.stat", "");
	expect(makedev(8, 6), "system.slice/io.max", "");
	expect(DISK, "cgroup.controllers", "cpuset cpu io memory");
}

static void what_is_not_there_is_told_apart(void **state)
{
	char buf[16];

	(void)state;
	assert_int_equal(cgroup_line_read(root, DISK, "gone/io.max", buf, sizeof(buf)), -ENOENT);
	assert_int_equal(cgroup_line_read(root, DISK, "system.slice/io.max", buf, sizeof(buf)),
			 -ENOBUFS);
	assert_int_equal(cgroup_line_read("/nowhere", DISK, "io.max", buf, sizeof(buf)),
			 -EOPNOTSUPP);
	assert_int_equal(cgroup_line_write("/nowhere", DISK, "io.max", "x"), -EOPNOTSUPP);
	assert_int_equal(cgroup_line_write(root, DISK, "gone/io.max", "x"), -ENOENT);
}

static void a_line_is_written_with_the_devices_number(void **state)
{
	_cleanup_free_ char *text = NULL, *path = text_printf("%s/user.slice/io.max", root);

	(void)state;
	put("user.slice/io.max", "");
	assert_int_equal(cgroup_line_write(root, DISK, "user.slice/io.max", "wiops=120"), 0);
	assert_int_equal(read_file(path, &text), 0);
	assert_string_equal(text, "8:16 wiops=120");
}

static void nobodys_controllers_are_switched(void **state)
{
	(void)state;
	put("cgroup.subtree_control", "memory\n");
	assert_int_equal(cgroup_line_write(root, DISK, "cgroup.subtree_control", "+io"), -EPERM);
	expect(DISK, "cgroup.subtree_control", "memory");
}

static void cgroups_are_folders(void **state)
{
	_cleanup_(strv_freep) char **names = NULL;

	(void)state;
	assert_int_equal(cgroup_children(root, &names), 0);
	assert_string_equal(names[0], "system.slice");
	assert_string_equal(names[1], "user.slice");
	assert_null(names[2]);
	names = strv_free(names);
	assert_int_equal(cgroup_children("/nowhere", &names), -EOPNOTSUPP);
}

static void expect_root(const char *mountinfo, int result, const char *wanted)
{
	_cleanup_free_ char *found = NULL, *path = text_printf("%s/mountinfo", root);

	put("mountinfo", mountinfo);
	assert_int_equal(cgroup_find_root(path, &found), result);
	if (wanted)
		assert_string_equal(found, wanted);
	else
		assert_null(found);
}

static void the_hierarchy_is_found_where_it_is_mounted(void **state)
{
	(void)state;
	expect_root(
		"24 1 0:22 / /sys rw,nosuid shared:7 - sysfs sysfs rw\n"
		"35 24 0:30 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n",
		0, "/sys/fs/cgroup");
	/* a hybrid host has it aside of the v1 controllers */
	expect_root("35 24 0:30 / /sys/fs/cgroup ro - tmpfs tmpfs ro\n"
		    "36 35 0:31 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
		    "37 35 0:32 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio\n",
		    0, "/sys/fs/cgroup/unified");
	/* a part of it, shown to a container */
	expect_root("35 24 0:30 /a.slice /mnt rw - cgroup2 cgroup2 rw\n", -EOPNOTSUPP, NULL);
	expect_root("35 24 0:30 / /a\\040b\\134c rw - cgroup2 cgroup2 rw\n", 0, "/a b\\c");
	expect_root("37 35 0:32 / /sys/fs/cgroup rw - cgroup cgroup rw\nx - cgroup2 \n\n",
		    -EOPNOTSUPP, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_has_its_own_line_and_no_other),
		cmocka_unit_test(what_is_not_there_is_told_apart),
		cmocka_unit_test(a_line_is_written_with_the_devices_number),
		cmocka_unit_test(nobodys_controllers_are_switched),
		cmocka_unit_test(cgroups_are_folders),
		cmocka_unit_test(the_hierarchy_is_found_where_it_is_mounted),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
