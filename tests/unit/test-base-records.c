/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/records.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/log.h"
#include "base/set-aside.h"
#include "base/text.h"
#include "flipped.h"

typedef struct Thing {
	char *name, *note;
	uint64_t count;
	double number;
} Thing;

/* What a file was read to. */
typedef struct Things {
	Thing all[8];
	size_t n;
} Things;

static int take_thing(void *record, void *userdata)
{
	Things *t = userdata;
	Thing *thing = record;

	if (streq(thing->name, "nonsense"))
		return -EINVAL;
	assert_true(t->n < ELEMENTSOF(t->all));
	t->all[t->n++] = *thing;
	*thing = (Thing){ 0 };
	return 0;
}

static const RecordKind thing_kind = {
	.name = "thing",
	.size = sizeof(Thing),
	.take = take_thing,
	.fields = {
		FIELD(Thing, name, "name"),
		FIELD(Thing, count, "count"),
		FIELD(Thing, number, "number"),
		FIELD_OPTIONAL(Thing, note, "note"),
	},
};

static const RecordKind *const kinds[] = { &thing_kind, NULL };
static const RecordsFormat format = { .name = "things", .kinds = kinds, .loss = "lost" };
static const RecordsFormat log_format = {
	.name = "things", .kinds = kinds, .loss = "lost", .appended = true
};

#define HEAD  "storpower-things 2 #3f4f023c\n"
#define ONE   "thing name=\"one\" count=1 number=0.1 #1ff3060b\n"
#define TWO   "thing name=\"two\" count=2 number=2 #99fa3b65\n"
#define THREE "thing name=\"three\" count=3 number=3 #b7f411cd\n"

static void things_clear(Things *t)
{
	for (size_t i = 0; i < t->n; i++) {
		free(t->all[i].name);
		free(t->all[i].note);
	}
	*t = (Things){ 0 };
}

static int read_things(Things *t, const char *text, size_t n)
{
	things_clear(t);
	return records_read(&format, "test", text, n, t);
}

/* What its lines are left of, as names one behind the other. */
static void check(const RecordsFormat *f, const char *text, int found, const char *names)
{
	_cleanup_(things_clear) Things t = { 0 };
	char all[64] = "";

	assert_int_equal(records_read(f, "test", text, strlen(text), &t), found);
	for (size_t i = 0; i < t.n; i++)
		strcat(all, t.all[i].name);
	assert_string_equal(all, names);
}

static char *written(const Thing *things, size_t count, size_t *ret_n)
{
	RecordsWriter w;
	char *text = NULL;

	assert_int_equal(records_begin(&w, "things"), 0);
	for (size_t i = 0; i < count; i++)
		records_add(&w, &thing_kind, &things[i]);
	assert_int_equal(records_end(&w, &text, ret_n), 0);
	assert_int_equal(strlen(text), *ret_n);
	return text;
}

static void the_text_is_one_a_person_can_read(void **state)
{
	static const Thing things[] = {
		{ (char *)"one", NULL, 1, 0.1 },
		{ (char *)"a \"b\"\n", (char *)"", 0, -1e300 },
	};
	_cleanup_free_ char *text = NULL;
	size_t n;

	(void)state;
	text = written(things, ELEMENTSOF(things), &n);
	assert_string_equal(
		text, HEAD ONE
		"thing name=\"a \\\"b\\\"\\n\" count=0 number=-1e+300 note=\"\" #6dc210d4\n");
}

static void what_is_appended_has_no_first_line(void **state)
{
	_cleanup_free_ char *text = NULL;
	RecordsWriter w;
	size_t n;

	(void)state;
	assert_int_equal(records_begin(&w, NULL), 0);
	records_add(&w, &thing_kind, &(Thing){ .name = (char *)"one", .count = 1, .number = 0.1 });
	assert_int_equal(records_end(&w, &text, &n), 0);
	assert_string_equal(text, ONE);
}

static void a_line_that_makes_no_sense_costs_itself_only(void **state)
{
	static const char *const wrong[] = {
		"\n",
		"# a comment\n",
		"thing name=\"two\" count=2 number=2\n",
		"thin name=\"two\" count=2 number=2 #dbbcd43c\n", /* no such record */
		"thing name=\"two\" count=2 number=2 colour=\"red\" #58243cbb\n", /* no such field
										   */
		"thing name=\"two\" name=\"two\" count=2 number=2 #bdc0c66f\n", /* a field twice */
		"thing name=\"two\" count=2 #4dcdf8e9\n",           /* a field too few */
		"thing name=\"two\" count=-2 number=2 #abb0b148\n", /* no count */
		"thing name=\"two\" count=18446744073709551616 number=2 #d0e491c5\n",
		"thing name=\"two\" count=2 number=nan #08ba096a\n", /* no number */
		"thing name=\"two\" count=2 number=1e400 #324bf215\n",
		"thing name=\"two\" count=2 number= #ccd4ca15\n",
		"thing name=\"two\"  count=2 number=2 #4b446e0b\n", /* two blanks */
		"thing \"two\" 2 2 \"note\" \"more\" #4ac1507a\n",  /* a value too many */
		"thing name=\"two\"count=2 number=2 #1b2150c3\n",   /* nothing between two fields */
		"thing name=\"nonsense\" count=2 number=2 #22c93c1a\n", /* what take() refuses */
		" #811c9dc5\n", /* an empty line, with its checksum */
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(wrong); i++) {
		_cleanup_free_ char *text = text_printf(HEAD ONE "%s" THREE, wrong[i]);

		check(&format, text, RECORDS_DAMAGED, "onethree");
		check(&log_format, text, RECORDS_DAMAGED, "onethree");
	}
}

static void the_first_line_says_what_the_file_is(void **state)
{
	(void)state;
	check(&format, HEAD, 0, "");
	check(&format, HEAD HEAD ONE, 0, "one");
	check(&format, "", RECORDS_DAMAGED, "");
	check(&log_format, "", 0, "");
	check(&format, ONE, RECORDS_DAMAGED, "one");
	check(&format, "rubbish\n", RECORDS_DAMAGED, "");
	check(&format, "storpower-others 2 #32d487d6\n", RECORDS_DAMAGED, ""); /* another file */
	check(&format, "storpower-things 3 #404f03cf\n", -EPROTONOSUPPORT, "");
	check(&format, "storpower-things 11 #2667a68c\n" ONE, -EPROTONOSUPPORT, "");
	check(&format, "storpower-things 3 boot=x #fb711998\n" ONE, -EPROTONOSUPPORT,
	      "");                                                          /* of whatever form */
	check(&format, "storpower-things 3\n" ONE, RECORDS_DAMAGED, "one"); /* only damaged */
}

static void an_unfinished_line_is_no_damage_where_lines_are_appended(void **state)
{
	static const char whole[] = HEAD ONE TWO;
	const size_t to_one = strlen(HEAD ONE);

	(void)state;
	for (size_t n = to_one + 1; n < strlen(whole); n++) {
		_cleanup_free_ char *text = strndup(whole, n);
		const char *names =
			n == strlen(whole) - 1 ? "onetwo" : "one"; /* but for its newline */

		check(&log_format, text, RECORDS_UNFINISHED, names);
		check(&format, text, n == strlen(whole) - 1 ? RECORDS_UNFINISHED : RECORDS_DAMAGED,
		      names);
	}
}

static bool same(const Thing *a, const Thing *b)
{
	return streq(a->name, b->name) && !a->note == !b->note &&
	       (!a->note || streq(a->note, b->note)) && a->count == b->count &&
	       a->number == b->number;
}

static void whatever_is_written_reads_back(void **state)
{
	uint64_t seed = 88172645463325252ULL;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		_cleanup_(things_clear) Things t = { 0 };
		_cleanup_free_ char *text = NULL;
		char name[100], note[100];
		uint64_t bits = draw(&seed);
		Thing thing = { .name = any_text(&seed, name, sizeof(name)),
				.note = draw(&seed) % 4 ? any_text(&seed, note, sizeof(note))
							: NULL,
				.count = draw(&seed) >> draw(&seed) % 64 };
		size_t n;

		memcpy(&thing.number, &bits, sizeof(bits));
		thing.number = isfinite(thing.number) ? thing.number : 0;
		text = written(&thing, 1, &n);
		assert_int_equal(read_things(&t, text, n), streq(name, "nonsense"));
		assert_int_equal(t.n, 1);
		assert_true(same(&t.all[0], &thing));
	}
}

static const Thing samples[] = {
	{ (char *)"one", NULL, 1, 0.1 },
	{ (char *)"J cross\ning", (char *)"#c", 17, -5 },
	{ (char *)"three", (char *)"a \"b\"", 0, 3e-5 },
};

static bool is_sample(const Thing *thing)
{
	for (size_t i = 0; i < ELEMENTSOF(samples); i++)
		if (same(thing, &samples[i]))
			return true;
	return false;
}

static void every_flipped_bit_is_noticed(void **state)
{
	_cleanup_(things_clear) Things t = { 0 };
	_cleanup_free_ char *text = NULL;
	size_t n;

	(void)state;
	text = written(samples, ELEMENTSOF(samples), &n);
	for (size_t at = 0; flip(text, n, at); flip(text, n, at++)) {
		assert_int_equal(read_things(&t, text, n), RECORDS_DAMAGED);
		/* a newline that is gone takes the lines on both sides of it */
		assert_in_range(t.n, 1, ELEMENTSOF(samples));
		for (size_t i = 0; i < t.n; i++)
			assert_true(is_sample(&t.all[i]));
	}
}

static void every_pair_of_flipped_bits_is_noticed(void **state)
{
	_cleanup_(things_clear) Things t = { 0 };
	_cleanup_free_ char *text = NULL;
	size_t n;

	(void)state;
	text = written(samples, 1, &n);
	for (size_t a = 0; flip(text, n, a); flip(text, n, a++))
		for (size_t b = a + 1; flip(text, n, b); flip(text, n, b++))
			assert_true(read_things(&t, text, n) & RECORDS_DAMAGED);
}

static void a_nul_byte_does_not_cut_off_what_follows(void **state)
{
	_cleanup_(things_clear) Things t = { 0 };
	_cleanup_free_ char *text = NULL;
	size_t n;

	(void)state;
	text = written(samples, ELEMENTSOF(samples), &n);
	for (size_t at = 0; at < n; at++) {
		char was = text[at];

		text[at] = '\0';
		assert_int_equal(read_things(&t, text, n), RECORDS_DAMAGED);
		assert_in_range(t.n, 1, ELEMENTSOF(samples));
		text[at] = was;
	}
}

/* As whoever knows the checksum could write it. */
static void a_nul_byte_under_a_checksum_is_refused(void **state)
{
	static const char body[] = "thing name=\"two\" count=2 number=2\0 and more";
	char line[sizeof(HEAD) + sizeof(body) + 16];
	_cleanup_(things_clear) Things t = { 0 };
	size_t n = strlen(HEAD);

	(void)state;
	memcpy(line, HEAD, n);
	memcpy(line + n, body, sizeof(body) - 1);
	n += sizeof(body) - 1;
	n += (size_t)snprintf(line + n, sizeof(line) - n, " #%08x\n",
			      records_checksum(body, sizeof(body) - 1));
	assert_int_equal(read_things(&t, line, n), RECORDS_DAMAGED);
	assert_int_equal(t.n, 0);
}

static void a_first_version_has_comments_and_no_checksums(void **state)
{
	static const RecordsFormat old = {
		.name = "things", .kinds = kinds, .loss = "lost", .unsealed = true
	};

	(void)state;
	check(&old,
	      "storpower-things 1\n# a comment\n\nthing name=two count=2 number=2\n"
	      "thing note=x name=three count=3 number=3\n",
	      0, "twothree");
	check(&old, "storpower-things 1\nthing \"two\" 2 number=2 \t\r\n", 0, "two");
	/* values without keys are of the fields in order, and an editor may have added blanks */
	check(&old, "storpower-things 1\nthing \"two\" 2 number=2 \t\r\n", 0, "two");
	check(&old, "storpower-things 1\nrubbish\nthing name=two count=2 number=2\n",
	      RECORDS_DAMAGED, "two");
	check(&old, "storpower-things 1\nthing name=two count=2 number=2", RECORDS_DAMAGED, "");
}

static int make_folder(void **state)
{
	char folder[] = "/tmp/storpower-test-XXXXXX";

	if (!mkdtemp(folder))
		return -1;
	*state = text_printf("%s/state", folder);
	return *state ? 0 : -1;
}

static int remove_folder(void **state)
{
	static const char *const suffixes[] = { "", ".damaged", ".damaged.2", ".damaged.3" };
	char *path = *state;

	for (size_t i = 0; i < ELEMENTSOF(suffixes); i++) {
		_cleanup_free_ char *file = text_printf("%s%s", path, suffixes[i]);

		(void)remove(file);
	}
	*strrchr(path, '/') = '\0';
	assert_int_equal(rmdir(path), 0);
	free(path);
	return 0;
}

static void check_file(const char *path, const char *suffix, const char *text)
{
	_cleanup_free_ char *file = text_printf("%s%s", path, suffix), *found = NULL;

	assert_int_equal(read_file(file, &found), 0);
	assert_string_equal(found, text);
}

static void what_is_set_aside_replaces_nothing(void **state)
{
	const char *path = *state;

	assert_int_equal(set_aside(path, "going on without"), -ENOENT);
	assert_int_equal(write_file_atomic(path, "first", 0644), 0);
	assert_int_equal(set_aside_copy(path, "first", 5), 0);
	assert_int_equal(set_aside_copy(path, "first", 5), 0); /* it is kept already */
	check_file(path, "", "first");
	assert_int_equal(write_file_atomic(path, "second", 0644), 0);
	check_file(path, ".damaged", "first");
	assert_int_equal(set_aside_copy(path, "second", 6), 0);
	assert_int_equal(write_file_atomic(path, "third", 0644), 0);
	assert_int_equal(set_aside(path, "going on without"), 0);
	assert_int_equal(access(path, F_OK), -1);
	check_file(path, ".damaged", "first");
	check_file(path, ".damaged.2", "second");
	check_file(path, ".damaged.3", "third");
}

static int make_fifo(const char *path)
{
	return mkfifo(path, 0600);
}

static int make_socket(const char *path)
{
	return mknod(path, S_IFSOCK | 0600, 0);
}

static int make_directory(const char *path)
{
	return mkdir(path, 0700);
}

static int link_to_device(const char *path)
{
	return symlink("/dev/null", path);
}

static void what_is_no_file_is_set_aside_unopened(void **state)
{
	static int (*const make[])(const char *path) = { make_fifo, make_socket, make_directory,
							 link_to_device };
	const char *path = *state;
	_cleanup_free_ char *aside = text_printf("%s.damaged", path);
	struct stat made, moved;

	assert_int_equal(set_aside_unless_file(path), 0);
	assert_int_equal(write_file_atomic(path, "whole", 0644), 0);
	assert_int_equal(set_aside_unless_file(path), 0);
	check_file(path, "", "whole");
	assert_int_equal(unlink(path), 0);
	for (size_t i = 0; i < ELEMENTSOF(make); i++) {
		assert_int_equal(make[i](path), 0);
		assert_int_equal(lstat(path, &made), 0);
		assert_int_equal(set_aside_unless_file(path), 0);
		assert_int_equal(lstat(path, &moved), -1);
		assert_int_equal(lstat(aside, &moved), 0);
		assert_int_equal(moved.st_ino, made.st_ino);
		assert_int_equal(remove(aside), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_text_is_one_a_person_can_read),
		cmocka_unit_test(what_is_appended_has_no_first_line),
		cmocka_unit_test(a_line_that_makes_no_sense_costs_itself_only),
		cmocka_unit_test(the_first_line_says_what_the_file_is),
		cmocka_unit_test(an_unfinished_line_is_no_damage_where_lines_are_appended),
		cmocka_unit_test(whatever_is_written_reads_back),
		cmocka_unit_test(every_flipped_bit_is_noticed),
		cmocka_unit_test(every_pair_of_flipped_bits_is_noticed),
		cmocka_unit_test(a_nul_byte_does_not_cut_off_what_follows),
		cmocka_unit_test(a_nul_byte_under_a_checksum_is_refused),
		cmocka_unit_test(a_first_version_has_comments_and_no_checksums),
		cmocka_unit_test_setup_teardown(what_is_set_aside_replaces_nothing, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(what_is_no_file_is_set_aside_unopened, make_folder,
						remove_folder),
	};

	log_set_max_level(LOG_CRIT); /* the warnings are provoked */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
