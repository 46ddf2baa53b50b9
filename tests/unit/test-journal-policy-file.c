/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "flipped.h"
#include "journal/policy-file.h"
#include "test-folder.h"

#define CHOICE                                                                                     \
	(PolicyChoice)                                                                             \
	{                                                                                          \
		.name = (char *)"saver", .configured = (char *)"balanced",                         \
		.by = (char *)"\"a\" b (root)", .realtime_us = 1700000000123456                    \
	}

static void what_was_chosen_is_known_by_the_next_that_reads_it(void **state)
{
	_cleanup_(policy_choice_done) PolicyChoice c = {};

	(void)state;
	assert_int_equal(policy_choice_write("policy", &CHOICE), 0);
	assert_int_equal(policy_choice_read("policy", &c), 0);
	assert_string_equal(c.name, "saver");
	assert_string_equal(c.configured, "balanced");
	assert_string_equal(c.by, "\"a\" b (root)");
	assert_int_equal(c.realtime_us, 1700000000123456);
}

static void nothing_chosen_is_no_file(void **state)
{
	_cleanup_(policy_choice_done) PolicyChoice c = {};

	(void)state;
	assert_int_equal(policy_choice_read("policy", &c), 0);
	assert_null(c.name);
	assert_int_equal(policy_choice_write("policy", &(PolicyChoice){}), 0);
	assert_int_equal(policy_choice_write("policy", &CHOICE), 0);
	assert_int_equal(policy_choice_write("policy", &(PolicyChoice){}), 0);
	assert_int_equal(access("policy", F_OK), -1);
	assert_int_equal(policy_choice_write("no-folder/policy", &CHOICE), -ENOENT);
}

static void a_name_that_leads_out_of_its_folder_is_none(void **state)
{
	_cleanup_(policy_choice_done) PolicyChoice c = {};
	PolicyChoice other = CHOICE;

	(void)state;
	other.name = (char *)"../../etc/passwd";
	assert_int_equal(policy_choice_write("policy", &other), 0);
	assert_int_equal(policy_choice_read("policy", &c), 0);
	assert_null(c.name);
}

static void every_flipped_bit_is_noticed(void **state)
{
	_cleanup_free_ char *text = NULL;
	size_t n;

	(void)state;
	assert_int_equal(policy_choice_write("policy", &CHOICE), 0);
	assert_int_equal(read_bytes("policy", &text, &n), 0);
	for (size_t at = 0; flip(text, n, at); flip(text, n, at), at++) {
		_cleanup_(policy_choice_done) PolicyChoice c = {};
		int r;

		assert_int_equal(write_bytes_atomic("policy", text, n, 0644), 0);
		r = policy_choice_read("policy", &c);
		assert_true(r == 0 || r == -EPROTONOSUPPORT);
		assert_true(!c.name || streq(c.name, "saver"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		file_test(what_was_chosen_is_known_by_the_next_that_reads_it),
		file_test(nothing_chosen_is_no_file),
		file_test(a_name_that_leads_out_of_its_folder_is_none),
		file_test(every_flipped_bit_is_noticed),
	};

	log_set_max_level(-1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
