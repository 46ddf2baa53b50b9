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
#include "base/printable.h"
#include "base/text.h"
#include "budget/claim.h"
#include "flipped.h"

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

	assert_true(claims_load(c, "test", text, strlen(text), &clock) >= 0);
	return c;
}

/* Words that cannot be shown are read as others. */
static bool reads_as(const char *saved, const char *read)
{
	_cleanup_free_ char *shown = printable_copy(saved ?: "");

	return streq(shown, read ?: "");
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

static void what_is_tolerated_survives(void **state)
{
	_cleanup_(claims_freep) Claims *c = claims_new(), *back = NULL;
	_cleanup_free_ char *text = NULL;
	uint64_t cookie;

	(void)state;
	add(c, &(Claim){ .limit = 1, .tolerance_s = 2.5, .expiry_us = USEC_NEVER });
	assert_int_equal(
		claims_add(c, &(Claim){ .limit = 1, .tolerance_s = 61, .expiry_us = 1 }, &cookie),
		-EINVAL);
	text = save(c, BOOT_A, HOUR, WALL);
	back = load(text, BOOT_B, HOUR, WALL);
	assert_true(claims_get(back, 0)->tolerance_s == 2.5);
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
		assert_true(reads_as(reasons[i], claims_get(back, i)->reason));
		assert_true(reads_as(reasons[i], claims_get(back, i)->source));
		assert_string_equal(claims_get(back, i)->target, "a \"b\"?");
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
		text, "storpower-claims 2 #40acf3d8\n"
		      "next-cookie value=2 #bbf3ca6f\n"
		      "claim cookie=1 class=\"operator\" scope=\"node\" limit=80 unit=\"%\" "
		      "source=\"storpowerctl (root)\" reason=\"heat\" boot=\"" BOOT_A
		      "\" created-us=7 expiry-boot-us=100 expiry-wall-us=1040 expiry-left-us=40 "
		      "#66ed1f9c\n");
}

static void owner_bound_claims_are_saved_with_their_bus(void **state)
{
	_cleanup_(claims_freep) Claims *c = claims_new(), *back = NULL;
	_cleanup_free_ char *text = NULL, *again = NULL;
	const Claim owned = {
		.limit = 1, .owner = (char *)":1.2", .bus = (char *)"b", .expiry_us = 9 * HOUR
	};

	(void)state;
	add(c, &owned);
	text = save(c, BOOT_A, HOUR, WALL);
	back = load(text, BOOT_A, HOUR, WALL);
	assert_string_equal(claims_get(back, 0)->owner, ":1.2");
	assert_string_equal(claims_get(back, 0)->bus, "b");
	claims_orphan(back, HOUR + 1);
	assert_true(claims_get(back, 0)->expiry_us == HOUR + 1);
	again = save(back, BOOT_A, HOUR, WALL);
	assert_string_equal(again, text);
}

static void owner_bound_claims_of_an_unknown_bus_are_not_saved(void **state)
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

/* A file of the old format, as it was written. */
#define HEAD "storpower-claims 1\n"

static void a_file_of_the_old_format_is_read(void **state)
{
	static const char text[] = HEAD
		"# Written by storpowerd. Times are boot time / wall clock / left, in microseconds.\n"
		"next-cookie 12\n"
		"claim cookie=7 class=operator scope=node limit=80% source=\"storpowerctl (root)\" "
		"reason=\"\" boot=" BOOT_A " created=123\n"
		"claim cookie=9 class=signal scope=group target=\"rack1\" limit=0.5W source=\"hook\" "
		"reason=\"two\\nlines \\\"x\\\" \\x1b\" boot=" BOOT_A
		" created=123 start=200/300/77 expiry=90000000/99000000/85000000\n"
		"claim cookie=10 class=emergency scope=device target=\"sda\" limit=5W source=\"s\" "
		"reason=\"r\" boot=" BOOT_B " created=1 expiry=1/99000000/85000000\n";
	_cleanup_(claims_freep) Claims *c = claims_new(), *back = NULL;
	_cleanup_free_ char *saved = NULL;
	const ClaimsClock clock = { BOOT_A, 123, 90000000 };
	const Claim *claim;

	(void)state;
	assert_int_equal(claims_load(c, "test", text, strlen(text), &clock), 0);
	saved = save(c, BOOT_A, 123, 90000000);
	assert_non_null(strstr(saved, "storpower-claims 2 #"));
	back = load(saved, BOOT_A, 123, 90000000);
	claim = claims_get(back, 0);
	assert_int_equal(claim->cookie, 7);
	assert_true(claim->class == CLASS_OPERATOR && claim->scope == SCOPE_NODE);
	assert_true(claim->limit == 80 && claim->unit == LIMIT_PERCENT);
	assert_true(claim->created_us == 123 && claim->expiry_us == USEC_NEVER);
	assert_string_equal(claim->source, "storpowerctl (root)");
	claim = claims_get(back, 1);
	assert_int_equal(claim->cookie, 9);
	assert_string_equal(claim->target, "rack1");
	assert_string_equal(claim->reason, "two?lines \"x\" ?");
	assert_true(claim->limit == 0.5 && claim->unit == LIMIT_WATTS);
	assert_true(claim->start_us == 200 && claim->expiry_us == 90000000);
	claim = claims_get(back, 2); /* of another boot: the wall clock counts */
	assert_int_equal(claim->cookie, 10);
	assert_true(claim->class == CLASS_EMERGENCY && claim->scope == SCOPE_DEVICE);
	assert_true(claim->created_us == 0 && claim->expiry_us == 123 + 9000000);
	assert_null(claims_get(back, 3));
	assert_int_equal(add(back, &(Claim){ .limit = 1, .expiry_us = USEC_NEVER }), 12);
}

static void an_old_line_nobody_understands_is_left_out_and_the_rest_loads(void **state)
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
		"claim cookie=8 class=emergency scope=device target=\"sda\" limit=5W source=\"s\" reason=\"r\" boot=x created=1\n";
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
	static const char newer[] = "storpower-claims 3 #41acf56b\nwhatever comes\n";
	const ClaimsClock clock = { BOOT_A, 1, 1 };
	_cleanup_(claims_freep) Claims *c = claims_new();

	(void)state;
	assert_int_equal(claims_load(c, "test", newer, strlen(newer), &clock), -EPROTONOSUPPORT);
	assert_null(claims_get(c, 0));
}

static void a_file_of_something_else_holds_no_claim(void **state)
{
	static const char *const texts[] = { "", "\n", "storpower-claims 2\n", "storpower-claims 1",
					     "next-cookie 4\n" };
	const ClaimsClock clock = { BOOT_A, 1, 1 };
	_cleanup_(claims_freep) Claims *c = claims_new();

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(texts); i++)
		assert_int_equal(claims_load(c, "test", texts[i], strlen(texts[i]), &clock), 1);
	assert_null(claims_get(c, 0));
}

static bool same(const Claim *a, const Claim *b)
{
	return a->cookie == b->cookie && a->class == b->class && a->scope == b->scope &&
	       reads_as(b->target, a->target) && a->limit == b->limit && a->unit == b->unit &&
	       reads_as(b->source, a->source) && reads_as(b->reason, a->reason) &&
	       a->created_us == b->created_us && a->start_us == b->start_us &&
	       a->expiry_us == b->expiry_us;
}

static Claims *some_claims(void)
{
	Claims *c = claims_new();

	add(c, &(Claim){ .class = CLASS_EMERGENCY,
			 .scope = SCOPE_GROUP,
			 .target = (char *)"rack1",
			 .unit = LIMIT_PERCENT,
			 .limit = 50,
			 .reason = (char *)"two\nlines",
			 .start_us = 20,
			 .expiry_us = 300 });
	add(c, &(Claim){ .limit = 350, .source = (char *)"hook", .expiry_us = USEC_NEVER });
	add(c, &(Claim){ .limit = 80, .reason = (char *)"heat", .expiry_us = 4000 });
	return c;
}

static void every_flipped_bit_is_noticed_and_what_is_whole_is_kept(void **state)
{
	_cleanup_(claims_freep) Claims *c = some_claims();
	_cleanup_free_ char *text = save(c, BOOT_A, 1, 1);
	const ClaimsClock clock = { BOOT_A, 1, 1 };
	size_t n = strlen(text);

	(void)state;
	for (size_t at = 0; flip(text, n, at); flip(text, n, at++)) {
		_cleanup_(claims_freep) Claims *back = claims_new();
		const Claim *claim;
		size_t i;

		assert_int_equal(claims_load(back, "test", text, n, &clock), 1);
		for (i = 0; (claim = claims_get(back, i)); i++)
			assert_true(same(claim, claims_find(c, claim->cookie)));
		/* a newline that is gone takes the lines on both sides of it */
		assert_in_range(i, 1, 3);
	}
}

/* Whatever is appended: the file reads as if it were written anew. */
static void what_is_appended_reads_as_a_file_written_anew(void **state)
{
	_cleanup_(claims_freep) Claims *c = claims_new(), *back = NULL;
	_cleanup_free_ char *file = save(c, BOOT_A, 1, 1);
	uint64_t seed = 88172645463325252ULL;

	(void)state;
	for (int round = 0; round < 300; round++) {
		const ClaimsClock clock = { BOOT_A, 1, 1 };
		const Claim claim = { .limit = 5,
				      .owner = draw(&seed) % 4 ? NULL : (char *)":1.7",
				      .expiry_us = USEC_NEVER };
		const ClaimChange change = { .sets_limit = true,
					     .limit = (double)(draw(&seed) % 100),
					     .class = CLASS_SIGNAL,
					     .reason = "changed",
					     .tolerance_s = NAN,
					     .for_us = HOUR };
		uint64_t changed[3] = { add(c, &claim), 1 + draw(&seed) % 300,
					1 + draw(&seed) % 300 };
		_cleanup_free_ char *text = NULL, *before = file;

		(void)claims_release(c, changed[1]);
		(void)claims_change(c, changed[2], &change, 1);
		assert_int_equal(claims_save_changes(c, changed, 3, &clock, &text), 0);
		file = text_printf("%s%s", before, text);
	}
	back = load(file, BOOT_A, 1, 1);
	assert_true(claims_drop_owner(c, ":1.7") > 0);
	for (size_t i = 0; claims_get(c, i) || claims_get(back, i); i++) {
		assert_true(claims_get(c, i) && claims_get(back, i));
		assert_true(same(claims_get(c, i), claims_get(back, i)));
	}
	assert_int_equal(add(c, &(Claim){ .expiry_us = USEC_NEVER }),
			 add(back, &(Claim){ .expiry_us = USEC_NEVER }));
}

static void a_nul_costs_its_own_line_only(void **state)
{
	_cleanup_(claims_freep) Claims *c = some_claims(), *back = claims_new();
	_cleanup_free_ char *text = save(c, BOOT_A, 1, 1);
	const ClaimsClock clock = { BOOT_A, 1, 1 };
	size_t n = strlen(text);

	(void)state;
	*strstr(text, "rack1") = '\0';
	assert_int_equal(claims_load(back, "test", text, n, &clock), 1);
	assert_true(same(claims_get(back, 0), claims_get(c, 1)));
	assert_true(same(claims_get(back, 1), claims_get(c, 2)));
	assert_null(claims_get(back, 2));
}

static void who_made_it_survives_and_his_process_does_not_survive_a_reboot(void **state)
{
	_cleanup_(claims_freep) Claims *c = claims_new(), *same_boot = NULL, *rebooted = NULL;
	_cleanup_free_ char *text = NULL;
	const Claim by_hook = { .limit = 5,
				.expiry_us = USEC_NEVER,
				.maker = { true, 1000, 4711, (char *)"hook.service" } };
	const Claim by_nobody = { .limit = 6, .expiry_us = USEC_NEVER };

	(void)state;
	add(c, &by_hook);
	add(c, &by_nobody);
	text = save(c, BOOT_A, 1, 1);
	same_boot = load(text, BOOT_A, 2, 2);
	rebooted = load(text, BOOT_B, 2, 2);
	assert_true(claims_get(same_boot, 0)->maker.known);
	assert_int_equal(claims_get(same_boot, 0)->maker.uid, 1000);
	assert_int_equal(claims_get(same_boot, 0)->maker.pid, 4711);
	assert_string_equal(claims_get(same_boot, 0)->maker.unit, "hook.service");
	assert_int_equal(claims_get(rebooted, 0)->maker.uid, 1000);
	assert_int_equal(claims_get(rebooted, 0)->maker.pid, 0);
	assert_false(claims_get(rebooted, 1)->maker.known);
	assert_null(claims_get(rebooted, 1)->maker.unit);
}

static void any_bytes_read_back(void **state)
{
	uint64_t seed = 88172645463325252ULL;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		_cleanup_(claims_freep) Claims *c = claims_new(), *back = claims_new();
		_cleanup_free_ char *text = NULL;
		const ClaimsClock clock = { BOOT_A, 1, draw(&seed) };
		char source[64], reason[64], target[64];
		uint64_t bits = draw(&seed);
		Claim claim = { .source = any_text(&seed, source, sizeof(source)),
				.reason = any_text(&seed, reason, sizeof(reason)),
				.target = any_text(&seed, target, sizeof(target)),
				.start_us = draw(&seed) >> (draw(&seed) % 64),
				.created_us = draw(&seed),
				.expiry_us = USEC_NEVER };

		claim.scope = *target ? SCOPE_DEVICE : SCOPE_NODE;
		memcpy(&claim.limit, &bits, sizeof(bits)); /* of any size, also subnormal */
		claim.limit = isfinite(claim.limit) ? fabs(claim.limit) : 0;
		claim.start_us = MIN(claim.start_us, USEC_NEVER - 1);
		add(c, &claim);
		text = save(c, BOOT_A, 1, clock.realtime_us);
		assert_int_equal(claims_load(back, "test", text, strlen(text), &clock), 0);
		assert_true(same(claims_get(back, 0), claims_get(c, 0)));
	}
}

/* As versions before this one saved them. */
static void a_claim_whose_words_are_no_text_is_kept_with_other_words(void **state)
{
	static const char *const texts[][2] = {
		{ "gr\344n", "gr?n" },
		{ "\302\23331m", "??31m" },
		{ "\342\200\256gpj", "???gpj" },
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(texts); i++) {
		char *word = (char *)texts[i][0];
		_cleanup_(claims_freep) Claims *c = claims_new(), *back = NULL;
		_cleanup_free_ char *text = NULL;
		const Claim *claim;

		add(c,
		    &(Claim){
			    .limit = 7, .source = word, .reason = word, .expiry_us = USEC_NEVER });
		text = save(c, BOOT_A, HOUR, WALL);
		back = load(text, BOOT_A, HOUR, WALL);
		claim = claims_get(back, 0);
		assert_non_null(claim);
		assert_true(claim->limit == 7);
		assert_string_equal(claim->source, texts[i][1]);
		assert_string_equal(claim->reason, texts[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_tolerated_survives),
		cmocka_unit_test(any_reason_survives),
		cmocka_unit_test(the_text_is_one_a_person_can_read),
		cmocka_unit_test(owner_bound_claims_are_saved_with_their_bus),
		cmocka_unit_test(owner_bound_claims_of_an_unknown_bus_are_not_saved),
		cmocka_unit_test(cookies_are_not_reused_after_a_restart),
		cmocka_unit_test(a_clock_that_jumps_changes_no_lease_within_a_boot),
		cmocka_unit_test(after_a_reboot_the_wall_clock_ends_a_lease),
		cmocka_unit_test(after_a_reboot_a_lease_never_exceeds_its_remainder),
		cmocka_unit_test(a_claim_yet_to_start_keeps_its_start_over_a_reboot),
		cmocka_unit_test(a_limit_reads_back_to_the_last_bit),
		cmocka_unit_test(an_old_line_nobody_understands_is_left_out_and_the_rest_loads),
		cmocka_unit_test(a_file_of_the_old_format_is_read),
		cmocka_unit_test(a_file_of_another_version_is_not_guessed_at),
		cmocka_unit_test(a_file_of_something_else_holds_no_claim),
		cmocka_unit_test(every_flipped_bit_is_noticed_and_what_is_whole_is_kept),
		cmocka_unit_test(what_is_appended_reads_as_a_file_written_anew),
		cmocka_unit_test(a_nul_costs_its_own_line_only),
		cmocka_unit_test(who_made_it_survives_and_his_process_does_not_survive_a_reboot),
		cmocka_unit_test(any_bytes_read_back),
		cmocka_unit_test(a_claim_whose_words_are_no_text_is_kept_with_other_words),
	};

	log_set_max_level(LOG_CRIT); /* the warnings are provoked */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
