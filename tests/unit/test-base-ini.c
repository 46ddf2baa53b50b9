/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/ini.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/log.h"
#include "base/text.h"

/* What was read, as "LINE [SECTION] KEY=VALUE;" in a row. */
typedef struct Seen {
	char text[512];
	unsigned stop_at; /* line; 0: never */
	unsigned calls;
} Seen;

static int note(const IniLine *l, void *userdata)
{
	Seen *seen = userdata;
	size_t n = strlen(seen->text);

	if (l->key)
		snprintf(seen->text + n, sizeof(seen->text) - n, "%u [%s] %s=%s;", l->line,
			 l->section, l->key, l->value);
	else
		snprintf(seen->text + n, sizeof(seen->text) - n, "%u [%s];", l->line, l->section);
	seen->calls++;
	return l->line == seen->stop_at ? -ECANCELED : 0;
}

static void every_key_comes_with_its_section_and_line(void **state)
{
	Seen seen = { 0 };

	(void)state;
	assert_int_equal(ini_read_text("x.conf",
				       "early = 1\n"
				       "\n"
				       "# comment\n"
				       "; another\n"
				       "[node]\n"
				       "limit = 80 %\n"
				       "name=a=b\n"
				       "[device loop0]\n"
				       "profile =\n",
				       note, &seen),
			 0);
	assert_string_equal(seen.text, "1 [] early=1;5 [node];6 [node] limit=80 %;"
				       "7 [node] name=a=b;8 [device loop0];"
				       "9 [device loop0] profile=;");
}

static void a_heading_may_be_indented_and_have_blanks_and_a_comment(void **state)
{
	Seen seen = { 0 };

	(void)state;
	assert_int_equal(
		ini_read_text("x.conf",
			      "[a]\nk=1\n  [ device  b ] # comment\nc = d\n[e[01]]\t; comment\n",
			      note, &seen),
		0);
	assert_string_equal(seen.text, "1 [a];2 [a] k=1;3 [device b];4 [device b] c=d;5 [e[01]];");
}

static void a_byte_order_mark_is_no_part_of_the_first_line(void **state)
{
	Seen seen = { 0 };

	(void)state;
	assert_int_equal(ini_read_text("x.conf", "\xEF\xBB\xBF[a]\nb = c\n", note, &seen), 0);
	assert_string_equal(seen.text, "1 [a];2 [a] b=c;");
}

/* Its keys must not count as those of the section above. */
static void below_a_heading_that_cannot_be_read_nothing_is_handed_on(void **state)
{
	static const char *const bad[] = { "[b", "[b] k = 2", "[b\377]", "[b] ]", "  [b", NULL };
	char too_long[256] = "[b";

	(void)state;
	memset(too_long + 2, 'b', 220);
	too_long[222] = ']';
	for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
		_cleanup_free_ char *text =
			text_printf("[a]\nk = 1\n%s\nj = 2\n j\n[c]\nk = 3\n", bad[i] ?: too_long);
		Seen seen = { 0 };

		assert_int_equal(ini_read_text("x.conf", text, note, &seen), -EBADMSG);
		assert_string_equal(seen.text, "1 [a];2 [a] k=1;6 [c];7 [c] k=3;");
	}
}

static void an_indented_line_is_another_value_of_the_key_above(void **state)
{
	Seen seen = { 0 };

	(void)state;
	assert_int_equal(ini_read_text("x.conf", "[a]\nmodels = x\n  y = z\n", note, &seen), 0);
	assert_string_equal(seen.text, "1 [a];2 [a] models=x;3 [a] models=y = z;");
}

typedef struct Before {
	unsigned section, key;
} Before;

static int note_before(const IniLine *l, void *userdata)
{
	((Before *)userdata)[l->line] = (Before){ l->section_before, l->key_before };
	return 0;
}

static void what_stood_before_is_told_with_its_line(void **state)
{
	Before b[16] = {};

	(void)state;
	assert_int_equal(
		ini_read_text("x.conf",
			      "[a]\nk = 1\nj = 1\nk = 2\n  3\n[b]\nk = 1\n[a]\nk = 1\nk = 1\n"
			      "[d  e]\n\tk = 1\n[d e]\nl = 1\n",
			      note_before, b),
		0);
	assert_true(!b[1].section && !b[2].section && !b[2].key && !b[3].key);
	assert_int_equal(b[4].key, 2);
	assert_int_equal(b[5].key, 2); /* another value of it */
	assert_true(!b[6].section && !b[7].section && !b[7].key);
	assert_true(b[8].section == 1 && b[9].section == 1 && !b[9].key);
	assert_true(b[10].section == 1 && b[10].key == 9);
	assert_true(!b[11].section && !b[12].section && b[13].section == 11);
}

static void what_is_no_text_is_refused_and_not_handed_on(void **state)
{
	static const char *const bad[] = {
		"k\374 = 1",        "k = \302\2331m", "k = \342\200\256x",
		"k = \342\200\250", "k = \033[31m",   "k = 1\r2",
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
		_cleanup_free_ char *text = text_printf(
			"# \374\n\t; \033\n[a]\nb =\tc\r\n%s\nd = gr\303\274n\n", bad[i]);
		Seen seen = { 0 };

		assert_int_equal(ini_read_text("x.conf", text, note, &seen), -EBADMSG);
		assert_string_equal(seen.text, "3 [a];4 [a] b=c;6 [a] d=gr\303\274n;");
	}
}

static void a_nul_byte_is_refused(void **state)
{
	char path[] = "/tmp/storpower-test-XXXXXX";
	_cleanup_close_ int fd = mkstemp(path);
	static const char text[] = "[a]\nb = c\0\n";
	Seen seen = { 0 };

	(void)state;
	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	assert_int_equal(ini_read(path, note, &seen), -EBADMSG);
	assert_int_equal(seen.calls, 0);
	assert_int_equal(unlink(path), 0);
}

static void a_last_line_needs_no_newline(void **state)
{
	Seen seen = { 0 };

	(void)state;
	assert_int_equal(ini_read_text("x.conf", "[a]\nb=c", note, &seen), 0);
	assert_string_equal(seen.text, "1 [a];2 [a] b=c;");
}

static void nothing_is_a_good_file(void **state)
{
	Seen seen = { 0 };

	(void)state;
	assert_int_equal(ini_read_text("x.conf", "", note, &seen), 0);
	assert_int_equal(seen.calls, 0);
}

static void a_line_that_is_not_ini_is_refused(void **state)
{
	Seen seen = { 0 };

	(void)state;
	assert_int_equal(ini_read_text("x.conf", "[a]\nb = c\njust words\n", note, &seen),
			 -EBADMSG);
	assert_int_equal(ini_read_text("x.conf", "[open\n", note, &seen), -EBADMSG);
}

static void a_line_too_long_is_refused_and_not_cut(void **state)
{
	char text[512] = "[a]\nb = ";
	Seen seen = { 0 };

	(void)state;
	memset(text + strlen(text), 'x', 400);
	assert_int_equal(ini_read_text("x.conf", text, note, &seen), -EBADMSG);
	assert_string_equal(seen.text, "1 [a];");
}

static void the_handler_stops_the_reading(void **state)
{
	Seen seen = { .stop_at = 2 };

	(void)state;
	assert_int_equal(ini_read_text("x.conf", "[a]\nb=1\nc=2\nd=3\n", note, &seen), -ECANCELED);
	assert_int_equal(seen.calls, 2);
}

static void a_file_reads_like_its_text(void **state)
{
	char path[] = "/tmp/storpower-test-XXXXXX";
	_cleanup_close_ int fd = mkstemp(path);
	static const char text[] = "[a]\nb = c\n";
	Seen seen = { 0 };

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	assert_int_equal(ini_read(path, note, &seen), 0);
	assert_string_equal(seen.text, "1 [a];2 [a] b=c;");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(ini_read(path, note, &seen), -ENOENT);
}

static int complain(const IniLine *l, void *userdata)
{
	(void)userdata;
	return l->key ? ini_complain(l, "%s: \"%s\" is not a limit", l->key, l->value) : 0;
}

/* stderr goes to a file while the complaint is made */
static void a_complaint_names_file_and_line(void **state)
{
	_cleanup_fclose_ FILE *f = tmpfile();
	_cleanup_close_ int saved = dup(STDERR_FILENO);
	char said[256] = "";
	int r;

	(void)state;
	assert_non_null(f);
	unsetenv("JOURNAL_STREAM");
	assert_true(dup2(fileno(f), STDERR_FILENO) >= 0);
	r = ini_read_text("etc/x.conf", "[node]\n\nlimit = lots\n", complain, NULL);
	assert_true(dup2(saved, STDERR_FILENO) >= 0);
	assert_int_equal(r, -EINVAL);
	rewind(f);
	assert_non_null(fgets(said, sizeof(said), f));
	assert_string_equal(said, "<4>etc/x.conf:3: limit: \"lots\" is not a limit\n");
}

/* Whatever the bytes, reading ends, and ends well or with an error. */
static void any_bytes_are_read_without_harm(void **state)
{
	static const char alphabet[] = "[]=:;# \t\n\r\"\\ab\xff";
	unsigned seed = 1;

	(void)state;
	log_set_max_level(LOG_CRIT);
	for (unsigned i = 0; i < 20000; i++) {
		char text[64];
		size_t n = (size_t)rand_r(&seed) % sizeof(text);
		Seen seen = { 0 };
		int r;

		for (size_t k = 0; k < n; k++)
			text[k] = alphabet[(size_t)rand_r(&seed) % (sizeof(alphabet) - 1)];
		text[n] = '\0';
		r = ini_read_text("x.conf", text, note, &seen);
		assert_true(r == 0 || r == -EBADMSG);
	}
	log_set_max_level(LOG_INFO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_comes_with_its_section_and_line),
		cmocka_unit_test(a_heading_may_be_indented_and_have_blanks_and_a_comment),
		cmocka_unit_test(a_byte_order_mark_is_no_part_of_the_first_line),
		cmocka_unit_test(below_a_heading_that_cannot_be_read_nothing_is_handed_on),
		cmocka_unit_test(an_indented_line_is_another_value_of_the_key_above),
		cmocka_unit_test(what_stood_before_is_told_with_its_line),
		cmocka_unit_test(what_is_no_text_is_refused_and_not_handed_on),
		cmocka_unit_test(a_nul_byte_is_refused),
		cmocka_unit_test(a_last_line_needs_no_newline),
		cmocka_unit_test(nothing_is_a_good_file),
		cmocka_unit_test(a_line_that_is_not_ini_is_refused),
		cmocka_unit_test(a_line_too_long_is_refused_and_not_cut),
		cmocka_unit_test(the_handler_stops_the_reading),
		cmocka_unit_test(a_file_reads_like_its_text),
		cmocka_unit_test(a_complaint_names_file_and_line),
		cmocka_unit_test(any_bytes_are_read_without_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
