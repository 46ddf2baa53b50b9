/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/utf8.h"

static void becomes(const char *s, const char *wanted)
{
	_cleanup_free_ char *copy = utf8_copy(s);

	assert_non_null(copy);
	assert_string_equal(copy, wanted);
}

static void what_is_valid_stays(void **state)
{
	(void)state;
	becomes("", "");
	becomes("system.slice/db.service", "system.slice/db.service");
	becomes("m\303\274ller \342\202\254 \360\237\222\276",
		"m\303\274ller \342\202\254 \360\237\222\276");
	becomes("\355\237\277 \356\200\200",
		"\355\237\277 \356\200\200");            /* beside the surrogates */
	becomes("\364\217\277\277", "\364\217\277\277"); /* U+10FFFF */
}

static void bytes_that_are_none_are_replaced(void **state)
{
	(void)state;
	becomes("\377fio", "?fio");
	becomes("m\374ller", "m?ller");
	becomes("cut \342\202", "cut ??");
	becomes("\200\277", "??");
	becomes("\303(", "?(");
}

static void overlong_forms_surrogates_and_what_lies_beyond_are_replaced(void **state)
{
	(void)state;
	becomes("\300\257", "??");
	becomes("\340\200\257", "???");
	becomes("\360\200\200\257", "????");
	becomes("\355\240\200", "???");
	becomes("\364\220\200\200", "????");
}

static void control_bytes_are_replaced(void **state)
{
	(void)state;
	becomes("a\nb\033[1m\177", "a?b?[1m?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_valid_stays),
		cmocka_unit_test(bytes_that_are_none_are_replaced),
		cmocka_unit_test(overlong_forms_surrogates_and_what_lies_beyond_are_replaced),
		cmocka_unit_test(control_bytes_are_replaced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
