/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What was meant by a word that nobody knows. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "ctl/suggest.h"

static void a_distance_counts_what_fingers_do(void **state)
{
	static const struct {
		const char *a, *b;
		size_t distance;
	} cases[] = {
		{ "", "", 0 },
		{ "", "abc", 3 },
		{ "status", "status", 0 },
		{ "stauts", "status", 1 },
		{ "sttus", "status", 1 },
		{ "sstatus", "status", 1 },
		{ "ststus", "status", 1 },
		{ "ab", "ba", 1 },
		{ "abc", "ca", 3 },
		{ "kitten", "sitting", 3 },
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		assert_int_equal(suggest_distance(cases[i].a, cases[i].b), cases[i].distance);
		assert_int_equal(suggest_distance(cases[i].b, cases[i].a), cases[i].distance);
	}
}

static void the_nearest_is_meant_or_none(void **state)
{
	static const char *const names[] = { "status", "set", "clear", "list", "plan", NULL };

	(void)state;
	assert_string_equal(suggest("stauts", names), "status");
	assert_string_equal(suggest("paln", names), "plan");
	assert_string_equal(suggest("lst", names), "list");
	assert_string_equal(suggest("stat", names), "status");
	assert_string_equal(suggest("cl", names), "clear");
	assert_null(suggest("s", names));
	assert_null(suggest("frobnicate", names));
	assert_null(suggest("xy", names));
	assert_null(suggest("", names));
	assert_null(suggest("mod", (const char *const[]){ "modelled", "moderate", NULL }));
	assert_null(suggest("status", (const char *const[]){ NULL }));
	assert_null(suggest("status", NULL));
}

static void a_word_of_any_length_does_no_harm(void **state)
{
	static const char *const names[] = { "status", NULL };
	char word[4096];

	(void)state;
	memset(word, 's', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	assert_null(suggest(word, names));
	assert_int_equal(suggest_distance(word, word), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_distance_counts_what_fingers_do),
		cmocka_unit_test(the_nearest_is_meant_or_none),
		cmocka_unit_test(a_word_of_any_length_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
