/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"

static void a_number_is_the_whole_string_or_none(void **state)
{
	static const char *const bad[] = { "",     " 1",   "1 ",  "1x", "nan", "-nan", "inf",
					   "-inf", "0x10", "1,5", "1e", "--1", ".",    "e5" };
	double v = 42;

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
		assert_int_equal(parse_double(bad[i], &v), -EINVAL);
		assert_true(v == 42);
	}
	assert_int_equal(parse_double("1e999", &v), -ERANGE);
	assert_int_equal(parse_double("-1.5e3", &v), 0);
	assert_true(v == -1500);
}

static void an_unsigned_number_has_digits_alone_and_a_greatest_value(void **state)
{
	unsigned long v = 42;

	(void)state;
	assert_int_equal(parse_unsigned("-1", 10, &v), -EINVAL);
	assert_int_equal(parse_unsigned("+1", 10, &v), -EINVAL);
	assert_int_equal(parse_unsigned(" 1", 10, &v), -EINVAL);
	assert_int_equal(parse_unsigned("", 10, &v), -EINVAL);
	assert_int_equal(parse_unsigned("1k", 10, &v), -EINVAL);
	assert_int_equal(parse_unsigned("11", 10, &v), -ERANGE);
	assert_int_equal(parse_unsigned("99999999999999999999999", -1UL, &v), -ERANGE);
	assert_int_equal(v, 42);
	assert_int_equal(parse_unsigned("10", 10, &v), 0);
	assert_int_equal(v, 10);
}

static void a_truth_has_eight_spellings(void **state)
{
	static const char *const no[] = { "no", "false", "off", "0" };
	static const char *const yes[] = { "yes", "true", "on", "1" };
	bool b;

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(no); i++) {
		b = true;
		assert_int_equal(parse_bool(no[i], &b), 0);
		assert_false(b);
		assert_int_equal(parse_bool(yes[i], &b), 0);
		assert_true(b);
	}
	assert_int_equal(parse_bool("maybe", &b), -EINVAL);
	assert_int_equal(parse_bool("", &b), -EINVAL);
}

static void a_limit_needs_a_unit_and_a_possible_value(void **state)
{
	static const struct {
		const char *text;
		double value;
		LimitUnit unit;
	} good[] = {
		{ "80%", 80, LIMIT_PERCENT },   { "0%", 0, LIMIT_PERCENT },
		{ "100%", 100, LIMIT_PERCENT }, { "62.5 %", 62.5, LIMIT_PERCENT },
		{ "350W", 350, LIMIT_WATTS },   { "0.35kW", 350, LIMIT_WATTS },
		{ "2MW", 2e6, LIMIT_WATTS },    { "120mW", 0.12, LIMIT_WATTS },
		{ "350 W", 350, LIMIT_WATTS },  { "350w", 350, LIMIT_WATTS },
		{ "1.5kw", 1500, LIMIT_WATTS }, { "1 KW", 1000, LIMIT_WATTS },
	};
	static const char *const no_number[] = { "",     "80",   "W",    "%",    "80 percent",
						 "80%%", "nanW", "infW", "80mw", "1e3W" };
	static const char *const no_range[] = { "101%", "-1%", "-0W", "-5W", "101MW" };
	LimitUnit unit;
	double v;

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(good); i++) {
		assert_int_equal(parse_limit(good[i].text, &v, &unit), 0);
		assert_true(fabs(v - good[i].value) < 1e-9 * (1 + v));
		assert_int_equal(unit, good[i].unit);
	}
	for (size_t i = 0; i < ELEMENTSOF(no_number); i++)
		assert_int_equal(parse_limit(no_number[i], &v, &unit), -EINVAL);
	for (size_t i = 0; i < ELEMENTSOF(no_range); i++)
		assert_int_equal(parse_limit(no_range[i], &v, &unit), -ERANGE);
}

static void a_duration_adds_up_its_parts(void **state)
{
	static const struct {
		const char *text;
		uint64_t us;
	} good[] = {
		{ "90", 90 * USEC_PER_SEC },
		{ "90s", 90 * USEC_PER_SEC },
		{ "5min", 300 * USEC_PER_SEC },
		{ "5m", 300 * USEC_PER_SEC },
		{ "2h", 7200 * USEC_PER_SEC },
		{ "1d", 86400 * USEC_PER_SEC },
		{ "1h30min", 5400 * USEC_PER_SEC },
		{ "1h 30min", 5400 * USEC_PER_SEC },
		{ "500ms", 500 * USEC_PER_MSEC },
		{ "1.5s", 1500 * USEC_PER_MSEC },
		{ "7us", 7 },
		{ "2hours", 7200 * USEC_PER_SEC },
		{ "1 hour 30 minutes", 5400 * USEC_PER_SEC },
		{ "90min", 5400 * USEC_PER_SEC },
		{ "1day", 86400 * USEC_PER_SEC },
		{ "10 secs", 10 * USEC_PER_SEC },
		{ "366d", 366ULL * 86400 * USEC_PER_SEC },
	};
	static const char *const bad[] = {
		"",  "s",   "5x", "5in", "5hou", "5years", "5abcdefghijklmnopqrstuvw",
		"-", "nan", "1h-"
	};
	static const char *const no_range[] = { "0", "0s", "-5s", "367d", "1h-5min" };
	uint64_t us;

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(good); i++) {
		assert_int_equal(parse_duration_us(good[i].text, &us), 0);
		assert_int_equal(us, good[i].us);
	}
	for (size_t i = 0; i < ELEMENTSOF(bad); i++)
		assert_int_equal(parse_duration_us(bad[i], &us), -EINVAL);
	for (size_t i = 0; i < ELEMENTSOF(no_range); i++)
		assert_int_equal(parse_duration_us(no_range[i], &us), -ERANGE);
}

static void bytes_are_counted_in_powers_of_two(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} good[] = { { "4096", 4096 },     { "4K", 4096 },        { "4KiB", 4096 },
		     { "4 KiB", 4096 },    { "512B", 512 },       { "0", 0 },
		     { "1M", 1 << 20 },    { "1MiB", 1 << 20 },   { "1.5M", 3 << 19 },
		     { "2G", 2ULL << 30 }, { "1TiB", 1ULL << 40 } };
	static const char *const bad[] = { "", "K", "4X", "4KX", "4Kib", "nan" };
	uint64_t bytes;

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(good); i++) {
		assert_int_equal(parse_bytes(good[i].text, &bytes), 0);
		assert_int_equal(bytes, good[i].bytes);
	}
	for (size_t i = 0; i < ELEMENTSOF(bad); i++)
		assert_int_equal(parse_bytes(bad[i], &bytes), -EINVAL);
	assert_int_equal(parse_bytes("-1", &bytes), -ERANGE);
	assert_int_equal(parse_bytes("99999999T", &bytes), -ERANGE);
}

static void watts_are_shown_with_the_digits_that_count(void **state)
{
	char buf[32];

	(void)state;
	assert_string_equal(format_watts(buf, sizeof(buf), 312.44), "312.4 W");
	assert_string_equal(format_watts(buf, sizeof(buf), 0.35), "0.35 W");
	assert_string_equal(format_watts(buf, sizeof(buf), 12000), "12.00 kW");
	assert_string_equal(format_watts(buf, sizeof(buf), NAN), "-");
	assert_string_equal(format_watts(buf, sizeof(buf), INFINITY), "unlimited");
}

static void watts_never_overrun_the_buffer(void **state)
{
	char buf[4] = "";

	(void)state;
	assert_int_equal(strlen(format_watts(buf, sizeof(buf), 312.44)), 3);
}

static void a_duration_is_shown_as_it_would_be_typed(void **state)
{
	static const struct {
		uint64_t us;
		const char *text;
	} cases[] = {
		{ 120 * USEC_PER_MSEC, "120ms" }, { 45 * USEC_PER_SEC, "45s" },
		{ 2 * USEC_PER_SEC, "2s" },       { 90 * USEC_PER_SEC, "1min30s" },
		{ 300 * USEC_PER_SEC, "5min" },   { 5400 * USEC_PER_SEC, "1h30min" },
		{ 7200 * USEC_PER_SEC, "2h" },    { 86400 * USEC_PER_SEC, "1d" },
		{ 90000 * USEC_PER_SEC, "1d1h" }, { 7, "7us" },
		{ 1500 * USEC_PER_MSEC, "1.5s" },
	};
	char buf[32];
	uint64_t back;

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		assert_string_equal(format_duration(buf, sizeof(buf), cases[i].us), cases[i].text);
		assert_int_equal(parse_duration_us(buf, &back), 0);
		assert_int_equal(back, cases[i].us);
	}
	assert_string_equal(format_duration(buf, sizeof(buf), USEC_NEVER), "never");
}

static void words_are_split_at_blanks_and_commas(void **state)
{
	_cleanup_(strv_freep) char **v = strv_split(" a, bb\t,,c ");
	_cleanup_(strv_freep) char **none = strv_split(" ,\t");

	(void)state;
	assert_string_equal(v[0], "a");
	assert_string_equal(v[1], "bb");
	assert_string_equal(v[2], "c");
	assert_null(v[3]);
	assert_null(none[0]);
}

static void a_name_matches_any_of_the_globs(void **state)
{
	_cleanup_(strv_freep) char **globs = strv_split("nvme*, sd[a-c]");

	(void)state;
	assert_true(strv_match(globs, "nvme0n1"));
	assert_true(strv_match(globs, "sdb"));
	assert_false(strv_match(globs, "sdd"));
	assert_false(strv_match(globs, ""));
}

static void formatted_text_is_as_long_as_it_must_be(void **state)
{
	_cleanup_free_ char *s = text_printf("%0200d", 7);

	(void)state;
	assert_int_equal(strlen(s), 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_number_is_the_whole_string_or_none),
		cmocka_unit_test(an_unsigned_number_has_digits_alone_and_a_greatest_value),
		cmocka_unit_test(a_truth_has_eight_spellings),
		cmocka_unit_test(a_limit_needs_a_unit_and_a_possible_value),
		cmocka_unit_test(a_duration_adds_up_its_parts),
		cmocka_unit_test(bytes_are_counted_in_powers_of_two),
		cmocka_unit_test(watts_are_shown_with_the_digits_that_count),
		cmocka_unit_test(watts_never_overrun_the_buffer),
		cmocka_unit_test(a_duration_is_shown_as_it_would_be_typed),
		cmocka_unit_test(words_are_split_at_blanks_and_commas),
		cmocka_unit_test(a_name_matches_any_of_the_globs),
		cmocka_unit_test(formatted_text_is_as_long_as_it_must_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
