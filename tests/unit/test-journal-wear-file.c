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
#include "flipped.h"
#include "journal/wear-file.h"
#include "test-folder.h"

#define HOUR      (3600 * USEC_PER_SEC)
#define DAY       (24 * HOUR)
#define NOW       (55 * 365 * DAY)
#define TEN_A_DAY ((WearTerms){ .starts_a_day = 10, .loads_a_day = 300 })
#define HEAD      "storpower-wear 2 #b75a031e\n"
#define LINE_A                                                                                     \
	"disk id=\"a\" starts=-2.25 loads=7.5 starts-used=9 loads-used=11 refilled=77 #cef436f6\n"
#define LINE_B "disk id=\"b\" starts=1 loads=2 starts-used=3 loads-used=4 refilled=5 #481314a1\n"
/* The old format, as it was written. */
#define OLD_HEAD "storpower-wear 1\n"
#define OLD_A    "disk \"a\" starts=-2.250000 loads=7.500000 starts-used=9 loads-used=11 refilled=77\n"
#define OLD_B    "disk \"b\" starts=1.000000 loads=2.000000 starts-used=3 loads-used=4 refilled=5\n"
#define EPSILON  1e-9

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
	assert_string_equal(text, HEAD LINE_A LINE_B);
}

static void a_file_of_the_old_format_is_read_and_saved_in_the_new(void **state)
{
	_cleanup_(wear_book_freep) WearBook *b = load_text(
		OLD_HEAD "# Written by storpowerd. Cycles that each disk has left, and those it "
			 "used; when it last earned some,\n"
			 "# by the wall clock in microseconds.\n" OLD_A OLD_B);
	_cleanup_free_ char *text = NULL;

	(void)state;
	assert_int_equal(access("wear.damaged", F_OK), -1);
	assert_int_equal(wear_book_save(b, "wear"), 0);
	assert_int_equal(read_file("wear", &text), 0);
	assert_string_equal(text, HEAD LINE_A LINE_B);
}

static void a_newer_versions_file_is_refused(void **state)
{
	WearBook *b = NULL;

	(void)state;
	assert_int_equal(write_file_atomic("wear", "storpower-wear 3 #b85a04b1\n" LINE_A, 0644), 0);
	assert_int_equal(wear_book_load("wear", &b), -EPROTONOSUPPORT);
	assert_null(b);
	assert_int_equal(wear_book_load(".", &b), -EIO); /* a folder in its place */
}

static void a_file_that_is_none_of_ours_is_kept_beside(void **state)
{
	static const char *const texts[] = { "",
					     "\n",
					     "rubbish\n",
					     "storpower-wear 2\n" OLD_A,
					     "storpower-wear 1",
					     "storpower-wear 11\n" OLD_A,
					     OLD_A OLD_HEAD };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
		_cleanup_(wear_book_freep) WearBook *b = load_text(texts[i]);
		_cleanup_free_ char *kept = NULL;

		assert_true(is_new(b, "a"));
		assert_int_equal(read_file("wear.damaged", &kept), 0);
		assert_string_equal(kept, texts[i]);
		assert_int_equal(unlink("wear.damaged"), 0);
	}
}

static bool is_a(const WearAccount *a)
{
	return a->starts == -2.25 && a->loads == 7.5 && a->starts_used == 9 &&
	       a->loads_used == 11 && a->realtime_us == 77;
}

static bool is_b(const WearAccount *a)
{
	return a->starts == 1 && a->loads == 2 && a->starts_used == 3 && a->loads_used == 4 &&
	       a->realtime_us == 5;
}

static void put_bytes(const char *text, size_t n)
{
	assert_int_equal(write_bytes_atomic("wear", text, n, 0644), 0);
}

static void every_flipped_bit_is_noticed_and_what_is_whole_is_kept(void **state)
{
	static const char sample[] = HEAD LINE_A LINE_B;
	char text[sizeof(sample)];
	size_t n = strlen(sample);

	(void)state;
	memcpy(text, sample, sizeof(text));
	for (size_t at = 0; flip(text, n, at); flip(text, n, at++)) {
		_cleanup_(wear_book_freep) WearBook *b = NULL;
		bool a_there, b_there;

		put_bytes(text, n);
		b = load("wear");
		a_there = is_a(get(b, "a"));
		b_there = is_b(get(b, "b"));
		assert_true(a_there || is_new(b, "a"));
		assert_true(b_there || is_new(b, "b"));
		/* a newline that is gone takes the lines on both sides of it */
		assert_true(a_there || b_there || sample[at / 8] == '\n');
		assert_int_equal(unlink("wear.damaged"), 0);
	}
}

static void a_nul_costs_its_own_line_only(void **state)
{
	static const char text[] = HEAD "disk id=\"\0\" #01234567\n" LINE_A;
	_cleanup_(wear_book_freep) WearBook *b = NULL;

	(void)state;
	put_bytes(text, sizeof(text) - 1);
	b = load("wear");
	assert_true(is_a(get(b, "a")));
	assert_int_equal(access("wear.damaged", F_OK), 0);
}

static void any_bytes_and_any_number_read_back(void **state)
{
	uint64_t seed = 88172645463325252ULL;
	char id[64];

	(void)state;
	for (int i = 0; i < 500; i++) {
		_cleanup_(wear_book_freep) WearBook *b = load(NULL), *back = NULL;
		WearAccount *a = get(b, any_text(&seed, id, sizeof(id))), *read;

		a->starts = ldexp((double)(int64_t)draw(&seed), -40);
		a->loads = ldexp((double)(int64_t)draw(&seed), -(int)(draw(&seed) % 1000) - 40);
		a->starts_used = draw(&seed);
		assert_int_equal(wear_book_save(b, "wear"), 0);
		back = load("wear");
		read = get(back, id);
		assert_true(read->starts == a->starts && read->loads == a->loads);
		assert_true(read->starts_used == a->starts_used && read->loads_used == 0);
	}
	assert_int_equal(access("wear.damaged", F_OK), -1);
}

static void a_wrong_old_line_costs_only_its_own_disk(void **state)
{
	static const char *const wrong[] = {
		"disk\n",
		"disk c\n",
		"disk \"c\"\n",
		"disk \"c starts=1 loads=1 starts-used=1 loads-used=1 refilled=1\n",
		"disk \"c\" starts=1 loads=1 starts-used=1 loads-used=1\n",
		"disk \"c\" starts=1 loads=1 starts-used=1 loads-used=1 refilled=1 x=1\n",
		"disk \"c\" starts=1 loads=1 starts-used=1 loads-used=1 refilled=\n",
		"disk \"c\" starts=nan loads=1 starts-used=1 loads-used=1 refilled=1\n",
		"disk \"c\" starts=1 loads=inf starts-used=1 loads-used=1 refilled=1\n",
		"disk \"c\" starts=-1e10 loads=1 starts-used=1 loads-used=1 refilled=1\n",
		"disk \"c\" starts=1 loads=1 starts-used=-1 loads-used=1 refilled=1\n",
		"disk \"c\" starts=1 loads=1 starts-used=1 loads-used=1.5 refilled=1\n",
		"disk \"c\" starts=1 loads=1 starts-used=1 loads-used=1 "
		"refilled=99999999999999999999\n",
		"disk \"b\" starts=9 loads=9 starts-used=9 loads-used=9 refilled=9\n",
		"tape \"c\" starts=1 loads=1 starts-used=1 loads-used=1 refilled=1\n",
		"# starts=1\n\n",
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(wrong); i++) {
		_cleanup_free_ char *text = text_printf(OLD_HEAD OLD_B "%s" OLD_A, wrong[i]);
		_cleanup_(wear_book_freep) WearBook *b = load_text(text);

		assert_true(is_new(b, "c"));
		assert_int_equal(get(b, "a")->starts_used, 9);
		assert_int_equal(get(b, "b")->starts_used, 3);
	}
}

/* Cut anywhere, a number of it could still look right. */
static void check_cuts(const char *whole, size_t head, size_t both)
{
	for (size_t n = head; n < strlen(whole); n++) {
		_cleanup_free_ char *text = strndup(whole, n);
		_cleanup_(wear_book_freep) WearBook *b = load_text(text);

		assert_true(is_new(b, "b") ||
			    n + 1 == strlen(whole)); /* only its newline is gone */
		assert_true(n + 1 >= both ? is_a(get(b, "a")) || n + 1 == both : is_new(b, "a"));
	}
}

static void a_file_that_was_cut_gives_whole_lines_or_none(void **state)
{
	(void)state;
	check_cuts(HEAD LINE_A LINE_B, strlen(HEAD), strlen(HEAD LINE_A));
	check_cuts(OLD_HEAD OLD_A OLD_B, strlen(OLD_HEAD), strlen(OLD_HEAD OLD_A));
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
	assert_int_equal(wear_book_save(b, "wear"), -EEXIST);
	assert_int_equal(rmdir("wear.new"), 0);
	back = load("wear");
	assert_int_equal(get(back, "a")->starts_used, 9);
	assert_int_equal(wear_book_save(b, "nowhere/wear"), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		file_test(a_disk_never_seen_begins_with_a_days_worth),
		file_test(an_account_stays_where_it_is_while_others_come),
		file_test(without_a_file_there_are_no_accounts_yet),
		file_test(accounts_survive_a_restart),
		file_test(what_passed_between_two_runs_is_earned),
		file_test(the_file_is_one_a_person_can_read),
		file_test(a_file_of_the_old_format_is_read_and_saved_in_the_new),
		file_test(a_newer_versions_file_is_refused),
		file_test(a_file_that_is_none_of_ours_is_kept_beside),
		file_test(every_flipped_bit_is_noticed_and_what_is_whole_is_kept),
		file_test(a_nul_costs_its_own_line_only),
		file_test(any_bytes_and_any_number_read_back),
		file_test(a_wrong_old_line_costs_only_its_own_disk),
		file_test(a_file_that_was_cut_gives_whole_lines_or_none),
		file_test(a_kill_at_any_moment_loses_no_charge_that_was_saved),
		file_test(a_save_is_on_the_disk_with_its_name_before_it_returns),
		file_test(a_save_that_fails_leaves_the_last_one),
	};

	log_set_max_level(LOG_CRIT); /* the warnings are provoked */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
