/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The operator's hooks have a say before a disk stops, and in nothing else: on simulated nodes and
 * virtual time, with hooks that the test makes up. */

#include <errno.h>
#include <inttypes.h>

#include "control/consent.h"
#include "test-control.h"

#define DISKS(n)                                                                                   \
	"[devices disk]\ncount = " #n                                                              \
	"\nprofile = seagate-constellation-es2\ngroup = bulk\nread = 60%\nrandom = 70%\n"          \
	"read_size = 256K\nwrite_size = 256K\ndepth = 16\n"
#define IDLE      "demand = idle\n"
#define MINUTE_S  60
#define ASKED_MAX 256

/* What was asked, and what is answered. */
typedef struct Hooks {
	const Clock *clock;
	const char *answer;     /* to "before" */
	const char *refuses;    /* the device of which that is; NULL: of all */
	uint64_t takes_us;      /* to answer */
	int error;              /* instead of an answer */
	char *asked[ASKED_MAX]; /* in order */
	size_t n;
} Hooks;

/* The room's callers know a path alone, and so it names the hooks of the test. */
static int answer(const char *path, const char *question, uint64_t within_us, char **ret)
{
	uintptr_t at = strtoumax(path, NULL, 16);
	Hooks *h = (Hooks *)at; /* NOLINT(performance-no-int-to-ptr) */
	bool refuses = strstr(question, "STORPOWER_EVENT=before\n") &&
		       (!h->refuses || strstr(question, h->refuses));

	assert_true(h->n < ASKED_MAX);
	h->asked[h->n++] = strdup(question);
	clock_sleep_us(h->clock, MIN(h->takes_us, within_us));
	if (h->error || h->takes_us > within_us)
		return h->error ?: -ETIMEDOUT;
	*ret = strdup(refuses && h->answer ? h->answer : "ok\n");
	return 0;
}

static char *path_of(const Hooks *h)
{
	return text_printf("%" PRIxPTR, (uintptr_t)h);
}

/* After that the node is idle for long enough that the budget may stop disks. */
static char *open_with(Fixture *f, Hooks *h, const char *node)
{
	char *path = path_of(h);

	fixture_open_text(f, node);
	f->hooks = (HooksConfig){ .ask = answer, .path = path, .timeout_us = 10 * USEC_PER_SEC };
	h->clock = &f->loop->clock;
	fixture_start(f);
	fixture_run(f, 30);
	return path;
}

static void close_with(Fixture *f, Hooks *h, char *path)
{
	fixture_close(f);
	free(path);
	for (size_t i = 0; i < h->n; i++)
		free(h->asked[i]);
}

/* Questions that have all these lines; line2 NULL: only the first. */
static size_t count_asked(const Hooks *h, const char *line1, const char *line2)
{
	size_t n = 0;

	for (size_t i = 0; i < h->n; i++)
		n += strstr(h->asked[i], line1) && (!line2 || strstr(h->asked[i], line2));
	return n;
}

#define BEFORE "STORPOWER_EVENT=before\n"
#define AFTER  "STORPOWER_EVENT=after\n"

static uint64_t claim_of(Fixture *f, ClaimClass class, double watts)
{
	Claim c = { .class = class,
		    .limit = watts,
		    .unit = LIMIT_WATTS,
		    .source = "test",
		    .reason = "a reason",
		    .expiry_us = USEC_NEVER };

	return fixture_claim(f, &c);
}

static void each_disk_is_asked_of_once_before_it_stops_and_told_of_after(void **state)
{
	Hooks h = {};
	Fixture f;
	char *path;

	(void)state;
	path = open_with(&f, &h, SIM_NODE("archive") DISKS(4) IDLE);
	claim_of(&f, CLASS_OPERATOR, 8);
	fixture_run(&f, 2 * MINUTE_S);
	assert_int_equal(count_asleep(&f), 4);
	assert_int_equal(count_asked(&h, BEFORE, "STORPOWER_STEP=spin-down\n"), 4);
	assert_int_equal(count_asked(&h, AFTER, "STORPOWER_RESULT=done\n"), 4);
	assert_int_equal(h.n, 8);
	assert_int_equal(count_asked(&h, "STORPOWER_CLASS=operator\n", "STORPOWER_SOURCE=test\n"),
			 8);
	assert_int_equal(
		count_asked(&h, "STORPOWER_REASON=a reason\n", "STORPOWER_BUDGET_WATTS=8.0\n"), 8);
	assert_int_equal(count_asked(&h, BEFORE, "STORPOWER_MAY_VETO=yes\n"), 4);
	assert_int_equal(count_asked(&h, "STORPOWER_NEW_SETTING=standby", "STORPOWER_LOSS="), 8);
	assert_int_equal(count_asked(&h, "STORPOWER_TIMEOUT_SECONDS=10.000\n", NULL), 8);
	close_with(&f, &h, path);
}

static void a_veto_keeps_the_disk_up_and_is_the_reason_that_is_shown(void **state)
{
	Hooks h = { .answer = "veto 50-backup: it runs\n", .refuses = "DEVICE=disk0\n" };
	Fixture f;
	DeviceState d;
	char *path;

	(void)state;
	path = open_with(&f, &h, SIM_NODE("archive") DISKS(2) IDLE);
	h.refuses = text_printf("DEVICE=%s\n", f.control->fleet.devices[0]->device->name);
	claim_of(&f, CLASS_OPERATOR, 4);
	fixture_run(&f, MINUTE_S);
	assert_false(managed_asleep(f.control->fleet.devices[0]));
	assert_true(managed_asleep(f.control->fleet.devices[1]));
	assert_int_equal(control_device(f.control, 0, &d), 0);
	assert_string_equal(d.sleep.awake_why, "hook 50-backup vetoed: it runs");
	assert_int_equal(count_decisions(&f, d.device->name, "not put to sleep"), 1);
	assert_int_equal(
		count_asked(&h, AFTER, "STORPOWER_RESULT=vetoed: hook 50-backup vetoed: it runs\n"),
		1);
	assert_true(state_of(&f).degraded);
	free((char *)h.refuses);
	close_with(&f, &h, path);
}

static void a_veto_is_asked_again_after_some_minutes(void **state)
{
	Hooks h = { .answer = "veto 50-backup: it runs\n" };
	Fixture f;
	char *path;

	(void)state;
	path = open_with(&f, &h, SIM_NODE("archive") DISKS(1) IDLE);
	claim_of(&f, CLASS_OPERATOR, 2);
	fixture_run(&f, 4 * MINUTE_S);
	assert_int_equal(count_asked(&h, BEFORE, NULL), 1);
	h.answer = NULL;
	fixture_run(&f, 4 * MINUTE_S);
	assert_int_equal(count_asked(&h, BEFORE, NULL), 2);
	assert_int_equal(count_asleep(&f), 1);
	close_with(&f, &h, path);
}

static void a_veto_is_asked_again_at_once_for_another_claim(void **state)
{
	Hooks h = { .answer = "veto 50-backup: it runs\n" };
	Fixture f;
	char *path;

	(void)state;
	path = open_with(&f, &h, SIM_NODE("archive") DISKS(1) IDLE);
	claim_of(&f, CLASS_OPERATOR, 3);
	fixture_run(&f, MINUTE_S);
	assert_int_equal(count_asked(&h, BEFORE, NULL), 1);
	h.answer = NULL;
	claim_of(&f, CLASS_OPERATOR, 2);
	fixture_run(&f, MINUTE_S);
	assert_int_equal(count_asked(&h, BEFORE, NULL), 2);
	assert_int_equal(count_asleep(&f), 1);
	close_with(&f, &h, path);
}

static void an_emergency_tells_them_and_neither_waits_nor_listens(void **state)
{
	Hooks h = { .answer = "veto 50-backup: it runs\n", .takes_us = 9 * USEC_PER_SEC };
	Fixture f;
	char *path;

	(void)state;
	path = open_with(&f, &h, SIM_NODE("emergency") DISKS(2) IDLE);
	claim_of(&f, CLASS_EMERGENCY, 4);
	fixture_run(&f, 0.1);
	for (size_t i = 0; i < 2; i++)
		assert_true(f.control->fleet.devices[i]->errands.busy ||
			    managed_asleep(f.control->fleet.devices[i]));
	fixture_run(&f, MINUTE_S);
	assert_int_equal(count_asleep(&f), 2);
	assert_int_equal(count_asked(&h, BEFORE, "STORPOWER_MAY_VETO=no\n"), 2);
	assert_int_equal(count_asked(&h, AFTER, "STORPOWER_RESULT=done\n"), 2);
	close_with(&f, &h, path);
}

static void an_emergency_ends_the_wait_for_an_answer_and_a_veto(void **state)
{
	Hooks h = { .answer = "veto 50-backup: it runs\n", .refuses = "CLASS=operator\n" };
	Fixture f;
	char *path;

	(void)state;
	path = open_with(&f, &h, SIM_NODE("archive") DISKS(2) IDLE);
	claim_of(&f, CLASS_OPERATOR, 4);
	fixture_run(&f, MINUTE_S);
	assert_int_equal(count_asleep(&f), 0);
	claim_of(&f, CLASS_EMERGENCY, 3);
	fixture_run(&f, MINUTE_S);
	assert_int_equal(count_asleep(&f), 2);
	close_with(&f, &h, path);
}

/* More than are asked at a time, and those that serve are lowered as if there were no hooks. */
static void hooks_that_are_slow_keep_no_fast_knob_waiting(void **state)
{
	Hooks h = { .takes_us = 10 * USEC_PER_SEC };
	Fixture f;
	ControlState s;
	char *path;
	size_t most = 0;

	(void)state;
	path = open_with(&f, &h,
			 SIM_NODE("archive") DISKS(20) IDLE SIM_FLASH "demand = saturate\n");
	claim_of(&f, CLASS_OPERATOR, 50);
	fixture_run(&f, 1);
	s = state_of(&f);
	assert_true(s.last_enforce_us < 600 * USEC_PER_MSEC);
	assert_int_equal(count_asleep(&f), 0);
	assert_true(h.n > 0);
	for (unsigned i = 0; i < 600; i++) {
		size_t out = 0;

		for (size_t k = 0; k < f.control->fleet.n; k++)
			out += f.control->fleet.devices[k]->rest.consents.out;
		most = MAX(most, out);
		fixture_run(&f, 0.2);
	}
	assert_int_equal(most, 8);
	assert_true(count_asleep(&f) > 8);
	assert_int_equal(virtual_loop_blocked_us(f.loop), 0);
	close_with(&f, &h, path);
}

static void a_device_whose_hooks_are_asked_does_not_count_as_one_that_hangs(void **state)
{
	Hooks h = { .takes_us = 9 * USEC_PER_SEC };
	Fixture f;
	char *path;

	(void)state;
	path = open_with(&f, &h, SIM_NODE("archive") DISKS(1) IDLE);
	claim_of(&f, CLASS_OPERATOR, 2);
	fixture_run(&f, 5);
	assert_int_equal(count_asked(&h, BEFORE, NULL), 1);
	assert_false(f.control->fleet.devices[0]->errands.busy);
	assert_problem(&f, f.control->fleet.devices[0]->device->name, "");
	fixture_run(&f, MINUTE_S);
	assert_int_equal(count_asleep(&f), 1);
	close_with(&f, &h, path);
}

static void who_cannot_be_asked_keeps_no_disk_up(void **state)
{
	static const int errors[] = { -ENOENT, -ECONNREFUSED, -ETIMEDOUT };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(errors); i++) {
		Hooks h = { .error = errors[i] };
		Fixture f;
		char *path = open_with(&f, &h, SIM_NODE("archive") DISKS(1) IDLE);

		claim_of(&f, CLASS_OPERATOR, 2);
		fixture_run(&f, MINUTE_S);
		assert_int_equal(count_asleep(&f), 1);
		close_with(&f, &h, path);
	}
}

static void nothing_is_asked_for_what_is_fast_or_given_back(void **state)
{
	Hooks h = { .answer = "veto 50-backup: it runs\n" };
	Fixture f;
	char *path;
	uint64_t cookie;

	(void)state;
	path = open_with(&f, &h, SIM_NODE("archive") SIM_FLASH "demand = saturate\n");
	cookie = fixture_set(&f, "60%");
	fixture_run(&f, MINUTE_S);
	assert_true(knob_set_touched(f.control->fleet.devices[0]));
	fixture_release(&f, cookie);
	fixture_run(&f, MINUTE_S);
	assert_false(knob_set_touched(f.control->fleet.devices[0]));
	assert_int_equal(h.n, 0);
	close_with(&f, &h, path);
}

static void disks_that_wake_are_not_asked_about(void **state)
{
	Hooks h = {};
	Fixture f;
	char *path, *error = NULL;
	size_t n;

	(void)state;
	path = open_with(&f, &h, SIM_NODE("archive") DISKS(2) IDLE);
	fixture_release(&f, claim_of(&f, CLASS_OPERATOR, 4));
	fixture_run(&f, MINUTE_S);
	n = h.n;
	assert_int_equal(control_wake_device(f.control, "", &error), 0);
	fixture_run(&f, MINUTE_S);
	assert_int_equal(count_asleep(&f), 0);
	assert_int_equal(h.n, n);
	close_with(&f, &h, path);
}

static void a_step_that_is_given_up_after_it_was_asked_for_is_told_of(void **state)
{
	Hooks h = { .takes_us = 5 * USEC_PER_SEC };
	Fixture f;
	char *path;
	uint64_t cookie;

	(void)state;
	path = open_with(&f, &h, SIM_NODE("archive") DISKS(1) IDLE);
	cookie = claim_of(&f, CLASS_OPERATOR, 2);
	fixture_run(&f, 2);
	assert_int_equal(count_asked(&h, BEFORE, NULL), 1);
	fixture_release(&f, cookie);
	fixture_run(&f, MINUTE_S);
	assert_int_equal(count_asleep(&f), 0);
	assert_int_equal(count_asked(&h, AFTER, "STORPOWER_RESULT=failed: it was not made"), 1);
	close_with(&f, &h, path);
}

/* The limit changes while a hook thinks: what it says then is of a step that nobody wants. */
static void an_answer_counts_for_the_limit_that_it_was_asked_for_alone(void **state)
{
	Hooks h = { .answer = "veto 50-backup: it runs\n",
		    .refuses = "BUDGET_WATTS=3.0\n",
		    .takes_us = 5 * USEC_PER_SEC };
	Fixture f;
	char *path;

	(void)state;
	path = open_with(&f, &h, SIM_NODE("archive") DISKS(1) IDLE);
	claim_of(&f, CLASS_OPERATOR, 3);
	fixture_run(&f, 2);
	claim_of(&f, CLASS_OPERATOR, 2);
	fixture_run(&f, MINUTE_S);
	assert_int_equal(count_asleep(&f), 1);
	assert_int_equal(count_asked(&h, BEFORE, NULL), 2);
	assert_int_equal(count_asked(&h, AFTER, "another limit is in force"), 1);
	close_with(&f, &h, path);
}

static void an_emergency_does_not_wait_behind_a_lower_limit_of_another_class(void **state)
{
	Hooks h = { .takes_us = 9 * USEC_PER_SEC };
	Fixture f;
	char *path;

	(void)state;
	path = open_with(&f, &h, SIM_NODE("archive") DISKS(2) IDLE);
	claim_of(&f, CLASS_EMERGENCY, 6);
	claim_of(&f, CLASS_OPERATOR, 4);
	fixture_run(&f, 0.1);
	for (size_t i = 0; i < 2; i++)
		assert_true(f.control->fleet.devices[i]->errands.busy ||
			    managed_asleep(f.control->fleet.devices[i]));
	fixture_run(&f, MINUTE_S);
	assert_int_equal(count_asked(&h, BEFORE, "STORPOWER_MAY_VETO=yes\n"), 0);
	close_with(&f, &h, path);
}

/* More members than are asked at a time. */
static void a_pool_stops_only_once_hooks_consent_to_all_of_it(void **state)
{
	Hooks h = { .takes_us = 20 * USEC_PER_SEC };
	Fixture f;
	char *path;

	(void)state;
	path = open_with(&f, &h, SIM_NODE("archive") DISKS(12) "pool = tank\n" IDLE);
	f.control->config.hooks.timeout_us = 30 * USEC_PER_SEC;
	claim_of(&f, CLASS_OPERATOR, 20);
	fixture_run(&f, 30);
	assert_int_equal(f.control->fleet.devices[0]->rest.consents.of[0].state, CONSENT_GIVEN);
	assert_int_equal(count_asked(&h, BEFORE, NULL), 12);
	assert_int_equal(count_asleep(&f), 0);
	fixture_run(&f, MINUTE_S);
	assert_int_equal(count_asleep(&f), 12);
	close_with(&f, &h, path);
}

static void a_veto_keeps_all_of_a_pool_up(void **state)
{
	Hooks h = { .answer = "veto 50-backup: it runs\n", .refuses = "DEVICE=sdd\n" };
	Fixture f;
	char *path;

	(void)state;
	path = open_with(&f, &h, SIM_NODE("archive") DISKS(12) "pool = tank\n" IDLE);
	claim_of(&f, CLASS_OPERATOR, 20);
	fixture_run(&f, 4 * MINUTE_S);
	assert_int_equal(count_asleep(&f), 0);
	close_with(&f, &h, path);
}

static void a_question_that_nobody_has_heard_yet_is_taken_back_with_the_limit(void **state)
{
	Hooks h = { .takes_us = 9 * USEC_PER_SEC };
	Fixture f;
	char *path;
	uint64_t cookie;

	(void)state;
	path = open_with(&f, &h, SIM_NODE("archive") DISKS(20) IDLE);
	cookie = claim_of(&f, CLASS_OPERATOR, 40);
	fixture_run(&f, 2);
	assert_int_equal(count_asked(&h, BEFORE, NULL), 8);
	fixture_release(&f, cookie);
	fixture_run(&f, 2 * MINUTE_S);
	assert_int_equal(count_asked(&h, BEFORE, NULL), 8);
	assert_int_equal(count_asked(&h, AFTER, NULL), 8);
	close_with(&f, &h, path);
}

static void a_timeout_of_none_leaves_hooks_out(void **state)
{
	Hooks h = { .answer = "veto 50-backup: it runs\n" };
	Fixture f;
	char *path;

	(void)state;
	path = open_with(&f, &h, SIM_NODE("archive") DISKS(1) IDLE);
	f.control->config.hooks.timeout_us = 0;
	claim_of(&f, CLASS_OPERATOR, 2);
	fixture_run(&f, MINUTE_S);
	assert_int_equal(count_asleep(&f), 1);
	assert_int_equal(h.n, 0);
	close_with(&f, &h, path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_disk_is_asked_of_once_before_it_stops_and_told_of_after),
		cmocka_unit_test(a_veto_keeps_the_disk_up_and_is_the_reason_that_is_shown),
		cmocka_unit_test(a_veto_is_asked_again_after_some_minutes),
		cmocka_unit_test(a_veto_is_asked_again_at_once_for_another_claim),
		cmocka_unit_test(an_emergency_tells_them_and_neither_waits_nor_listens),
		cmocka_unit_test(an_emergency_ends_the_wait_for_an_answer_and_a_veto),
		cmocka_unit_test(hooks_that_are_slow_keep_no_fast_knob_waiting),
		cmocka_unit_test(a_device_whose_hooks_are_asked_does_not_count_as_one_that_hangs),
		cmocka_unit_test(who_cannot_be_asked_keeps_no_disk_up),
		cmocka_unit_test(nothing_is_asked_for_what_is_fast_or_given_back),
		cmocka_unit_test(disks_that_wake_are_not_asked_about),
		cmocka_unit_test(a_step_that_is_given_up_after_it_was_asked_for_is_told_of),
		cmocka_unit_test(an_answer_counts_for_the_limit_that_it_was_asked_for_alone),
		cmocka_unit_test(an_emergency_does_not_wait_behind_a_lower_limit_of_another_class),
		cmocka_unit_test(a_pool_stops_only_once_hooks_consent_to_all_of_it),
		cmocka_unit_test(a_veto_keeps_all_of_a_pool_up),
		cmocka_unit_test(a_question_that_nobody_has_heard_yet_is_taken_back_with_the_limit),
		cmocka_unit_test(a_timeout_of_none_leaves_hooks_out),
	};

	log_set_max_level(LOG_CRIT);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
