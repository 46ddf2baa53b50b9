/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/quote.h"
#include "base/text.h"

static int make_folder(void **state)
{
	char *folder = strdup("/tmp/storpower-test-XXXXXX");

	*state = folder;
	return folder && mkdtemp(folder) ? chdir(folder) : -1;
}

/* All tests work in the folder; nothing in it has a blank in its name. */
static int remove_folder(void **state)
{
	_cleanup_free_ char *folder = *state;
	_cleanup_free_ char *command = text_printf("rm -r %s", folder);

	return command && chdir("/") == 0 ? system(command) : -1;
}

static void put(const char *path, const char *text)
{
	_cleanup_fclose_ FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
}

static void an_attribute_loses_one_newline_and_no_more(void **state)
{
	char buf[8];

	(void)state;
	put("attribute", "64\n");
	assert_int_equal(read_attribute("attribute", buf, sizeof(buf)), 0);
	assert_string_equal(buf, "64");
	put("attribute", "a\n\n");
	assert_int_equal(read_attribute("attribute", buf, sizeof(buf)), 0);
	assert_string_equal(buf, "a\n");
	put("attribute", "");
	assert_int_equal(read_attribute("attribute", buf, sizeof(buf)), 0);
	assert_string_equal(buf, "");
}

static void an_attribute_that_does_not_fit_is_refused(void **state)
{
	char buf[4];

	(void)state;
	put("attribute", "1234");
	assert_int_equal(read_attribute("attribute", buf, sizeof(buf)), -ENOBUFS);
	put("attribute", "123");
	assert_int_equal(read_attribute("attribute", buf, sizeof(buf)), 0);
	assert_string_equal(buf, "123");
	assert_int_equal(read_attribute("absent", buf, sizeof(buf)), -ENOENT);
}

static void writing_an_attribute_never_makes_a_file(void **state)
{
	(void)state;
	assert_int_equal(write_attribute("absent", "1"), -ENOENT);
	assert_int_equal(access("absent", F_OK), -1);
}

static void an_attribute_that_refuses_says_why(void **state)
{
	(void)state;
	assert_int_equal(write_attribute("/dev/full", "1"), -ENOSPC);
}

static void a_file_comes_back_whole_whatever_its_length(void **state)
{
	static const size_t lengths[] = { 0, 1, 4095, 4096, 4097, 3 * 4096 };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(lengths); i++) {
		_cleanup_free_ char *text = calloc(1, lengths[i] + 1), *back = NULL;

		memset(text, 'x', lengths[i]);
		put("file", text);
		assert_int_equal(read_file("file", &back), 0);
		assert_string_equal(back, text);
	}
}

static void a_file_of_over_64_mib_is_refused(void **state)
{
	char *text = NULL;

	(void)state;
	put("file", "");
	assert_int_equal(truncate("file", (64 << 20) + 1), 0);
	assert_int_equal(read_file("file", &text), -EFBIG);
	assert_null(text);
	assert_int_equal(read_file("absent", &text), -ENOENT);
	assert_int_equal(read_file(".", &text), -EIO);
}

static void an_atomic_write_replaces_and_leaves_nothing_else(void **state)
{
	_cleanup_free_ char *text = NULL;
	struct stat st;

	(void)state;
	put("state", "old and longer");
	assert_int_equal(write_file_atomic("state", "new", 0600), 0);
	assert_int_equal(read_file("state", &text), 0);
	assert_string_equal(text, "new");
	assert_int_equal(stat("state", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(access("state.new", F_OK), -1);
}

static void a_failed_atomic_write_leaves_the_old_file(void **state)
{
	_cleanup_free_ char *text = NULL;

	(void)state;
	put("state", "old");
	assert_int_equal(mkdir("state.new", 0700), 0);
	assert_int_equal(write_file_atomic("state", "new", 0600), -EEXIST);
	assert_int_equal(read_file("state", &text), 0);
	assert_string_equal(text, "old");
	assert_int_equal(rmdir("state.new"), 0);
	assert_int_equal(write_file_atomic("absent/state", "new", 0600), -ENOENT);
}

static void neither_half_a_file_nor_a_fifo_stops_an_atomic_write(void **state)
{
	_cleanup_free_ char *text = NULL;

	(void)state;
	assert_int_equal(mkfifo("state.new", 0600), 0); /* to open it would wait for ever */
	assert_int_equal(write_file_atomic("state", "one", 0600), 0);
	put("state.new", "half of a longer text");
	assert_int_equal(write_file_atomic("state", "two", 0600), 0);
	assert_int_equal(read_file("state", &text), 0);
	assert_string_equal(text, "two");
}

static void missing_folders_are_made_and_present_ones_do_no_harm(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(mkdir_parents("a/b/c", 0700), 0);
	assert_int_equal(mkdir_parents("a/b/c", 0700), 0);
	assert_int_equal(stat("a/b/c", &st), 0);
	assert_true(S_ISDIR(st.st_mode));
	put("a/file", "");
	assert_int_equal(mkdir_parents("a/file/c", 0700), -ENOTDIR);
}

static void an_earlier_folder_hides_the_same_name_in_a_later_one(void **state)
{
	static const char *const folders[] = { "etc", "absent", "usr", NULL };
	_cleanup_(strv_freep) char **paths = NULL;

	(void)state;
	assert_int_equal(mkdir_parents("etc", 0700), 0);
	assert_int_equal(mkdir_parents("usr/z.conf", 0700), 0);
	put("etc/b.conf", "");
	put("etc/README", "");
	put("etc/.hidden.conf", "");
	put("usr/b.conf", "");
	put("usr/a.conf", "");
	assert_int_equal(rmdir("usr/z.conf"), 0);
	assert_int_equal(list_files(folders, ".conf", &paths), 0);
	assert_string_equal(paths[0], "usr/a.conf");
	assert_string_equal(paths[1], "etc/b.conf");
	assert_null(paths[2]);
}

static void a_folder_is_not_listed_and_a_link_is(void **state)
{
	static const char *const folders[] = { "drop-ins", "later", NULL };
	_cleanup_(strv_freep) char **paths = NULL;

	(void)state;
	assert_int_equal(mkdir_parents("drop-ins/folder.conf", 0700), 0);
	assert_int_equal(mkdir_parents("later", 0700), 0);
	put("later/masked.conf", "key = value\n");
	assert_int_equal(symlink("/dev/null", "drop-ins/masked.conf"), 0);
	assert_int_equal(list_files(folders, ".conf", &paths), 0);
	assert_string_equal(paths[0], "drop-ins/masked.conf");
	assert_null(paths[1]);
}

static char *quoted(const char *text)
{
	char *buf = NULL;
	size_t size;
	FILE *f = open_memstream(&buf, &size);

	assert_non_null(f);
	quote_write(f, text);
	fclose(f);
	return buf;
}

static void any_text_survives_quoting_on_one_line(void **state)
{
	static const char *const texts[] = { "",
					     "plain",
					     "a \"b\" \\c\\",
					     "two\nlines\r\t\x01\x7f",
					     "grid \xe2\x9a\xa1",
					     "\\n is not a newline" };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
		_cleanup_free_ char *field = quoted(texts[i]), *back = NULL;
		const char *p = field;

		assert_null(strchr(field, '\n'));
		assert_int_equal(quote_read(&p, &back), 0);
		assert_string_equal(back, texts[i]);
		assert_true(*p == '\0');
	}
}

static void what_is_not_a_quoted_field_is_refused(void **state)
{
	static const char *const bad[] = { "",          "plain",    "\"open",  "\"\\",
					   "\"\\\"",    "\"\\q\"",  "\"\\x\"", "\"\\x4\"",
					   "\"\\x00\"", "\"\\xzz\"" };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
		const char *p = bad[i];
		char *text = NULL;

		assert_int_equal(quote_read(&p, &text), -EBADMSG);
		assert_null(text);
		assert_ptr_equal(p, bad[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_attribute_loses_one_newline_and_no_more),
		cmocka_unit_test(an_attribute_that_does_not_fit_is_refused),
		cmocka_unit_test(writing_an_attribute_never_makes_a_file),
		cmocka_unit_test(an_attribute_that_refuses_says_why),
		cmocka_unit_test(a_file_comes_back_whole_whatever_its_length),
		cmocka_unit_test(a_file_of_over_64_mib_is_refused),
		cmocka_unit_test(an_atomic_write_replaces_and_leaves_nothing_else),
		cmocka_unit_test(a_failed_atomic_write_leaves_the_old_file),
		cmocka_unit_test(neither_half_a_file_nor_a_fifo_stops_an_atomic_write),
		cmocka_unit_test(missing_folders_are_made_and_present_ones_do_no_harm),
		cmocka_unit_test(an_earlier_folder_hides_the_same_name_in_a_later_one),
		cmocka_unit_test(a_folder_is_not_listed_and_a_link_is),
		cmocka_unit_test(any_text_survives_quoting_on_one_line),
		cmocka_unit_test(what_is_not_a_quoted_field_is_refused),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
