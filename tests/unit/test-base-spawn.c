/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Programs that answer, and some that do not. */

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/spawn.h"

static int ask(const char *script, Program p, char **ret)
{
	p.argv = (const char *const[]){ "sh", "-c", script, NULL };
	p.answer_max = p.answer_max ?: 1000;
	p.within_us = p.within_us ?: 30 * USEC_PER_SEC;
	return spawn_and_read(&p, ret);
}

static void expect(const char *script, Program p, int status, const char *words)
{
	_cleanup_free_ char *answer = NULL;

	assert_int_equal(ask(script, p, &answer), status);
	assert_string_equal(answer, words);
}

static void an_answer_is_all_that_was_written_and_the_status(void **state)
{
	(void)state;
	expect("echo yes; echo no >&2", (Program){}, 0, "yes\n");
	expect("echo yes; echo no >&2", (Program){ .with_errors = true }, 0, "yes\nno\n");
	expect("exit 3", (Program){}, 3, "");
	expect("echo so; kill -TERM $$", (Program){}, 128 + SIGTERM, "so\n");
	expect("printf 12345", (Program){ .answer_max = 5 }, 0, "12345");
}

static void there_is_nothing_to_read_for_it(void **state)
{
	(void)state;
	expect("cat; echo done", (Program){}, 0, "done\n");
}

static void its_environment_is_what_was_given(void **state)
{
	const char *const given[] = { "WORD=given", "PATH=/usr/bin:/bin", NULL };

	(void)state;
	assert_int_equal(setenv("WORD", "own", 1), 0);
	expect("echo $WORD", (Program){}, 0, "own\n");
	expect("echo $WORD", (Program){ .environ = given }, 0, "given\n");
}

/* As the workers block them. */
static void blocked_signals_are_not_blocked_for_it(void **state)
{
	sigset_t all, before;

	(void)state;
	sigfillset(&all);
	assert_int_equal(sigprocmask(SIG_SETMASK, &all, &before), 0);
	expect("kill -USR1 $$; echo blocked", (Program){}, 128 + SIGUSR1, "");
	assert_int_equal(sigprocmask(SIG_SETMASK, &before, NULL), 0);
}

/* How long it took. */
static double expect_end(const char *script, Program p, int expected)
{
	uint64_t began_us = clock_now_us(&clock_boottime);
	char *answer = NULL;

	assert_int_equal(ask(script, p, &answer), expected);
	assert_null(answer);
	return (double)(clock_now_us(&clock_boottime) - began_us) / USEC_PER_SEC;
}

static void one_that_takes_too_long_is_killed(void **state)
{
	const Program p = { .within_us = USEC_PER_SEC / 5 };

	(void)state;
	assert_true(expect_end("echo wait; exec sleep 60", p, -ETIMEDOUT) < 30);
	/* it says nothing more, and stays */
	assert_true(expect_end("exec sleep 60 >&- 2>&-", p, -ETIMEDOUT) < 30);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* none is left */
	assert_int_equal(errno, ECHILD);
}

static void one_that_says_too_much_is_killed(void **state)
{
	(void)state;
	expect_end("printf 123456", (Program){ .answer_max = 5 }, -EFBIG);
	assert_true(expect_end("exec yes", (Program){ .answer_max = 100000 }, -EFBIG) < 30);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void what_is_not_installed_is_no_entry(void **state)
{
	const char *const argv[] = { "no-such-program-anywhere", NULL };
	const Program p = { .argv = argv, .answer_max = 10, .within_us = USEC_PER_SEC };
	char *answer = NULL;

	(void)state;
	assert_int_equal(spawn_and_read(&p, &answer), -ENOENT);
	assert_null(answer);
}

static void no_descriptor_is_left_open(void **state)
{
	int before = open("/dev/null", O_RDONLY), after;

	(void)state;
	close(before);
	expect("echo yes", (Program){}, 0, "yes\n");
	expect_end("exec sleep 60", (Program){ .within_us = 1 }, -ETIMEDOUT);
	after = open("/dev/null", O_RDONLY);
	close(after);
	assert_int_equal(after, before);
}

static void start(const char *script, Running *ret)
{
	const Program p = { .argv = (const char *const[]){ "sh", "-c", script, NULL } };

	assert_int_equal(spawn_start(&p, ret), 0);
}

/* The first word comes while the program still runs, and asked to end it ends. */
static void one_that_runs_is_heard_and_asked_to_end(void **state)
{
	Running r = RUNNING_NONE;
	char text[16];

	(void)state;
	assert_int_equal(spawn_end(&r, 0), 0);
	start("trap 'exit 7' INT; echo go; while :; do sleep 0.01; done", &r);
	assert_int_equal(spawn_listen(&r, text, sizeof(text), 30 * USEC_PER_SEC), 3);
	assert_memory_equal(text, "go\n", 3);
	assert_int_equal(spawn_listen(&r, text, sizeof(text), 1), -ETIMEDOUT);
	assert_int_equal(spawn_end(&r, 30 * USEC_PER_SEC), 7);
	assert_true(r.pid == 0);
	start("exit 3", &r);
	assert_int_equal(spawn_listen(&r, text, sizeof(text), 30 * USEC_PER_SEC), 0);
	assert_int_equal(spawn_end(&r, 30 * USEC_PER_SEC), 3);
}

static void one_that_will_not_end_is_killed(void **state)
{
	Running r = RUNNING_NONE;
	char text[16];

	(void)state;
	start("trap '' INT; echo go; while :; do sleep 0.01; done", &r);
	assert_int_equal(spawn_listen(&r, text, sizeof(text), 30 * USEC_PER_SEC), 3);
	assert_int_equal(spawn_end(&r, 1), -ETIMEDOUT);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_is_all_that_was_written_and_the_status),
		cmocka_unit_test(there_is_nothing_to_read_for_it),
		cmocka_unit_test(its_environment_is_what_was_given),
		cmocka_unit_test(blocked_signals_are_not_blocked_for_it),
		cmocka_unit_test(one_that_takes_too_long_is_killed),
		cmocka_unit_test(one_that_says_too_much_is_killed),
		cmocka_unit_test(what_is_not_installed_is_no_entry),
		cmocka_unit_test(no_descriptor_is_left_open),
		cmocka_unit_test(one_that_runs_is_heard_and_asked_to_end),
		cmocka_unit_test(one_that_will_not_end_is_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
