/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/log.h"
#include "budget/claim.h"

#define BOOT_A "11111111-2222-3333-4444-555555555555"
#define BOOT_B "aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"
#define HOUR   (3600 * USEC_PER_SEC)
#define YEAR   (365 * 24 * HOUR)
#define WALL   (50 * YEAR)

static char *save(const Claims *c, const char *boot, uint64_t boottime, uint64_t realtime)
{
	const ClaimsClock clock = { boot, boottime, realtime };
	char *text = NULL;

	assert_int_equal(claims_save(c, &clock, &text), 0);
	assert_non_null(text);
	return text;
}

static Claims *load(const char *text, const char *boot, uint64_t boottime, uint64_t realtime)
{
	const ClaimsClock clock = { boot, boottime, realtime };
	Claims *c = claims_new();

	assert_true(claims_load(c, "test", text, &clock) >= 0);
	return c;
}

static uint64_t add(Claims *c, const Claim *claim)
{
	uint64_t cookie = 0;

	assert_int_equal(claims_add(c, claim, &cookie), 0);
	return cookie;
}

/* A claim of an hour, saved half an hour before its end, as seen at another time. */
static uint64_t left_of_an_hour(const char *boot, uint64_t boottime, uint64_t realtime)
{
	_cleanup_(claims_freep) Claims *c = claims_new(), *back = NULL;
	_cleanup_free_ char *text = NULL;
	const Claim lease = { .limit = 1, .created_us = HOUR, .expiry_us = 2 * HOUR };
	const Claim *claim;

	add(c, &lease);
	text = save(c, BOOT_A, HOUR + HOUR / 2, WALL);
	back = load(text, boot, boottime, realtime);
	claim = claims_get(back, 0);
	return claim ? claim->expiry_us - boottime : 0;
}

static void any_reason_survives(void **state)
{
	static const char *const reasons[] = {
		"",
		"plain",
		"two\nlines\r\n",
		"\"quoted\" \\ back\\n",
		"größer ≤ 80 % 电力 🔌",
		"\x01\x02\x1b[31m\x7f\t",
		"claim cookie=1",
		" = # ; ",
		"\xff\xfe broken UTF-8",
	};
	_cleanup_(claims_freep) Claims *c = claims_new(), *back = NULL;
	_cleanup_free_ char *text = NULL;

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(reasons); i++) {
		Claim claim = { .scope = SCOPE_GROUP,
				.target = (char *)"a \"b\"\n",
				.limit = 1,
				.reason = (char *)reasons[i],
				.source = (char *)reasons[i],
				.expiry_us = USEC_NEVER };

		add(c, &claim);
	}
	text = save(c, BOOT_A, 5, WALL);
	for (const char *p = text; *p; p++)
		assert_true((unsigned char)*p >= ' ' || *p == '\n');
	back = load(text, BOOT_A, 5, WALL);
	for (size_t i = 0; i < ELEMENTSOF(reasons); i++) {
		assert_string_equal(claims_get(back, i)->reason, reasons[i]);
		assert_string_equal(claims_get(back, i)->source, reasons[i]);
		assert_string_equal(claims_get(back, i)->target, "a \"b\"\n");
	}
}

static void the_text_is_one_a_person_can_read(void **state)
{
	_cleanup_(claims_freep) Claims *c = claims_new();
	_cleanup_free_ char *text = NULL;
	const Claim claim = { .class = CLASS_OPERATOR,
			      .limit = 80,
			      .unit = LIMIT_PERCENT,
			      .source = (char *)"storpowerctl (root)",
			      .reason = (char *)"heat",
			      .created_us = 7,
			      .expiry_us = 100 };

	(void)state;
	add(c, &claim);
	text = save(c, BOOT_A, 60, 1000);
	assert_string_equal(
		text,
		"storpower-claims 1\n"
		"# Written by storpowerd. Times are boot time / wall clock / left, in microseconds.\n"
		"next-cookie 2\n"
		"claim cookie=1 class=operator scope=node limit=80% "
		"source=\"storpowerctl (root)\" reason=\"heat\" boot=" BOOT_A
		" created=7 expiry=100/1040/40\n");
}

static void owner_bound_claims_are_never_saved(void **state)
{
	_cleanup_(claims_freep) Claims *c = claims_new();
	_cleanup_free_ char *text = NULL;
	const Claim owned = { .limit = 1, .owner = (char *)":1.2", .expiry_us = USEC_NEVER };

	(void)state;
	add(c, &owned);
	text = save(c, BOOT_A, 1, 1);
	assert_null(strstr(text, "claim cookie"));
}

static void cookies_are_not_reused_after_a_restart(void **state)
{
	_cleanup_(claims_freep) Claims *c = claims_new(), *back = NULL;
	_cleanup_free_ char *text = NULL;
	const Claim owned = { .limit = 1, .owner = (char *)":1.2", .expiry_us = USEC_NEVER };
	uint64_t last = 0;

	(void)state;
	for (int i = 0; i < 5; i++)
		last = add(c, &owned);
	assert_int_equal(claims_release(c, last), 0);
	text = save(c, BOOT_A, 1, 1);
	back = load(text, BOOT_A, 1, 1);
	assert_int_equal(add(back, &owned), last + 1);
}

static void a_clock_that_jumps_changes_no_lease_within_a_boot(void **state)
{
	static const uint64_t walls[] = { 0, WALL - 20 * YEAR, WALL, WALL + 30 * YEAR, USEC_NEVER };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(walls); i++) {
		assert_true(left_of_an_hour(BOOT_A, HOUR * 3 / 2, walls[i]) == HOUR / 2);
		assert_true(left_of_an_hour(BOOT_A, HOUR * 7 / 4, walls[i]) == HOUR / 4);
		assert_true(left_of_an_hour(BOOT_A, HOUR * 2, walls[i]) == 0);
	}
}

static void after_a_reboot_the_wall_clock_ends_a_lease(void **state)
{
	(void)state;
	assert_true(left_of_an_hour(BOOT_B, 10, WALL + HOUR / 6) == HOUR / 3);
	assert_true(left_of_an_hour(BOOT_B, 9 * HOUR, WALL + HOUR / 6) == HOUR / 3);
	assert_true(left_of_an_hour(BOOT_B, 10, WALL + HOUR / 2) == 0);
	assert_true(left_of_an_hour(BOOT_B, 10, WALL + YEAR) == 0);
}

static void after_a_reboot_a_lease_never_exceeds_its_remainder(void **state)
{
	(void)state;
	assert_true(left_of_an_hour(BOOT_B, 10, 0) == HOUR / 2);
	assert_true(left_of_an_hour(BOOT_B, 10, WALL - YEAR) == HOUR / 2);
	for (uint64_t wall = WALL - 3 * HOUR; wall < WALL + 3 * HOUR; wall += HOUR / 64)
		assert_true(left_of_an_hour(BOOT_B, wall % HOUR, wall) <= HOUR / 2);
}

static void a_claim_yet_to_start_keeps_its_start_over_a_reboot(void **state)
{
	_cleanup_(claims_freep) Claims *c = claims_new(), *back = NULL;
	_cleanup_free_ char *text = NULL;
	const Claim later = { .limit = 1, .start_us = 3 * HOUR, .expiry_us = 4 * HOUR };

	(void)state;
	add(c, &later);
	text = save(c, BOOT_A, HOUR, WALL);
	back = load(text, BOOT_B, 7, WALL + HOUR);
	assert_true(claims_get(back, 0)->start_us == HOUR + 7);
	assert_true(claims_get(back, 0)->expiry_us == 2 * HOUR + 7);
	claims_freep(&back);
	back = load(text, BOOT_B, 7, WALL + 2 * HOUR + 1);
	assert_true(claims_get(back, 0)->start_us == 0);
	assert_true(claims_get(back, 0)->expiry_us == HOUR - 1 + 7);
}

static void a_limit_reads_back_to_the_last_bit(void **state)
{
	static const double limits[] = {
		0, 0.1, 1.0 / 3, 350, 1e-300, 1.7976931348623157e308, 99.999999999999986
	};
	_cleanup_(claims_freep) Claims *c = claims_new(), *back = NULL;
	_cleanup_free_ char *text = NULL;

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(limits); i++)
		add(c, &(Claim){ .limit = limits[i], .expiry_us = USEC_NEVER });
	text = save(c, BOOT_A, 1, 1);
	back = load(text, BOOT_A, 1, 1);
	for (size_t i = 0; i < ELEMENTSOF(limits); i++)
		assert_true(claims_get(back, i)->limit == limits[i]);
}

#define HEAD "storpower-claims 1\n"

static void a_line_nobody_understands_is_left_out_and_the_rest_loads(void **state)
{
	static const char text[] = HEAD
		"next-cookie 9\n"
		"claim cookie=3 class=signal scope=node limit=5W source=\"s\" reason=\"r\" boot=x created=1\n"
		"claim cookie=3 class=signal scope=node limit=6W source=\"s\" reason=\"r\" boot=x created=1\n"
		"claim cookie=0 class=signal scope=node limit=5W source=\"s\" reason=\"r\" boot=x created=1\n"
		"claim cookie=4 class=signal scope=node limit=5 source=\"s\" reason=\"r\" boot=x created=1\n"
		"claim cookie=4 class=signal scope=node limit=nanW source=\"s\" reason=\"r\" boot=x created=1\n"
		"claim cookie=4 class=signal scope=node limit=5W source=\"s reason=\"r\" boot=x created=1\n"
		"claim cookie=4 class=signal scope=node limit=5W source=\"s\" reason=\"\\x00\" boot=x created=1\n"
		"claim cookie=4 class=signal class=signal scope=node limit=5W source=\"s\" reason=\"r\" boot=x created=1\n"
		"claim cookie=4 class=signal scope=node limit=5W source=\"s\" reason=\"r\" boot=x created=1 colour=red\n"
		"claim cookie=4 class=signal scope=node limit=5W source=\"s\" reason=\"r\" boot=x created=1 expiry=5/6\n"
		"claim cookie=4 class=signal scope=node limit=5W source=\"s\" reason=\"r\" boot=x created=1 start=5/6/7/8\n"
		"claim cookie=4 class=signal scope=device limit=5W source=\"s\" reason=\"r\" boot=x created=1\n"
		"claim cookie=4 class=signal scope=node source=\"s\" reason=\"r\" boot=x created=1\n"
		"claim\n"
		"next-cookie 18446744073709551615\n"
		"next-cookie minus one\n"
		"rubbish \xff\n"
		"\n"
		"# a comment\n"
		"claim cookie=8 class=emergency scope=device target=\"sda\" limit=5W source=\"s\" reason=\"r\" boot=x created=1";
	_cleanup_(claims_freep) Claims *c = load(text, BOOT_A, 1, 1);

	(void)state;
	assert_int_equal(claims_get(c, 0)->cookie, 3);
	assert_true(claims_get(c, 0)->limit == 5);
	assert_int_equal(claims_get(c, 1)->cookie, 8);
	assert_string_equal(claims_get(c, 1)->target, "sda");
	assert_null(claims_get(c, 2));
	assert_int_equal(add(c, &(Claim){ .limit = 1, .expiry_us = USEC_NEVER }), 9);
}

static void a_file_of_another_version_is_not_guessed_at(void **state)
{
	static const char *const texts[] = { "", "storpower-claims 2\n", "storpower-claims 1",
					     "next-cookie 4\n" };
	const ClaimsClock clock = { BOOT_A, 1, 1 };
	_cleanup_(claims_freep) Claims *c = claims_new();

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(texts); i++)
		assert_int_equal(claims_load(c, "test", texts[i], &clock), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_reason_survives),
		cmocka_unit_test(the_text_is_one_a_person_can_read),
		cmocka_unit_test(owner_bound_claims_are_never_saved),
		cmocka_unit_test(cookies_are_not_reused_after_a_restart),
		cmocka_unit_test(a_clock_that_jumps_changes_no_lease_within_a_boot),
		cmocka_unit_test(after_a_reboot_the_wall_clock_ends_a_lease),
		cmocka_unit_test(after_a_reboot_a_lease_never_exceeds_its_remainder),
		cmocka_unit_test(a_claim_yet_to_start_keeps_its_start_over_a_reboot),
		cmocka_unit_test(a_limit_reads_back_to_the_last_bit),
		cmocka_unit_test(a_line_nobody_understands_is_left_out_and_the_rest_loads),
		cmocka_unit_test(a_file_of_another_version_is_not_guessed_at),
	};

	log_set_max_level(LOG_CRIT); /* the warnings are provoked */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
