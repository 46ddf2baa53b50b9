/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The program that runs the hooks: which of them, in which order, with what, and what it answers.
 */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/hook-folder.h"
#include "base/log.h"
#include "hooks/run.h"
#include "test-folder.h"

#define STEP   "STORPOWER_STEP=spin-down\nSTORPOWER_DEVICE=sda\n"
#define BEFORE "STORPOWER_EVENT=before\nSTORPOWER_MAY_VETO=yes\n" STEP
#define TOLD   "STORPOWER_EVENT=before\nSTORPOWER_MAY_VETO=no\n" STEP
#define AFTER  "STORPOWER_EVENT=after\nSTORPOWER_RESULT=done\n" STEP

/* hooks.d is the folder; what a hook writes to "said" is beside it. */
static void write_hook(const char *name, const char *script, mode_t mode)
{
	_cleanup_free_ char *path = text_printf("hooks.d/%s", name);
	_cleanup_free_ char *text = text_printf("#!/bin/sh\n%s\n", script);

	assert_true(mkdir("hooks.d", 0755) == 0 || errno == EEXIST);
	assert_int_equal(write_file_atomic(path, text, 0600), 0);
	assert_int_equal(chmod(path, mode), 0);
}

static void expect_answer(const char *question, const char *expected)
{
	char *const own[] = { "PATH=/usr/bin:/bin", "STORPOWER_STEP=of somebody else", NULL };
	_cleanup_(question_done) Question q = {};
	_cleanup_free_ char *answer = NULL;

	assert_int_equal(question_parse(question, own, &q), 0);
	assert_int_equal(hooks_run("hooks.d", &q, &answer), 0);
	assert_string_equal(answer, expected);
}

/* What hooks have written to that file; "": nothing. */
static void expect_said(const char *expected)
{
	_cleanup_free_ char *said = NULL;

	if (read_file("said", &said) < 0)
		said = strdup("");
	assert_string_equal(said, expected);
	(void)unlink("said");
}

static void hooks_run_in_the_order_of_their_names(void **state)
{
	(void)state;
	write_hook("20-b", "echo b >>said", 0755);
	write_hook("10-c", "echo c >>said", 0755);
	write_hook("30-a.sh", "echo a >>said", 0700);
	expect_answer(BEFORE, "ok\n");
	expect_said("c\nb\na\n");
}

/* It would be none if the hook had been killed for taking too long. */
static void what_a_hook_leaves_running_does_not_hide_its_veto(void **state)
{
	(void)state;
	write_hook("10-leaves", "sleep 60 & echo $! >pid; echo busy; exit 1", 0755);
	expect_answer(BEFORE, "veto 10-leaves: busy\n");
	assert_int_equal(system("kill $(cat pid) && rm pid"), 0);
}

static void without_a_folder_there_are_none(void **state)
{
	(void)state;
	expect_answer(BEFORE, "ok\n");
}

static void leftovers_and_what_is_not_executable_are_passed_over(void **state)
{
	static const char *const names[] = { "10-a~",        ".10-b", "10-c.dpkg-old", "10-d.bak",
					     "10-e.rpmsave", "10 f",  "10-g:h" };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(names); i++)
		write_hook(names[i], "echo run >>said", 0755);
	write_hook("50-x.example", "echo run >>said", 0644);
	assert_int_equal(mkdir("hooks.d/60-folder", 0755), 0);
	assert_int_equal(symlink("nowhere", "hooks.d/70-dangling"), 0);
	write_hook("90-good", "echo good >>said", 0755);
	expect_answer(BEFORE, "ok\n");
	expect_said("good\n");
}

static const HookFile *find(const HookFolder *f, const char *name)
{
	for (size_t i = 0; i < f->n; i++)
		if (streq(f->files[i].name, name))
			return &f->files[i];
	fail_msg("there is no hook %s", name);
	abort();
}

static void what_others_may_write_is_refused_with_the_reason(void **state)
{
	_cleanup_(hook_folder_done) HookFolder f = {};

	(void)state;
	write_hook("10-group", "echo run >>said", 0775);
	write_hook("20-all", "echo run >>said", 0757);
	write_hook("30-mine", "echo mine >>said", 0755);
	expect_answer(BEFORE, "ok\n");
	expect_said("mine\n");
	assert_int_equal(hook_folder_read("hooks.d", &f), 0);
	assert_int_equal(f.n, 3);
	assert_true(find(&f, "10-group")->unsafe && find(&f, "20-all")->unsafe);
	assert_non_null(strstr(find(&f, "20-all")->why_not, "others than its owner may write"));
	assert_null(find(&f, "30-mine")->why_not);
}

static void none_is_run_of_a_folder_that_others_may_write(void **state)
{
	(void)state;
	write_hook("10-mine", "echo run >>said", 0755);
	assert_int_equal(chmod("hooks.d", 0777), 0);
	expect_answer(BEFORE, "ok\n");
	expect_said("");
}

static void a_hook_has_the_question_in_its_arguments_and_environment(void **state)
{
	(void)state;
	write_hook("10-a",
		   "echo \"$# $1 $2 $3\" >>said; env | grep ^STORPOWER_ | sort >>said; cat >>said",
		   0755);
	expect_answer(BEFORE "STORPOWER_REASON=two words = \"$(id)\"\n", "ok\n");
	expect_said("3 before spin-down sda\nSTORPOWER_DEVICE=sda\nSTORPOWER_EVENT=before\n"
		    "STORPOWER_MAY_VETO=yes\nSTORPOWER_REASON=two words = \"$(id)\"\n"
		    "STORPOWER_STEP=spin-down\n");
}

static void status_one_is_a_veto_with_the_first_line_that_was_said(void **state)
{
	(void)state;
	write_hook("10-no", "echo; echo 'a backup runs' >&2; echo more; exit 1", 0755);
	write_hook("20-later", "echo later >>said", 0755);
	expect_answer(BEFORE, "veto 10-no: a backup runs\n");
	expect_said("");
	write_hook("10-no", "exit 1", 0755);
	expect_answer(BEFORE, "veto 10-no: it said nothing\n");
}

static void a_veto_is_one_line_that_steers_no_terminal(void **state)
{
	(void)state;
	write_hook("10-no", "printf 'red \\033[31m\\rgone'; exit 1", 0755);
	expect_answer(BEFORE, "veto 10-no: red ?[31m\n");
}

static void who_may_not_veto_is_heard_and_the_others_run(void **state)
{
	(void)state;
	write_hook("10-no", "echo no; exit 1", 0755);
	write_hook("20-later", "echo later >>said", 0755);
	expect_answer(TOLD, "veto 10-no: no\n");
	expect_said("later\n");
}

static void nobody_vetoes_what_has_happened(void **state)
{
	(void)state;
	write_hook("10-no", "echo \"$1 $STORPOWER_RESULT\" >>said; exit 1", 0755);
	expect_answer(AFTER, "ok\n");
	expect_said("after done\n");
}

static void another_failure_is_no_veto(void **state)
{
	(void)state;
	write_hook("10-two", "exit 2", 0755);
	write_hook("20-killed", "kill -KILL $$", 0755);
	write_hook("40-chatty", "head -c 100000 /dev/zero; exit 1", 0755);
	write_hook("50-last", "echo last >>said", 0755);
	assert_int_equal(write_file_atomic("hooks.d/30-no-program", "#!/nowhere\n", 0755), 0);
	expect_answer(BEFORE, "ok\n");
	expect_said("last\n");
}

/* Whoever hangs is killed when the time of all is over, and no veto of his counts. */
static void hooks_have_their_time_together(void **state)
{
	uint64_t began_us = clock_now_us(&clock_boottime), took_us;

	(void)state;
	write_hook("10-slow", "exec sleep 60", 0755);
	write_hook("20-late", "echo late >>said; exit 1", 0755);
	expect_answer(BEFORE "STORPOWER_TIMEOUT_SECONDS=0.5\n", "ok\n");
	took_us = clock_now_us(&clock_boottime) - began_us;
	assert_true(took_us >= 500 * USEC_PER_MSEC && took_us < 30 * USEC_PER_SEC);
	expect_said("");
}

static void what_is_no_question_is_refused(void **state)
{
	static const char *const texts[] = { "", "STORPOWER_EVENT=before\n",
					     BEFORE "LD_PRELOAD=/tmp/evil.so\n",
					     BEFORE "STORPOWER_WORD\n", BEFORE "PATH=/tmp\n" };
	Question q;

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(texts); i++)
		assert_int_equal(question_parse(texts[i], NULL, &q), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		file_test(hooks_run_in_the_order_of_their_names),
		file_test(what_a_hook_leaves_running_does_not_hide_its_veto),
		file_test(without_a_folder_there_are_none),
		file_test(leftovers_and_what_is_not_executable_are_passed_over),
		file_test(what_others_may_write_is_refused_with_the_reason),
		file_test(none_is_run_of_a_folder_that_others_may_write),
		file_test(a_hook_has_the_question_in_its_arguments_and_environment),
		file_test(status_one_is_a_veto_with_the_first_line_that_was_said),
		file_test(a_veto_is_one_line_that_steers_no_terminal),
		file_test(who_may_not_veto_is_heard_and_the_others_run),
		file_test(nobody_vetoes_what_has_happened),
		file_test(another_failure_is_no_veto),
		file_test(hooks_have_their_time_together),
		file_test(what_is_no_question_is_refused),
	};

	log_set_max_level(LOG_CRIT);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
