/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* kill -9 at every place of the journal and the knobs where it could hurt: the daemon runs in a
 * child that dies there, the node (its registers) lives on, and restoring must bring back every
 * value. With a share of the cases (cases.h) every so manieth place is tried. */

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "base/failpoint.h"
#include "cases.h"
#include "given-back.h"
#include "sim-fixture.h"

#define NODE           "policies/nodes/mixed.node"
#define MIDDLE_OF_LIFE 40
#define PLACES_MAX     5000

/* Shared with the child: where to die, where it died. */
typedef struct Kill {
	unsigned at, reached;
	char name[64];
} Kill;

static Kill *shared;

void failpoint(const char *name)
{
	if (!shared || !shared->at || ++shared->reached != shared->at)
		return;
	snprintf(shared->name, sizeof(shared->name), "%s", name);
	raise(SIGKILL);
}

/* A life of the daemon: budgets down and up, a release, an orderly end. */
static void live(const char *dir)
{
	Fixture f = {};
	uint64_t a, b;

	fixture_open_in(&f, NODE, dir);
	fixture_start(&f);
	fixture_run(&f, 3);
	a = fixture_set(&f, "70%");
	fixture_run(&f, 5);
	b = fixture_set(&f, "45%");
	fixture_run(&f, 20);
	fixture_release(&f, b);
	fixture_run(&f, 20);
	fixture_release(&f, a);
	fixture_run(&f, 20);
	fixture_close(&f);
	_exit(0);
}

/* False when the child lived to the end. */
static bool live_and_die(const char *dir, unsigned at)
{
	int status;
	pid_t child;

	*shared = (Kill){ .at = at };
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		live(dir);
	assert_int_equal(waitpid(child, &status, 0), child);
	shared->at = 0;
	if (WIFEXITED(status)) {
		assert_int_equal(WEXITSTATUS(status), 0);
		return false;
	}
	assert_int_equal(WTERMSIG(status), SIGKILL);
	return true;
}

/* Claims must not carry over from one life to the next. */
static void forget_claims(const char *dir)
{
	_cleanup_free_ char *claims = text_printf("%s/claims", dir);

	unlink(claims);
}

static char *dump_in(const char *dir)
{
	Fixture f = {};
	char *text;

	fixture_open_in(&f, NODE, dir);
	text = fixture_dump(&f);
	fixture_close(&f);
	return text;
}

/* After a death: started without restoring first, used and ended in order, which must give back
 * what the dead one had set, too. */
static void live_again(const char *dir)
{
	Fixture f = {};
	uint64_t a;

	forget_claims(dir);
	fixture_open_in(&f, NODE, dir);
	fixture_start(&f);
	fixture_run(&f, 1);
	a = fixture_set(&f, "60%");
	fixture_run(&f, 3);
	fixture_release(&f, a);
	fixture_run(&f, 3);
	fixture_close(&f);
}

static void restore_in(const char *dir)
{
	Fixture f = {};
	ControlConfig config;

	fixture_open_in(&f, NODE, dir);
	config = (ControlConfig){ .journal_path = f.journal, SLEEP_DEFAULTS };
	assert_int_equal(control_restore(&config, f.loop, f.node), 0);
	fixture_close(&f);
}

static void assert_restored(const char *dir, const char *before, unsigned at)
{
	_cleanup_free_ char *after = dump_in(dir), *journal = text_printf("%s/journal", dir);
	struct stat st;

	overlook_sleep(after);
	if (strcmp(before, after))
		print_error("killed at place %u (%s): not restored\n", at, shared->name);
	assert_string_equal(before, after);
	/* nothing is left to be put back, now or at any later time */
	if (stat(journal, &st) == 0)
		assert_int_equal(st.st_size, 0);
}

/* Dies at every place there is, one after another; `recover` must bring all back each time. */
static void die_everywhere(void (*recover)(const char *dir), const char *how)
{
	char dir[] = "/tmp/storpower-kill-XXXXXX";
	_cleanup_free_ char *before = NULL, *clean = NULL;
	unsigned at = 1, stride = cases_stride(), killed = 0;

	assert_non_null(mkdtemp(dir));
	before = dump_in(dir);
	for (forget_claims(dir); at < PLACES_MAX && live_and_die(dir, at); at += stride) {
		recover(dir);
		assert_restored(dir, before, at);
		forget_claims(dir);
		killed++;
	}
	assert_in_range(at, 51, PLACES_MAX - 1);
	assert_restored(dir, before, at);
	print_message("# killed at %u places, %s after each\n", killed, how);
	clean = text_printf("rm -r '%s'", dir);
	assert_int_equal(system(clean), 0);
}

static void killed_anywhere_the_journal_restores_everything(void **state)
{
	(void)state;
	die_everywhere(restore_in, "restored");
}

static void killed_anywhere_the_next_life_gives_everything_back(void **state)
{
	(void)state;
	die_everywhere(live_again, "another life");
}

/* False when the restore reached its end. */
static bool restore_and_die(const char *dir, unsigned at)
{
	int status;
	pid_t child;

	*shared = (Kill){ .at = at };
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		restore_in(dir);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	shared->at = 0;
	if (!WIFEXITED(status)) {
		assert_int_equal(WTERMSIG(status), SIGKILL);
		return true;
	}
	assert_int_equal(WEXITSTATUS(status), 0);
	return false;
}

/* Also while restoring: a restore that is itself killed is simply run again. */
static void a_killed_restore_is_finished_by_the_next(void **state)
{
	char dir[] = "/tmp/storpower-kill-XXXXXX";
	_cleanup_free_ char *before = NULL, *clean = NULL;
	bool died = true;
	unsigned at = 1, stride = cases_stride();

	(void)state;
	assert_non_null(mkdtemp(dir));
	before = dump_in(dir);
	for (; died && at < PLACES_MAX; at += stride) {
		/* die somewhere in the middle of the life, then at each place of the restore */
		forget_claims(dir);
		assert_true(live_and_die(dir, MIDDLE_OF_LIFE));
		died = restore_and_die(dir, at);
		restore_in(dir);
		assert_restored(dir, before, at);
	}
	assert_false(died);
	assert_true(at > 10 + stride);
	print_message("# restore killed at %u places\n", (at - 1) / stride - 1);
	clean = text_printf("rm -r '%s'", dir);
	assert_int_equal(system(clean), 0);
}

static int setup(void **state)
{
	(void)state;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	return shared == MAP_FAILED ? -1 : 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(killed_anywhere_the_journal_restores_everything),
		cmocka_unit_test(killed_anywhere_the_next_life_gives_everything_back),
		cmocka_unit_test(a_killed_restore_is_finished_by_the_next),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
