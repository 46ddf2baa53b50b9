/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ledger/intensity.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "flipped.h"

#define TEN 1795514400 /* 2026-11-24T10:00:00Z */

static Intensity parse(const char *text)
{
	Intensity i;
	unsigned line;

	assert_int_equal(intensity_parse(text, &i, &line), 0);
	return i;
}

static void a_figure_holds_until_the_next_and_a_day_at_most(void **state)
{
	_cleanup_(intensity_done) Intensity i =
		parse("# of the grid\n2026-11-24T10:00:00Z 381\n\n2026-11-24T11:00Z 30.5\n");

	(void)state;
	assert_true(isnan(intensity_at(&i, TEN - 1)));
	assert_true(intensity_at(&i, TEN) == 381);
	assert_true(intensity_at(&i, TEN + 3599) == 381);
	assert_true(intensity_at(&i, TEN + 3600) == 30.5);
	assert_true(intensity_at(&i, TEN + 3600 + INTENSITY_HOLDS_S - 1) == 30.5);
	assert_true(isnan(intensity_at(&i, TEN + 3600 + INTENSITY_HOLDS_S)));
}

static void tables_of_services_are_read_as_they_come(void **state)
{
	_cleanup_(intensity_done) Intensity i =
		parse("datetime,carbon_intensity,zone\r\n2026-11-24 10:00:00,381,DE\r\n"
		      "1795518000, 30\r\n");

	(void)state;
	assert_int_equal(i.n, 2);
	assert_true(intensity_at(&i, TEN) == 381);
	assert_true(intensity_at(&i, TEN + 3600) == 30);
}

static void a_line_that_makes_no_sense_is_named(void **state)
{
	static const char *const bad[] = {
		"2026-11-24T10:00:00Z\n",
		"yesterday 5\n",
		"2026-11-24T10:00:00Z -1\n",
		"1795514400 nan\n",
		"1795514400 1e9\n",
		"2026-13-24T10:00:00Z 4\n",
		"1795514300 1\n",
		"2026-11-24T10:00:00Z5 4\n",
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
		_cleanup_free_ char *text = NULL;
		Intensity series;
		unsigned line = 0;

		assert_true(asprintf(&text, "1795514300 1\n%s", bad[i]) > 0);
		assert_int_equal(intensity_parse(text, &series, &line), -EINVAL);
		assert_int_equal(line, 2);
	}
}

static void nothing_is_known_of_an_empty_file(void **state)
{
	_cleanup_(intensity_done) Intensity i = parse("");

	(void)state;
	assert_true(isnan(intensity_at(&i, TEN)));
}

static void any_bytes_are_read_or_refused(void **state)
{
	uint64_t seed = 4711;
	char text[200];

	(void)state;
	for (int n = 0; n < 20000; n++) {
		Intensity i = {};
		unsigned line;

		if (intensity_parse(any_text(&seed, text, sizeof(text)), &i, &line) >= 0)
			intensity_done(&i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_figure_holds_until_the_next_and_a_day_at_most),
		cmocka_unit_test(tables_of_services_are_read_as_they_come),
		cmocka_unit_test(a_line_that_makes_no_sense_is_named),
		cmocka_unit_test(nothing_is_known_of_an_empty_file),
		cmocka_unit_test(any_bytes_are_read_or_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
