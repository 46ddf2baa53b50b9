/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "plan/policy.h"

#define MINUTE_US (60 * 1000000ULL)

static char folder[] = "/tmp/storpower-policy-XXXXXX";

static char *written(const char *name, const char *text)
{
	char *path = text_printf("%s/%s", folder, name);
	FILE *f;

	assert_non_null(path);
	f = fopen(path, "we");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	return path;
}

/* Reads a policy and what was complained about it. */
static int read_policy(const char *text, Policy **ret, char complaints[1024])
{
	_cleanup_free_ char *path = written("test.policy", text);
	_cleanup_free_ char *errors = text_printf("%s/errors", folder);
	int saved, file, r;
	ssize_t n;

	fflush(stderr);
	saved = dup(STDERR_FILENO);
	file = open(errors, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(saved >= 0 && file >= 0);
	dup2(file, STDERR_FILENO);
	r = policy_read(path, ret);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	n = pread(file, complaints, 1023, 0);
	complaints[MAX(n, 0)] = '\0';
	close(file);
	close(saved);
	unlink(errors);
	unlink(path);
	return r;
}

static void every_key_is_read(void **state)
{
	_cleanup_(policy_freep) Policy *p = NULL;
	char complaints[1024];
	(void)state;

	assert_int_equal(read_policy("[policy]\n"
				     "description = words of mine\n"
				     "forbid = pacing, chunk\n"
				     "deepest = idle_c\n"
				     "rest = idle_a\n"
				     "rest_idle = 5min\n"
				     "sleep_idle = 20min\n"
				     "sleep_min = 1h\n"
				     "dwell = 0\n"
				     "hysteresis = 4.5%\n"
				     "demand_headroom = 2\n"
				     "latency_weight = 0.5\n"
				     "fairness = max\n"
				     "floor = 30%\n"
				     "[devices nvme*]\n"
				     "weight = 2.5\n"
				     "floor = 1.2GB/s\n"
				     "forbid = power-state\n"
				     "[devices sd?]\n"
				     "floor = 120MB/s\n"
				     "p99 = 5ms\n"
				     "protect = yes\n",
				     &p, complaints),
			 0);
	assert_string_equal(complaints, "");
	assert_string_equal(p->name, "test");
	assert_string_equal(p->description, "words of mine");
	assert_int_equal(p->forbidden, MECHANISM_PACING | MECHANISM_CHUNK);
	assert_int_equal(p->deepest, CONDITION_IDLE_C);
	assert_int_equal(p->rest, CONDITION_IDLE_A);
	assert_int_equal(p->rest_idle_us, 5 * MINUTE_US);
	assert_int_equal(p->sleep_idle_us, 20 * MINUTE_US);
	assert_int_equal(p->sleep_min_us, 60 * MINUTE_US);
	assert_int_equal(p->dwell_us, 0);
	assert_float_equal(p->hysteresis, 0.045, 1e-12);
	assert_float_equal(p->demand_headroom, 2, 0);
	assert_float_equal(p->latency_weight, 0.5, 0);
	assert_true(isinf(p->fairness));
	assert_float_equal(p->floor.share, 0.3, 1e-12);
	assert_int_equal(p->n_rules, 2);
	assert_int_equal(p->rules[1].p99_us, 5000);
	assert_string_equal(p->rules[0].match, "nvme*");
	assert_float_equal(p->rules[0].weight, 2.5, 0);
	assert_float_equal(p->rules[0].floor.mb_s, 1200, 1e-9);
	assert_int_equal(p->rules[0].forbidden, MECHANISM_POWER_STATE);
	assert_false(p->rules[0].protect);
	assert_float_equal(p->rules[1].weight, 1, 0);
	assert_float_equal(p->rules[1].floor.mb_s, 120, 1e-9);
	assert_true(p->rules[1].protect);
}

static void rules_about_sleep_and_asymmetry_are_read(void **state)
{
	_cleanup_(policy_freep) Policy *p = NULL;
	char complaints[1024];
	(void)state;

	assert_int_equal(read_policy("[devices nvme*]\n"
				     "weight = 2\n"
				     "[devices hdd*]\n"
				     "keep_awake = yes\n"
				     "limit = 30%\n"
				     "redirect = hold\n"
				     "[devices hdd1]\n"
				     "limit = 4.5W\n"
				     "redirect = as-found\n",
				     &p, complaints),
			 0);
	assert_string_equal(complaints, "");
	assert_int_equal(p->n_rules, 3);
	assert_false(p->rules[0].keep_awake);
	assert_true(p->rules[0].limit.share == 0 && p->rules[0].limit.watts == 0);
	assert_true(p->rules[1].keep_awake);
	assert_float_equal(p->rules[1].limit.share, 0.3, 1e-12);
	assert_int_equal(p->rules[1].redirect, REDIRECT_HOLD);
	assert_float_equal(p->rules[2].limit.watts, 4.5, 1e-12);
	assert_int_equal(p->rules[2].redirect, REDIRECT_AS_FOUND);
}

static void a_bad_value_is_named_with_its_line_and_refused(void **state)
{
	static const char *const lines[] = {
		"[policy]\nforbid = warp",        "[policy]\ndeepest = asleep",
		"[policy]\nsleep_idle = soon",    "[policy]\nsleep_min = -3s",
		"[policy]\nhysteresis = 130%",    "[policy]\nhysteresis = 3W",
		"[policy]\nhysteresis = nan",     "[policy]\ndemand_headroom = 0.5",
		"[policy]\nlatency_weight = -1",  "[devices *]\nweight = heavy",
		"[devices *]\nfloor = 120",       "[devices *]\nfloor = -1MB/s",
		"[devices *]\nprotect = perhaps", "[policy]\nrest = asleep",
		"[policy]\nrest_idle = soon",     "[devices *]\nkeep_awake = often",
		"[devices *]\nlimit = 30",        "[devices *]\nlimit = 0W",
		"[devices *]\nlimit = 130%",      "[devices *]\nredirect = drain",
	};
	(void)state;

	for (size_t i = 0; i < ELEMENTSOF(lines); i++) {
		char complaints[1024];
		Policy *p;

		assert_int_equal(read_policy(lines[i], &p, complaints), -EINVAL);
		assert_non_null(strstr(complaints, "test.policy:2: "));
		assert_non_null(strstr(complaints, "expected"));
	}
}

static void what_is_there_twice_is_named_with_both_lines_and_refused(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "[policy]\nrest = active\n[devices *]\nfloor = 1MB/s\n[policy]\nforbid = depth\n",
		  "test.policy:5: a second [policy], the first is in line 1" },
		{ "[devices a*]\nweight = 2\n[devices a*]\nweight = 3\n",
		  "test.policy:3: a second [devices a*], the first is in line 1" },
		{ "[policy]\nrest = active\nrest = idle_a\n",
		  "test.policy:3: [policy] has \"rest\" already, in line 2" },
		{ "[policy]\ndescription = gr\374n\n",
		  "test.policy:2: column 17 has the byte 0xFC, which is not UTF-8" },
	};
	(void)state;

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		char complaints[1024];
		Policy *p;

		assert_true(read_policy(cases[i].text, &p, complaints) < 0);
		assert_non_null(strstr(complaints, cases[i].says));
	}
}

static void a_disk_rests_no_deeper_than_the_deepest(void **state)
{
	_cleanup_(policy_freep) Policy *asked = NULL, *silent = NULL, *said = NULL;
	char complaints[1024];
	(void)state;

	assert_int_equal(
		read_policy("[policy]\nrest = standby_z\ndeepest = idle_a\n", &asked, complaints),
		0);
	assert_non_null(strstr(complaints,
			       "rest = standby_z is deeper than deepest = idle_a: disks rest in "
			       "idle_a"));
	assert_int_equal(asked->rest, CONDITION_IDLE_A);
	assert_int_equal(read_policy("[policy]\ndeepest = idle_a\n", &silent, complaints), 0);
	assert_string_equal(complaints, "");
	assert_int_equal(silent->rest, CONDITION_IDLE_A);
	assert_int_equal(read_policy("[policy]\nrest = active\n", &said, complaints), 0);
	assert_int_equal(said->rest, CONDITION_ACTIVE);
}

static void what_is_unknown_is_named_and_ignored(void **state)
{
	_cleanup_(policy_freep) Policy *p = NULL;
	char complaints[1024];
	(void)state;

	assert_int_equal(
		read_policy(
			"[policy]\nspeed = 3\n[disks]\nweight = 2\n[devices ]\nx = 1\n[polcy]\n",
			&p, complaints),
		0);
	assert_non_null(strstr(complaints, "test.policy:2: unknown key \"speed\""));
	assert_non_null(strstr(complaints, "test.policy:3: unknown section"));
	assert_non_null(strstr(complaints, "test.policy:5: "));
	assert_non_null(strstr(complaints, "test.policy:7: unknown section"));
	assert_null(strstr(complaints, "test.policy:4: ")); /* once a section */
	assert_int_equal(p->ignored, 4);
	assert_int_equal(p->n_rules, 0);
}

static void a_glob_may_have_brackets_and_ends_without_blanks(void **state)
{
	_cleanup_(policy_freep) Policy *p = NULL;
	char complaints[1024];
	(void)state;

	assert_int_equal(read_policy("[devices nvme[01]]\nweight = 2\n[devices sd* ]\nweight = 3\n",
				     &p, complaints),
			 0);
	assert_string_equal(complaints, "");
	assert_string_equal(p->rules[0].match, "nvme[01]");
	assert_string_equal(p->rules[1].match, "sd*");
}

static void a_line_that_is_not_ini_is_refused(void **state)
{
	char complaints[1024];
	Policy *p;
	(void)state;

	assert_int_equal(read_policy("[policy]\nwords\n", &p, complaints), -EBADMSG);
	assert_non_null(strstr(complaints, "test.policy:2"));
}

static void the_first_directory_that_has_it_wins(void **state)
{
	const char *directories[] = { folder, "policies", NULL };
	_cleanup_free_ char *path = written("archive.policy", "[policy]\nsleep_idle = 7s\n");
	_cleanup_(policy_freep) Policy *own = NULL, *shipped = NULL;
	Policy *none;
	(void)state;

	assert_int_equal(policy_find(directories, "archive", &own), 0);
	assert_int_equal(own->sleep_idle_us, 7 * 1000000);
	unlink(path);
	assert_int_equal(policy_find(directories, "archive", &shipped), 0);
	assert_int_equal(shipped->sleep_idle_us, 3 * MINUTE_US);
	assert_int_equal(policy_find(directories, "nonesuch", &none), -ENOENT);
	assert_int_equal(policy_find(directories, "../policies/archive", &none), -ENOENT);
	assert_int_equal(policy_find(directories, "", &none), -ENOENT);
}

static void the_shipped_policies_are_what_they_say(void **state)
{
	static const char *const directories[] = { "policies", NULL };
	static const struct {
		const char *name;
		Condition deepest, rest;
		uint64_t sleep_idle_us;
		double hysteresis, latency_weight;
		unsigned forbidden;
	} expected[] = {
		{ "balanced", CONDITION_STANDBY_Z, CONDITION_IDLE_B, 15 * MINUTE_US, 0.03, 0, 0 },
		{ "throughput", CONDITION_IDLE_B, CONDITION_IDLE_A, 15 * MINUTE_US, 0.01, 0, 0 },
		{ "latency", CONDITION_IDLE_B, CONDITION_ACTIVE, 15 * MINUTE_US, 0.05, 1,
		  MECHANISM_PACING },
		{ "archive", CONDITION_STANDBY_Z, CONDITION_STANDBY_Z, 3 * MINUTE_US, 0.05, 0, 0 },
		{ "asymmetric", CONDITION_STANDBY_Z, CONDITION_IDLE_B, 15 * MINUTE_US, 0.03, 0, 0 },
		{ "emergency", CONDITION_STANDBY_Z, CONDITION_STANDBY_Z, MINUTE_US / 12, 0, 0, 0 },
	};
	(void)state;

	for (size_t i = 0; i < ELEMENTSOF(expected); i++) {
		_cleanup_(policy_freep) Policy *p = NULL;

		assert_int_equal(policy_find(directories, expected[i].name, &p), 0);
		assert_string_equal(p->name, expected[i].name);
		assert_true(strlen(p->description) > 10);
		assert_int_equal(p->deepest, expected[i].deepest);
		assert_int_equal(p->rest, expected[i].rest);
		assert_true(p->rest_idle_us <= p->sleep_idle_us);
		assert_int_equal(p->sleep_idle_us, expected[i].sleep_idle_us);
		assert_float_equal(p->hysteresis, expected[i].hysteresis, 1e-12);
		assert_float_equal(p->latency_weight, expected[i].latency_weight, 0);
		assert_int_equal(p->forbidden, expected[i].forbidden);
		assert_true(p->demand_headroom >= 1);
	}
}

/* balanced.policy documents the defaults: an empty policy must be the same. */
static void balanced_says_the_defaults(void **state)
{
	_cleanup_(policy_freep) Policy *empty = NULL, *balanced = NULL;
	char complaints[1024];
	(void)state;

	assert_int_equal(read_policy("", &empty, complaints), 0);
	assert_int_equal(policy_read("policies/balanced.policy", &balanced), 0);
	assert_int_equal(empty->forbidden, balanced->forbidden);
	assert_int_equal(empty->deepest, balanced->deepest);
	assert_int_equal(empty->rest, balanced->rest);
	assert_float_equal(empty->fairness, balanced->fairness, 0);
	assert_float_equal(empty->floor.share, balanced->floor.share, 0);
	assert_int_equal(empty->rest_idle_us, balanced->rest_idle_us);
	assert_int_equal(empty->sleep_idle_us, balanced->sleep_idle_us);
	assert_int_equal(empty->sleep_min_us, balanced->sleep_min_us);
	assert_int_equal(empty->dwell_us, balanced->dwell_us);
	assert_true(empty->hysteresis == balanced->hysteresis);
	assert_true(empty->demand_headroom == balanced->demand_headroom);
	assert_true(empty->latency_weight == balanced->latency_weight);
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_is_read),
		cmocka_unit_test(rules_about_sleep_and_asymmetry_are_read),
		cmocka_unit_test(a_bad_value_is_named_with_its_line_and_refused),
		cmocka_unit_test(what_is_there_twice_is_named_with_both_lines_and_refused),
		cmocka_unit_test(a_disk_rests_no_deeper_than_the_deepest),
		cmocka_unit_test(what_is_unknown_is_named_and_ignored),
		cmocka_unit_test(a_glob_may_have_brackets_and_ends_without_blanks),
		cmocka_unit_test(a_line_that_is_not_ini_is_refused),
		cmocka_unit_test(the_first_directory_that_has_it_wins),
		cmocka_unit_test(the_shipped_policies_are_what_they_say),
		cmocka_unit_test(balanced_says_the_defaults),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
