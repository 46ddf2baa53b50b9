/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/printable.h"

static void becomes(const char *s, const char *wanted)
{
	_cleanup_free_ char *copy = printable_copy(s);

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
	becomes("\364\217\277\275", "\364\217\277\275"); /* U+10FFFD */
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

/* C0 and DEL, C1, the ends of lines, the order of reading, noncharacters */
static void what_steers_a_terminal_is_replaced(void **state)
{
	(void)state;
	becomes("a\tb\rc", "a?b?c");
	becomes("\302\23331m \302\200 \302\237 \302\240", "??31m ?? ?? \302\240");
	becomes("a\342\200\250b\342\200\251c", "a???b???c");
	becomes("\342\200\256gpj\342\201\246.\330\234", "???gpj???.??");
	becomes("\342\200\213 \342\200\220 \342\200\257", "\342\200\213 \342\200\220 \342\200\257");
	becomes("\357\267\220 \357\277\277 \360\237\277\276", "??? ??? ????");
}

static void says(const char *s, size_t n, size_t at, const char *what)
{
	Unfit why;

	assert_false(is_printable(s, n, &why));
	assert_int_equal(why.at, at);
	assert_string_equal(why.what, what);
}

static void what_is_unfit_is_said_with_its_place(void **state)
{
	Unfit why;

	(void)state;
	assert_true(is_printable("", 0, &why));
	assert_true(is_printable("gr\303\274n", 5, &why));
	assert_true(is_printable("ab\033", 2, &why));
	says("gr\374n", 4, 2, "the byte 0xFC, which is not UTF-8");
	says("\303\274", 1, 0, "the byte 0xC3, which is not UTF-8"); /* cut */
	says("a\0b", 3, 1, "the control character U+0000");
	says("\302\233", 2, 0, "the control character U+009B");
	says("x\342\200\256", 4, 1, "the bidirectional control U+202E");
	says("x\342\200\251", 4, 1, "the line separator U+2029");
	says("\364\217\277\277", 4, 0, "the noncharacter U+10FFFF");
}

static void a_plain_name_is_letters_digits_and_few_marks(void **state)
{
	static const char *const good[] = { "nvme0", "rack1.b",    "_",
					    "0",     "R+D@home:2", "gr\303\274n" };
	static const char *const bad[] = { "",    "..",   "../x",    "nvme/",         "\033[31m",
					   "a b", "-x",   ".hidden", "a\tb",          "\303",
					   "$x",  "a\\b", "a=b",     "a\342\200\256b" };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(good); i++)
		assert_true(is_plain_name(good[i]));
	for (size_t i = 0; i < ELEMENTSOF(bad); i++)
		assert_false(is_plain_name(bad[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_valid_stays),
		cmocka_unit_test(bytes_that_are_none_are_replaced),
		cmocka_unit_test(overlong_forms_surrogates_and_what_lies_beyond_are_replaced),
		cmocka_unit_test(control_bytes_are_replaced),
		cmocka_unit_test(what_steers_a_terminal_is_replaced),
		cmocka_unit_test(what_is_unfit_is_said_with_its_place),
		cmocka_unit_test(a_plain_name_is_letters_digits_and_few_marks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
