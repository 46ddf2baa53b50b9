/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "journal/wear-file.h"

#define HOUR      (3600 * USEC_PER_SEC)
#define DAY       (24 * HOUR)
#define NOW       (55 * 365 * DAY)
#define TEN_A_DAY ((WearTerms){ .starts_a_day = 10, .loads_a_day = 300 })
#define HEAD      "storpower-wear 1\n"
#define LINE_A                                                                                     \
	"disk \"a\" starts=-2.250000 loads=7.500000 starts-used=9 loads-used=11 refilled=77\n"
#define LINE_B  "disk \"b\" starts=1.000000 loads=2.000000 starts-used=3 loads-used=4 refilled=5\n"
#define EPSILON 1e-9

static bool near(double a, double b)
{
	return fabs(a - b) < EPSILON;
}

/* Stands before the C library's. */
static unsigned n_synced_files, n_synced_folders;
int fsync(int fd)
{
	struct stat st;

	if (fstat(fd, &st) == 0)
		*(S_ISDIR(st.st_mode) ? &n_synced_folders : &n_synced_files) += 1;
	return (int)syscall(SYS_fsync, fd);
}

static WearBook *load(const char *path)
{
	WearBook *b = NULL;

	assert_int_equal(wear_book_load(path, &b), 0);
	assert_non_null(b);
	return b;
}

static WearBook *load_text(const char *text)
{
	assert_int_equal(write_file_atomic("wear", text, 0644), 0);
	return load("wear");
}

static WearAccount *get(WearBook *b, const char *id)
{
	WearAccount *a = wear_book_get(b, id, &TEN_A_DAY, NOW);

	assert_non_null(a);
	assert_string_equal(a->id, id);
	return a;
}

static bool is_new(WearBook *b, const char *id)
{
	const WearAccount *a = get(b, id);

	return a->starts == 10 && a->loads == 300 && !a->starts_used && !a->loads_used &&
	       a->realtime_us == NOW;
}

static void a_disk_never_seen_begins_with_a_days_worth(void **state)
{
	const WearTerms never = wear_terms(0, 5, 0);
	_cleanup_(wear_book_freep) WearBook *b = load(NULL);

	(void)state;
	assert_true(is_new(b, "x"));
	assert_true(wear_book_get(b, "y", &never, NOW)->starts == 0);
}

static void an_account_stays_where_it_is_while_others_come(void **state)
{
	_cleanup_(wear_book_freep) WearBook *b = load(NULL);
	WearAccount *kept[100];
	char id[16];

	(void)state;
	for (unsigned i = 0; i < ELEMENTSOF(kept); i++) {
		snprintf(id, sizeof(id), "disk %u", i * 37 % 100);
		kept[i] = get(b, id);
		kept[i]->starts_used = i + 1;
	}
	for (unsigned i = 0; i < ELEMENTSOF(kept); i++) {
		snprintf(id, sizeof(id), "disk %u", i * 37 % 100);
		assert_ptr_equal(get(b, id), kept[i]);
		assert_int_equal(kept[i]->starts_used, i + 1);
	}
}

static void without_a_file_there_are_no_accounts_yet(void **state)
{
	_cleanup_(wear_book_freep) WearBook *b = load("absent");

	(void)state;
	assert_true(is_new(b, "a"));
	assert_int_equal(access("absent", F_OK), -1);
	assert_int_equal(wear_book_save(b, NULL), 0);
	assert_null(wear_book_free(NULL));
}

static void accounts_survive_a_restart(void **state)
{
	static const char *const ids[] = { "wwid:naa.5000c500a1b2c3d4", "serial:WD-\"X\" \\ 1",
					   "t10.ATA     a  b", "größer\n\x01", "" };
	_cleanup_(wear_book_freep) WearBook *b = load(NULL), *back = NULL;

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(ids); i++) {
		WearAccount *a = get(b, ids[i]);

		a->starts = -1.125 * (double)i;
		a->loads = 1.5 + (double)i;
		a->starts_used = UINT64_MAX - i;
		a->loads_used = i;
		a->realtime_us = NOW + i;
	}
	assert_int_equal(wear_book_save(b, "wear"), 0);
	back = load("wear");
	for (size_t i = 0; i < ELEMENTSOF(ids); i++) {
		const WearAccount *a = get(back, ids[i]);

		assert_true(near(a->starts, -1.125 * (double)i));
		assert_true(near(a->loads, 1.5 + (double)i));
		assert_true(a->starts_used == UINT64_MAX - i && a->loads_used == i);
		assert_true(a->realtime_us == NOW + i);
	}
}

static void what_passed_between_two_runs_is_earned(void **state)
{
	_cleanup_(wear_book_freep) WearBook *b = load(NULL), *back = NULL;
	WearAccount *a;

	(void)state;
	get(b, "a")->starts = -3;
	assert_int_equal(wear_book_save(b, "wear"), 0);
	back = load("wear");
	a = wear_book_get(back, "a", &TEN_A_DAY, NOW + 12 * HOUR);
	assert_true(near(a->starts, -3)); /* as saved, until it is refilled */
	wear_refill(a, &TEN_A_DAY, NOW + 12 * HOUR);
	assert_true(near(a->starts, 2));
}

static void the_file_is_one_a_person_can_read(void **state)
{
	_cleanup_(wear_book_freep) WearBook *b = load_text(HEAD LINE_B LINE_A);
	_cleanup_free_ char *text = NULL;

	(void)state;
	assert_int_equal(wear_book_save(b, "wear"), 0);
	assert_int_equal(read_file("wear", &text), 0);
	assert_string_equal(text, HEAD
			    "# Written by storpowerd. Cycles that each disk has left, and those it "
			    "used; when it last earned some,\n"
			    "# by the wall clock in microseconds.\n" LINE_A LINE_B);
}

static void a_file_that_is_none_of_ours_is_refused(void **state)
{
	static const char *const texts[] = { "",
					     "\n",
					     "rubbish\n",
					     "storpower-wear 2\n" LINE_A,
					     "storpower-wear 1",
					     "storpower-wear 11\n" LINE_A,
					     LINE_A HEAD };
	WearBook *b = NULL;

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
		assert_int_equal(write_file_atomic("wear", texts[i], 0644), 0);
		assert_int_equal(wear_book_load("wear", &b), -EBADMSG);
		assert_null(b);
	}
	assert_int_equal(wear_book_load(".", &b), -EIO); /* a folder in its place */
}

static void a_wrong_line_costs_only_its_own_disk(void **state)
{
	static const char *const wrong[] = {
		"disk\n",
		"disk c\n",
		"disk \"c\"\n",
		"disk \"c starts=1 loads=1 starts-used=1 loads-used=1 refilled=1\n",
		"disk \"c\" starts=1 loads=1 starts-used=1 loads-used=1\n",
		"disk \"c\" starts=1 loads=1 starts-used=1 loads-used=1 refilled=1 x=1\n",
		"disk \"c\" starts=1 loads=1 starts-used=1 loads-used=1 refilled=\n",
		"disk \"c\" loads=1 starts=1 starts-used=1 loads-used=1 refilled=1\n",
		"disk \"c\" starts=nan loads=1 starts-used=1 loads-used=1 refilled=1\n",
		"disk \"c\" starts=1 loads=inf starts-used=1 loads-used=1 refilled=1\n",
		"disk \"c\" starts=-1e10 loads=1 starts-used=1 loads-used=1 refilled=1\n",
		"disk \"c\" starts=1 loads=1 starts-used=-1 loads-used=1 refilled=1\n",
		"disk \"c\" starts=1 loads=1 starts-used=1 loads-used=1.5 refilled=1\n",
		"disk \"c\" starts=1 loads=1 starts-used=1 loads-used=1 "
		"refilled=99999999999999999999\n",
		"disk \"c\" starts=1 loads=1 starts-used=1 loads-used=1 "
		"refilled=000000000000000000000000000000000001\n",
		"disk \"b\" starts=9 loads=9 starts-used=9 loads-used=9 refilled=9\n",
		"tape \"c\" starts=1 loads=1 starts-used=1 loads-used=1 refilled=1\n",
		"# starts=1\n\n",
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(wrong); i++) {
		_cleanup_free_ char *text = text_printf(HEAD LINE_B "%s" LINE_A, wrong[i]);
		_cleanup_(wear_book_freep) WearBook *b = load_text(text);

		assert_true(is_new(b, "c"));
		assert_int_equal(get(b, "a")->starts_used, 9);
		assert_int_equal(get(b, "b")->starts_used, 3);
	}
}

/* Cut anywhere, a number of it could still look right. */
static void a_file_that_was_cut_gives_whole_lines_or_none(void **state)
{
	static const char whole[] = HEAD LINE_A LINE_B;

	(void)state;
	for (size_t n = strlen(HEAD); n < strlen(whole); n++) {
		_cleanup_free_ char *text = strndup(whole, n);
		_cleanup_(wear_book_freep) WearBook *b = load_text(text);

		assert_true(is_new(b, "b"));
		if (n >= strlen(HEAD LINE_A))
			assert_true(near(get(b, "a")->starts, -2.25));
		else
			assert_true(is_new(b, "a"));
	}
}

/* Charges and saves for ever, and tells of each save that has returned. */
static void charge_until_killed(int told)
{
	_cleanup_(wear_book_freep) WearBook *b = load("wear");

	for (;;) {
		for (int i = 0; i < 20; i++) {
			char id[16];

			snprintf(id, sizeof(id), "disk%d", i);
			wear_charge(get(b, id), CONDITION_STANDBY_Z);
		}
		if (wear_book_save(b, "wear") < 0 || write(told, "x", 1) != 1)
			_exit(1);
	}
}

/* Lets it live for so many saves and a moment; returns how many it told of. */
static size_t live_and_die(unsigned saves, unsigned moment_us)
{
	int told[2], status;
	char buf[4096];
	size_t n = 0;
	ssize_t got;
	pid_t child;

	assert_int_equal(pipe(told), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		close(told[0]);
		charge_until_killed(told[1]);
	}
	close(told[1]);
	while (n < saves && (got = read(told[0], buf, sizeof(buf))) > 0)
		n += (size_t)got;
	usleep(moment_us);
	kill(child, SIGKILL);
	while ((got = read(told[0], buf, sizeof(buf))) > 0)
		n += (size_t)got;
	close(told[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	return n;
}

static void a_kill_at_any_moment_loses_no_charge_that_was_saved(void **state)
{
	uint64_t least = 0;

	(void)state;
	for (unsigned round = 0; round < 20; round++) {
		_cleanup_(wear_book_freep) WearBook *b = NULL;
		uint64_t used;

		least += live_and_die(1 + round % 3, round * 137);
		b = load("wear");
		used = get(b, "disk0")->starts_used;
		assert_true(used == least || used == least + 1);
		for (int i = 1; i < 20; i++) {
			char id[16];

			snprintf(id, sizeof(id), "disk%d", i);
			assert_true(get(b, id)->starts_used == used); /* never a part of a save */
		}
		least = used;
	}
}

static void a_save_is_on_the_disk_with_its_name_before_it_returns(void **state)
{
	_cleanup_(wear_book_freep) WearBook *b = load(NULL);

	(void)state;
	get(b, "a");
	n_synced_files = n_synced_folders = 0;
	assert_int_equal(wear_book_save(b, "wear"), 0);
	assert_int_equal(n_synced_files, 1);
	assert_int_equal(n_synced_folders, 1);
}

static void a_save_that_fails_leaves_the_last_one(void **state)
{
	_cleanup_(wear_book_freep) WearBook *b = load_text(HEAD LINE_A), *back = NULL;

	(void)state;
	get(b, "a")->starts_used = 1000;
	assert_int_equal(mkdir("wear.new", 0755), 0); /* where the new one is written */
	assert_int_equal(wear_book_save(b, "wear"), -EISDIR);
	assert_int_equal(rmdir("wear.new"), 0);
	back = load("wear");
	assert_int_equal(get(back, "a")->starts_used, 9);
	assert_int_equal(wear_book_save(b, "nowhere/wear"), -ENOENT);
}

static int make_folder(void **state)
{
	char *folder = strdup("/tmp/storpower-test-XXXXXX");

	*state = folder;
	return folder && mkdtemp(folder) ? chdir(folder) : -1;
}

static int remove_folder(void **state)
{
	_cleanup_free_ char *folder = *state;
	_cleanup_free_ char *command = text_printf("rm -r %s", folder);

	return command && chdir("/") == 0 ? system(command) : -1;
}

#define file_test(f) cmocka_unit_test_setup_teardown(f, make_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		file_test(a_disk_never_seen_begins_with_a_days_worth),
		file_test(an_account_stays_where_it_is_while_others_come),
		file_test(without_a_file_there_are_no_accounts_yet),
		file_test(accounts_survive_a_restart),
		file_test(what_passed_between_two_runs_is_earned),
		file_test(the_file_is_one_a_person_can_read),
		file_test(a_file_that_is_none_of_ours_is_refused),
		file_test(a_wrong_line_costs_only_its_own_disk),
		file_test(a_file_that_was_cut_gives_whole_lines_or_none),
		file_test(a_kill_at_any_moment_loses_no_charge_that_was_saved),
		file_test(a_save_is_on_the_disk_with_its_name_before_it_returns),
		file_test(a_save_that_fails_leaves_the_last_one),
	};

	log_set_max_level(LOG_CRIT); /* the warnings are provoked */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
