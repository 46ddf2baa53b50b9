/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "flipped.h"
#include "journal/operating-file.h"
#include "test-folder.h"

static OperatingBook *open_book(const char *path)
{
	OperatingBook *b = NULL;

	assert_int_equal(operating_book_open(path, &b), 0);
	assert_non_null(b);
	return b;
}

static void what_is_noted_is_known_by_the_next_that_opens_it(void **state)
{
	_cleanup_(operating_book_freep) OperatingBook *b = open_book("operating"), *again = NULL;

	(void)state;
	assert_true(operating_book_get(b, "nvme:A") == 0);
	assert_int_equal(access("operating", F_OK), -1); /* asking writes nothing */
	assert_int_equal(operating_book_set(b, "nvme:A", 14.1), 0);
	assert_int_equal(operating_book_set(b, "wwid:\"b\" c", 9.3), 0);
	assert_int_equal(operating_book_set(b, "nvme:A", 14.6), 0);
	again = open_book("operating");
	assert_true(operating_book_get(again, "nvme:A") == 14.6);
	assert_true(operating_book_get(again, "wwid:\"b\" c") == 9.3);
	assert_true(operating_book_get(again, "nvme:B") == 0);
}

static void without_a_path_it_is_kept_in_memory(void **state)
{
	_cleanup_(operating_book_freep) OperatingBook *b = open_book(NULL);

	(void)state;
	assert_int_equal(operating_book_set(b, "nvme:A", 14.6), 0);
	assert_true(operating_book_get(b, "nvme:A") == 14.6);
	assert_null(operating_book_free(NULL));
}

static void what_cannot_be_written_holds_for_this_run(void **state)
{
	_cleanup_(operating_book_freep) OperatingBook *b = open_book("no-folder/operating");

	(void)state;
	assert_int_equal(operating_book_set(b, "nvme:A", 14.6), -ENOENT);
	assert_true(operating_book_get(b, "nvme:A") == 14.6);
}

static void watts_that_no_device_draws_are_left_out(void **state)
{
	_cleanup_(operating_book_freep) OperatingBook *b = open_book("operating"), *again = NULL;

	(void)state;
	assert_int_equal(operating_book_set(b, "nvme:A", 1e6), 0);
	assert_int_equal(operating_book_set(b, "nvme:B", -1), 0);
	assert_int_equal(operating_book_set(b, "nvme:C", 12), 0);
	again = open_book("operating");
	assert_true(operating_book_get(again, "nvme:A") == 0);
	assert_true(operating_book_get(again, "nvme:B") == 0);
	assert_true(operating_book_get(again, "nvme:C") == 12);
	assert_int_equal(access("operating.damaged", F_OK), 0);
}

static void another_version_is_not_read(void **state)
{
	OperatingBook *b = NULL;

	(void)state;
	assert_int_equal(write_file_atomic("operating", "storpower-operating 3 #b9c47153\n", 0644),
			 0);
	assert_int_equal(operating_book_open("operating", &b), -EPROTONOSUPPORT);
	assert_null(b);
}

static void every_flipped_bit_is_noticed_and_what_is_whole_is_kept(void **state)
{
	_cleanup_(operating_book_freep) OperatingBook *b = open_book("operating");
	_cleanup_free_ char *text = NULL;
	size_t n;

	(void)state;
	assert_int_equal(operating_book_set(b, "a", 14.6), 0);
	assert_int_equal(operating_book_set(b, "b", 9.3), 0);
	assert_int_equal(read_bytes("operating", &text, &n), 0);
	for (size_t at = 0; flip(text, n, at); flip(text, n, at), at++) {
		_cleanup_(operating_book_freep) OperatingBook *other = NULL;
		double a, of_b;
		int r;

		assert_int_equal(write_bytes_atomic("operating", text, n, 0644), 0);
		r = operating_book_open("operating", &other);
		if (r == -EPROTONOSUPPORT) /* the version */
			continue;
		assert_int_equal(r, 0);
		a = operating_book_get(other, "a");
		of_b = operating_book_get(other, "b");
		assert_true((a == 14.6 || a == 0) && (of_b == 9.3 || of_b == 0));
		/* a line's end joins two of them */
		assert_true(a == 14.6 || of_b == 9.3 || (char)(text[at / 8] ^ 1 << at % 8) == '\n');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		file_test(what_is_noted_is_known_by_the_next_that_opens_it),
		file_test(without_a_path_it_is_kept_in_memory),
		file_test(what_cannot_be_written_holds_for_this_run),
		file_test(watts_that_no_device_draws_are_left_out),
		file_test(another_version_is_not_read),
		file_test(every_flipped_bit_is_noticed_and_what_is_whole_is_kept),
	};

	log_set_max_level(-1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
