/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/keys.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"

typedef enum Colour { RED, GREEN } Colour;

/* One member of each type that a key can have. */
typedef struct Thing {
	double number, watts, joules, share, seconds, kib;
	unsigned whole;
	uint64_t us, bytes;
	bool flag;
	char *text, *word;
	Colour colour;
	unsigned set;
	int custom;
} Thing;

typedef struct Things {
	Thing main, named;
	char name[16];
} Things;

static bool is_short(const char *s)
{
	return strlen(s) <= 5;
}

static int colour_from_name(const char *name)
{
	return streq(name, "red") ? RED : streq(name, "green") ? GREEN : -EINVAL;
}

static int set_from_list(const char *list, unsigned *ret)
{
	if (!streq(list, "a b"))
		return -EINVAL;
	*ret = 3;
	return 0;
}

static int take_even(const IniLine *l, void *member)
{
	unsigned long n;
	int r = parse_unsigned(l->value, 100, &n);

	if (r < 0 || n % 2)
		return r < 0 ? r : -EINVAL;
	*(int *)member = (int)n;
	return 0;
}

static int take_silently(const IniLine *l, void *member)
{
	(void)member;
	return streq(l->value, "full") ? -ENOMEM : ini_complain(l, "its own words");
}

static const Key keys[] = {
	{ "number", KEY_NUMBER, KEY_AT(Thing, number), .min = 0.5, .max = 1e6 },
	{ "whole", KEY_UNSIGNED, KEY_AT(Thing, whole), .min = 1, .max = 64 },
	{ "watts", KEY_WATTS, KEY_AT(Thing, watts), .max = 1000 },
	{ "any_watts", KEY_WATTS, KEY_AT(Thing, watts) },
	{ "joules", KEY_JOULES, KEY_AT(Thing, joules), .max = 5 },
	{ "share", KEY_SHARE, KEY_AT(Thing, share) },
	{ "some_share", KEY_SHARE, KEY_AT(Thing, share), .min = DBL_MIN, .expected = "above 0" },
	{ "us", KEY_DURATION, KEY_AT(Thing, us), .max = 3600e6 },
	{ "seconds", KEY_DURATION, KEY_AT(Thing, seconds), .min = 1, .per = 1e6 },
	{ "bytes", KEY_BYTES, KEY_AT(Thing, bytes), .min = 512, .max = 64 << 20 },
	{ "kib", KEY_BYTES, KEY_AT(Thing, kib), .per = 1024 },
	{ "flag", KEY_BOOL, KEY_AT(Thing, flag) },
	{ "text", KEY_TEXT, KEY_AT(Thing, text), .many = true },
	{ "word", KEY_TEXT_OR_NULL, KEY_AT(Thing, word), .is_valid = is_short,
	  .expected = "five letters at most" },
	{ "colour", KEY_NAME, KEY_AT(Thing, colour), .from_name = colour_from_name,
	  .expected = "red or green" },
	{ "set", KEY_SET, KEY_AT(Thing, set), .from_list = set_from_list, .expected = "a b" },
	{ "even", KEY_CUSTOM, KEY_AT(Thing, custom), .take = take_even,
	  .expected = "an even number" },
	{ "silent", KEY_CUSTOM, .take = take_silently },
};

static const Key few_keys[] = { { "whole", KEY_UNSIGNED, KEY_AT(Thing, whole) },
				{ "flag", KEY_BOOL, KEY_AT(Thing, flag) } };

static int open_named(const IniLine *l, const char *rest, void *userdata, void **ret)
{
	Things *t = userdata;

	if (streq(rest, "bad"))
		return ini_complain(l, "a bad name");
	if (!*rest)
		return -ENOENT;
	snprintf(t->name, sizeof(t->name), "%s", rest);
	*ret = &t->named;
	return 0;
}

static const KeySection sections[] = {
	{ "thing", NULL, KEY_LIST(keys) }, /* `main` is the first member of Things */
	{ "other", "NAME", KEY_LIST(few_keys), .open = open_named },
	{ "free", NULL, KEY_LIST(keys), .many = true },
};

static int apply(Things *t, const char *section, const char *key, const char *value)
{
	return keys_apply(sections, ELEMENTSOF(sections),
			  &(IniLine){ "etc/x.conf", 7, section, key, value }, t);
}

/* The same, with what is said on stderr. */
static int apply_heard(Things *t, const char *const line[3], char said[1024])
{
	_cleanup_fclose_ FILE *f = tmpfile();
	_cleanup_close_ int saved = dup(STDERR_FILENO);
	size_t n;
	int r;

	assert_non_null(f);
	assert_true(dup2(fileno(f), STDERR_FILENO) >= 0);
	r = apply(t, line[0], line[1], line[2]);
	assert_true(dup2(saved, STDERR_FILENO) >= 0);
	rewind(f);
	n = fread(said, 1, 1023, f);
	said[n] = '\0';
	return r;
}

static Things blank(void)
{
	return (Things){};
}

static void done(Things *t)
{
	free(t->main.text);
	free(t->main.word);
}

static void a_good_value_of_each_type_is_taken(void **state)
{
	static const char *const lines[][2] = {
		{ "number", "1e3" },   { "whole", "64" },  { "watts", "0.35kW" },
		{ "joules", "25 mJ" }, { "share", "35%" }, { "us", "1min30s" },
		{ "seconds", "1.5s" }, { "bytes", "64M" }, { "kib", "16K" },
		{ "flag", "on" },      { "text", "" },     { "word", "abcde" },
		{ "colour", "green" }, { "set", "a b" },   { "even", "42" },
	};
	Things t = blank();

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(lines); i++)
		assert_int_equal(apply(&t, "thing", lines[i][0], lines[i][1]), 0);
	assert_true(t.main.number == 1000 && t.main.whole == 64 && t.main.watts == 350);
	assert_true(t.main.joules == 0.025 && t.main.share == 0.35);
	assert_true(t.main.us == 90000000 && t.main.seconds == 1.5);
	assert_true(t.main.bytes == 64 << 20 && t.main.kib == 16);
	assert_true(t.main.flag && t.main.colour == GREEN && t.main.set == 3);
	assert_string_equal(t.main.text, "");
	assert_string_equal(t.main.word, "abcde");
	assert_int_equal(t.main.custom, 42);
	done(&t);
}

static void the_ends_of_a_range_belong_to_it(void **state)
{
	Things t = blank();

	(void)state;
	assert_int_equal(apply(&t, "thing", "number", "0.5"), 0);
	assert_int_equal(apply(&t, "thing", "number", "1000000"), 0);
	assert_int_equal(apply(&t, "thing", "whole", "1"), 0);
	assert_int_equal(apply(&t, "thing", "watts", "0W"), 0);
	assert_int_equal(apply(&t, "thing", "any_watts", "100MW"), 0);
	assert_int_equal(apply(&t, "thing", "share", "100%"), 0);
	assert_int_equal(apply(&t, "thing", "us", "0"), 0);
	assert_int_equal(t.main.us, 0);
	assert_int_equal(apply(&t, "thing", "us", "1h"), 0);
	assert_int_equal(apply(&t, "thing", "bytes", "512"), 0);
}

static void nothing_makes_null_of_a_text_that_may_be_absent(void **state)
{
	Things t = blank();

	(void)state;
	assert_int_equal(apply(&t, "thing", "word", "abc"), 0);
	assert_int_equal(apply(&t, "thing", "word", ""), 0);
	assert_null(t.main.word);
}

/* Everything after the prefix that names file and line. */
static const struct Complaint {
	const char *line[3];
	int error;
	const char *says;
} complaints[] = {
	{ { "thing", "number", "heavy" },
	  -EINVAL,
	  "number: expected a number from 0.5 to 1000000, but \"heavy\" is not a number" },
	{ { "thing", "number", "0.4" },
	  -EINVAL,
	  "number: expected a number from 0.5 to 1000000, but \"0.4\" is not a number in range" },
	{ { "thing", "whole", "2.5" },
	  -EINVAL,
	  "whole: expected a whole number from 1 to 64, but \"2.5\" is not a whole number" },
	{ { "thing", "whole", "65" },
	  -EINVAL,
	  "whole: expected a whole number from 1 to 64, but \"65\" is not a whole number in range" },
	{ { "thing", "watts", "40" },
	  -EINVAL,
	  "watts: expected watts from 0W to 1000W, but \"40\" is not watts" },
	{ { "thing", "watts", "1001W" },
	  -EINVAL,
	  "watts: expected watts from 0W to 1000W, but \"1001W\" is not watts in range" },
	{ { "thing", "any_watts", "5%" },
	  -EINVAL,
	  "any_watts: expected watts such as 40W or 350mW, but \"5%\" is not watts" },
	{ { "thing", "joules", "5" },
	  -EINVAL,
	  "joules: expected joules from 0J to 5J, but \"5\" is not joules" },
	{ { "thing", "joules", "-1J" },
	  -EINVAL,
	  "joules: expected joules from 0J to 5J, but \"-1J\" is not joules in range" },
	{ { "thing", "share", "7W" },
	  -EINVAL,
	  "share: expected a percentage from 0% to 100%, but \"7W\" is not a percentage" },
	{ { "thing", "share", "101%" },
	  -EINVAL,
	  "share: expected a percentage from 0% to 100%, but \"101%\" is not a percentage in range" },
	{ { "thing", "some_share", "0%" },
	  -EINVAL,
	  "some_share: expected above 0, but \"0%\" is not a percentage in range" },
	{ { "thing", "us", "soon" },
	  -EINVAL,
	  "us: expected a time from 0us to 1h, but \"soon\" is not a time" },
	{ { "thing", "us", "2h" },
	  -EINVAL,
	  "us: expected a time from 0us to 1h, but \"2h\" is not a time in range" },
	{ { "thing", "seconds", "0" },
	  -EINVAL,
	  "seconds: expected a time such as 90s, 15min or 2h, but \"0\" is not a time in range" },
	{ { "thing", "bytes", "64X" },
	  -EINVAL,
	  "bytes: expected a size from 512 to 64M, but \"64X\" is not a size" },
	{ { "thing", "bytes", "1G" },
	  -EINVAL,
	  "bytes: expected a size from 512 to 64M, but \"1G\" is not a size in range" },
	{ { "thing", "flag", "maybe" },
	  -EINVAL,
	  "flag: expected yes or no, but \"maybe\" is neither yes nor no" },
	{ { "thing", "word", "abcdef" },
	  -EINVAL,
	  "word: expected five letters at most, but \"abcdef\" is something else" },
	{ { "thing", "colour", "blue" },
	  -EINVAL,
	  "colour: expected red or green, but \"blue\" is something else" },
	{ { "thing", "set", "c" }, -EINVAL, "set: expected a b, but \"c\" is something else" },
	{ { "thing", "even", "101" },
	  -EINVAL,
	  "even: expected an even number, but \"101\" is something else" },
	{ { "thing", "silent", "x" }, -EINVAL, "its own words" },
	{ { "thing", "size", "1" },
	  -ENOENT,
	  "unknown key \"size\": [thing] has no key \"size\", only: number, whole, watts, " },
	{ { "other a", "size", "1" },
	  -ENOENT,
	  "unknown key \"size\": [other a] has no key \"size\", only: whole, flag\n" },
	{ { "others", "size", "1" },
	  -ENOENT,
	  "unknown section [others]: expected [thing], [other NAME], [free]\n" },
	{ { "other", "flag", "1" }, -ENOENT, "unknown section [other]: expected [thing]" },
	{ { "other ", "flag", "1" }, -ENOENT, "unknown section [other ]: expected [thing]" },
	{ { "thing x", "flag", "1" }, -ENOENT, "unknown section [thing x]: expected [thing]" },
	{ { "other bad", "flag", "1" }, -EINVAL, "a bad name\n" },
	{ { "", "flag", "1" },
	  -ENOENT,
	  "\"flag\" stands before any section: expected [thing], [other NAME], [free] above it\n" },
	{ { "", NULL, "" },
	  -ENOENT,
	  "unknown section []: expected [thing], [other NAME], [free]\n" },
};

static void a_complaint_says_where_and_what_would_be_right_and_nothing_is_changed(void **state)
{
	(void)state;
	for (const struct Complaint *c = complaints; c < complaints + ELEMENTSOF(complaints); c++) {
		Things t = blank(), before = t;
		_cleanup_free_ char *expected = text_printf("<4>etc/x.conf:7: %s", c->says);
		char said[1024];

		assert_int_equal(apply_heard(&t, c->line, said), c->error);
		if (strncmp(said, expected, strlen(expected)) != 0)
			fail_msg("expected: %s\nsaid: %s", expected, said);
		assert_int_equal(strchr(said, '\n') - said, strlen(said) - 1);
		assert_memory_equal(&t.main, &before.main, sizeof(t.main));
	}
}

static int apply_line(Things *t, const IniLine *l)
{
	return keys_apply(sections, ELEMENTSOF(sections), l, t);
}

static void a_key_that_is_there_twice_is_refused_the_second_time(void **state)
{
	IniLine again = { "x", 9, "thing", "whole", "3", .key_before = 4 };
	Things t = blank();

	(void)state;
	assert_int_equal(apply(&t, "thing", "whole", "2"), 0);
	assert_int_equal(apply_line(&t, &again), -EINVAL);
	assert_int_equal(t.main.whole, 2);
	again.key = "text"; /* there may be many of them */
	assert_int_equal(apply_line(&t, &again), 0);
	assert_string_equal(t.main.text, "3");
	done(&t);
}

static void a_section_that_is_there_twice_is_refused_the_second_time(void **state)
{
	IniLine heading = { "x", 9, "other a", .section_line = 9, .section_before = 4 };
	IniLine again = { "x", 10, "other a", "whole", "3", 9, 4 };
	Things t = blank();

	(void)state;
	assert_int_equal(apply_line(&t, &heading), -EINVAL);
	assert_int_equal(apply_line(&t, &again), 0); /* complained of at the heading */
	assert_int_equal(t.named.whole, 0);
	again.section = "free";
	assert_int_equal(apply_line(&t, &again), 0);
	assert_int_equal(t.main.whole, 3);
}

static void below_an_unknown_heading_nothing_is_used_or_complained_of(void **state)
{
	IniLine heading = { "x", 9, "others a", .section_line = 9 };
	IniLine key = { "x", 10, "others a", "whole", "3", 9 };
	Things t = blank();

	(void)state;
	assert_int_equal(apply_line(&t, &heading), -ENOENT);
	assert_int_equal(apply_line(&t, &key), 0);
	assert_int_equal(t.main.whole, 0);
	assert_int_equal(t.named.whole, 0);
}

static void a_section_with_a_name_finds_its_own_struct(void **state)
{
	Things t = blank();

	(void)state;
	assert_int_equal(apply(&t, "other a  b", "whole", "9"), 0);
	assert_string_equal(t.name, "a  b");
	assert_int_equal(t.named.whole, 9);
	assert_int_equal(t.main.whole, 0);
}

static void a_heading_opens_its_section_alone(void **state)
{
	Things t = blank();

	(void)state;
	assert_int_equal(apply(&t, "other c", NULL, ""), 0);
	assert_string_equal(t.name, "c");
	assert_int_equal(apply(&t, "thing", NULL, ""), 0);
}

static void lack_of_memory_is_no_mistake_of_the_file(void **state)
{
	Things t = blank();
	char said[1024];

	(void)state;
	assert_int_equal(apply_heard(&t, (const char *[]){ "thing", "silent", "full" }, said),
			 -ENOMEM);
	assert_string_equal(said, "");
}

static void what_is_known_can_be_asked(void **state)
{
	(void)state;
	assert_true(keys_have(keys, ELEMENTSOF(keys), "text"));
	assert_false(keys_have(few_keys, ELEMENTSOF(few_keys), "text"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_value_of_each_type_is_taken),
		cmocka_unit_test(the_ends_of_a_range_belong_to_it),
		cmocka_unit_test(nothing_makes_null_of_a_text_that_may_be_absent),
		cmocka_unit_test(
			a_complaint_says_where_and_what_would_be_right_and_nothing_is_changed),
		cmocka_unit_test(a_key_that_is_there_twice_is_refused_the_second_time),
		cmocka_unit_test(a_section_that_is_there_twice_is_refused_the_second_time),
		cmocka_unit_test(below_an_unknown_heading_nothing_is_used_or_complained_of),
		cmocka_unit_test(a_section_with_a_name_finds_its_own_struct),
		cmocka_unit_test(a_heading_opens_its_section_alone),
		cmocka_unit_test(lack_of_memory_is_no_mistake_of_the_file),
		cmocka_unit_test(what_is_known_can_be_asked),
	};

	unsetenv("JOURNAL_STREAM");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
