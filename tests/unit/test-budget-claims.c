/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "budget/claim-lowest.h"
#include "budget/claim.h"

static const Claim watts_350 = { .class = CLASS_OPERATOR, .limit = 350, .expiry_us = USEC_NEVER };

static Claim claim_of(double limit, LimitUnit unit, ClaimClass class)
{
	return (Claim){ .class = class, .limit = limit, .unit = unit, .expiry_us = USEC_NEVER };
}

static uint64_t add(Claims *c, Claim claim)
{
	uint64_t cookie = 0;

	assert_int_equal(claims_add(c, &claim, &cookie), 0);
	assert_int_not_equal(cookie, 0);
	return cookie;
}

static uint64_t effective_cookie(const Claims *c, uint64_t now_us)
{
	const Claim *claim;

	claims_effective(c, SCOPE_NODE, NULL, 1000, now_us, &claim);
	return claim ? claim->cookie : 0;
}

static void without_claims_nothing_is_limited(void **state)
{
	_cleanup_(claims_freep) Claims *c = claims_new();
	const Claim *claim = &watts_350;

	(void)state;
	assert_true(isinf(claims_effective(c, SCOPE_NODE, NULL, 1000, 5, &claim)));
	assert_null(claim);
	assert_null(claims_get(c, 0));
	assert_true(claims_next_event(c, 5) == USEC_NEVER);
	assert_int_equal(claims_release(c, 1), -ENOENT);
	assert_null(claims_free(NULL));
}

static void a_claim_that_makes_no_sense_is_refused(void **state)
{
	const Claim bad[] = {
		{ .limit = NAN, .expiry_us = 1 },
		{ .limit = INFINITY, .expiry_us = 1 },
		{ .limit = -1, .expiry_us = 1 },
		{ .limit = -0.0, .expiry_us = 1 },
		{ .limit = 100.01, .unit = LIMIT_PERCENT, .expiry_us = 1 },
		{ .limit = 1, .unit = (LimitUnit)7, .expiry_us = 1 },
		{ .limit = 1, .class = _CLASS_MAX, .expiry_us = 1 },
		{ .limit = 1, .scope = (ClaimScope)3, .target = (char *)"x", .expiry_us = 1 },
		{ .limit = 1, .start_us = 5, .expiry_us = 5 },
		{ .limit = 1, .expiry_us = 0 },
		{ .limit = 1, .scope = SCOPE_GROUP, .expiry_us = 1 },
		{ .limit = 1, .scope = SCOPE_DEVICE, .target = (char *)"", .expiry_us = 1 },
		{ .limit = 1, .target = (char *)"sda", .expiry_us = 1 },
	};
	_cleanup_(claims_freep) Claims *c = claims_new();

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
		uint64_t cookie = 77;

		assert_int_equal(claims_add(c, &bad[i], &cookie), -EINVAL);
		assert_int_equal(cookie, 77);
	}
	assert_null(claims_get(c, 0));
}

static void the_4097th_claim_is_refused_and_a_release_makes_room(void **state)
{
	_cleanup_(claims_freep) Claims *c = claims_new();
	uint64_t cookie = 0;

	(void)state;
	for (unsigned i = 0; i < 4096; i++)
		add(c, watts_350);
	assert_int_equal(claims_add(c, &watts_350, &cookie), -E2BIG);
	assert_int_equal(claims_release(c, 4096), 0);
	assert_int_equal(add(c, watts_350), 4097);
}

static void the_claim_is_copied(void **state)
{
	_cleanup_(claims_freep) Claims *c = claims_new();
	char target[] = "rack1", source[] = "me", reason[] = "heat", owner[] = ":1.5";
	Claim given = { .scope = SCOPE_GROUP,
			.target = target,
			.limit = 1,
			.source = source,
			.reason = reason,
			.owner = owner,
			.expiry_us = 9 };
	const Claim *kept;
	uint64_t cookie = add(c, given);

	(void)state;
	memset(target, 'x', 5);
	memset(reason, 'x', 4);
	kept = claims_find(c, cookie);
	assert_non_null(kept);
	assert_ptr_equal(kept, claims_get(c, 0));
	assert_string_equal(kept->target, "rack1");
	assert_string_equal(kept->reason, "heat");
	assert_string_equal(kept->source, "me");
	assert_string_equal(kept->owner, ":1.5");
	given = watts_350;
	kept = claims_find(c, add(c, given));
	assert_string_equal(kept->reason, "");
	assert_null(kept->owner);
}

static void the_lowest_active_limit_wins_across_units(void **state)
{
	_cleanup_(claims_freep) Claims *c = claims_new();
	uint64_t watts = add(c, claim_of(500, LIMIT_WATTS, CLASS_EMERGENCY));
	uint64_t percent = add(c, claim_of(40, LIMIT_PERCENT, CLASS_SCHEDULE));
	const Claim *claim;

	(void)state;
	assert_true(claims_effective(c, SCOPE_NODE, NULL, 1000, 1, &claim) == 400);
	assert_int_equal(claim->cookie, percent);
	assert_true(claims_effective(c, SCOPE_NODE, NULL, 2000, 1, &claim) == 500);
	assert_int_equal(claim->cookie, watts);
	assert_true(claims_effective(c, SCOPE_NODE, NULL, 2000, 1, NULL) == 500);
}

static void a_hundred_percent_is_a_limit_above_all_others(void **state)
{
	_cleanup_(claims_freep) Claims *c = claims_new();
	uint64_t all = add(c, claim_of(100, LIMIT_PERCENT, CLASS_EMERGENCY)), watts, cookie;
	LowestClaims lowest;
	const Claim *claim;

	(void)state;
	assert_true(claims_effective(c, SCOPE_NODE, NULL, 1000, 1, &claim) == LIMIT_MAX_W);
	assert_int_equal(claim->cookie, all);
	watts = add(c, claim_of(5000, LIMIT_WATTS, CLASS_SCHEDULE));
	assert_true(claims_effective(c, SCOPE_NODE, NULL, 1000, 1, &claim) == 5000);
	assert_int_equal(claim->cookie, watts);
	assert_int_equal(lowest_claims_find(c, 1, &lowest), 0);
	assert_true(lowest_claims_limit_w(&lowest, SCOPE_NODE, NULL, 1000, &cookie) == 5000);
	assert_int_equal(cookie, watts);
	lowest_claims_done(&lowest);
}

static void a_tie_goes_to_the_most_urgent_and_then_the_oldest(void **state)
{
	_cleanup_(claims_freep) Claims *c = claims_new();
	uint64_t first, urgent;

	(void)state;
	first = add(c, claim_of(300, LIMIT_WATTS, CLASS_OPERATOR));
	add(c, claim_of(300, LIMIT_WATTS, CLASS_OPERATOR));
	add(c, claim_of(30, LIMIT_PERCENT, CLASS_SIGNAL));
	assert_int_equal(effective_cookie(c, 1), first);
	urgent = add(c, claim_of(30, LIMIT_PERCENT, CLASS_EMERGENCY));
	add(c, claim_of(300, LIMIT_WATTS, CLASS_EMERGENCY));
	assert_int_equal(effective_cookie(c, 1), urgent);
}

static void a_claim_counts_from_its_start_until_its_expiry(void **state)
{
	_cleanup_(claims_freep) Claims *c = claims_new();
	Claim lease = watts_350;
	uint64_t cookie;

	(void)state;
	lease.start_us = 100;
	lease.expiry_us = 200;
	cookie = add(c, lease);
	assert_int_equal(effective_cookie(c, 99), 0);
	assert_int_equal(claims_next_event(c, 99), 100);
	assert_int_equal(effective_cookie(c, 100), cookie);
	assert_int_equal(claims_next_event(c, 100), 200);
	assert_int_equal(claims_expire(c, 199), 0);
	assert_int_equal(effective_cookie(c, 200), 0);
	assert_int_equal(claims_next_event(c, 250), 250); /* overdue: at once */
	assert_int_equal(claims_expire(c, 200), 1);
	assert_null(claims_find(c, cookie));
	assert_true(claims_next_event(c, 250) == USEC_NEVER);
}

static void an_owner_that_leaves_takes_only_its_own_claims(void **state)
{
	_cleanup_(claims_freep) Claims *c = claims_new();
	Claim owned = watts_350, other = watts_350;
	uint64_t standing, others;

	(void)state;
	owned.owner = (char *)":1.7";
	other.owner = (char *)":1.70";
	add(c, owned);
	standing = add(c, watts_350);
	add(c, owned);
	others = add(c, other);
	assert_int_equal(claims_drop_owner(c, ":1.7"), 2);
	assert_int_equal(claims_drop_owner(c, ":1.7"), 0);
	assert_int_equal(claims_get(c, 0)->cookie, standing);
	assert_int_equal(claims_get(c, 1)->cookie, others);
	assert_null(claims_get(c, 2));
}

static void a_replacement_ends_those_of_the_same_wish_alone(void **state)
{
	_cleanup_(claims_freep) Claims *c = claims_new();
	Claim new = watts_350, owned = watts_350, urgent = watts_350, other = watts_350;
	uint64_t cookie;

	(void)state;
	owned.owner = (char *)":1.7";
	urgent.class = CLASS_EMERGENCY;
	other.source = (char *)"another";
	new.replaces = true;
	add(c, watts_350);
	add(c, owned);
	add(c, urgent);
	add(c, other);
	assert_int_equal(claims_replace(c, add(c, watts_350)), 0);
	cookie = add(c, new);
	assert_int_equal(claims_replace(c, cookie), 2);
	assert_non_null(claims_find(c, cookie));
	owned.replaces = true;
	assert_int_equal(claims_replace(c, add(c, owned)), 1);
	for (cookie = 0; claims_get(c, cookie); cookie++)
		;
	assert_int_equal(cookie, 4);
}

static void a_claim_is_replaced_by_its_user_and_by_root_alone(void **state)
{
	_cleanup_(claims_freep) Claims *c = claims_new();
	Claim alices = watts_350, bobs, roots;
	uint64_t first;

	(void)state;
	alices.source = (char *)"hook";
	alices.replaces = true;
	bobs = roots = alices;
	alices.maker = (ClaimMaker){ .known = true, .uid = 1000 };
	bobs.maker = (ClaimMaker){ .known = true, .uid = 1001 };
	roots.maker.known = true;
	first = add(c, alices);
	assert_ptr_equal(claims_unyielding(c, &bobs), claims_find(c, first));
	assert_int_equal(claims_replace(c, add(c, bobs)), 0);
	assert_ptr_equal(claims_unyielding(c, &alices), claims_get(c, 1));
	assert_int_equal(claims_replace(c, add(c, alices)), 1);
	assert_null(claims_find(c, first));
	assert_null(claims_unyielding(c, &roots));
	assert_int_equal(claims_replace(c, add(c, roots)), 2);
	assert_non_null(claims_unyielding(c, &alices));
}

static void what_nobody_knows_the_maker_of_is_roots(void **state)
{
	const Claim claim = {};

	(void)state;
	assert_true(claim_yields_to(&claim, 0));
	assert_false(claim_yields_to(&claim, 1000));
}

static void scopes_do_not_mix(void **state)
{
	_cleanup_(claims_freep) Claims *c = claims_new();
	Claim group = claim_of(50, LIMIT_PERCENT, CLASS_OPERATOR);

	(void)state;
	group.scope = SCOPE_GROUP;
	group.target = (char *)"a";
	add(c, group);
	assert_true(claims_effective(c, SCOPE_GROUP, "a", 80, 1, NULL) == 40);
	assert_true(isinf(claims_effective(c, SCOPE_GROUP, "b", 80, 1, NULL)));
	assert_true(isinf(claims_effective(c, SCOPE_DEVICE, "a", 80, 1, NULL)));
	assert_true(isinf(claims_effective(c, SCOPE_NODE, NULL, 80, 1, NULL)));
}

static void names_go_there_and_back(void **state)
{
	(void)state;
	for (int k = 0; k < _CLASS_MAX; k++)
		assert_int_equal(claim_class_from_name(claim_class_name((ClaimClass)k)), k);
	for (int s = 0; s <= SCOPE_DEVICE; s++)
		assert_int_equal(claim_scope_from_name(claim_scope_name((ClaimScope)s)), s);
	assert_string_equal(claim_class_name(CLASS_EMERGENCY), "emergency");
	assert_int_equal(claim_class_from_name("Emergency"), -EINVAL);
	assert_int_equal(claim_scope_from_name(""), -EINVAL);
	assert_string_equal(claim_class_name((ClaimClass)-1), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_claims_nothing_is_limited),
		cmocka_unit_test(a_claim_that_makes_no_sense_is_refused),
		cmocka_unit_test(the_4097th_claim_is_refused_and_a_release_makes_room),
		cmocka_unit_test(the_claim_is_copied),
		cmocka_unit_test(the_lowest_active_limit_wins_across_units),
		cmocka_unit_test(a_hundred_percent_is_a_limit_above_all_others),
		cmocka_unit_test(a_tie_goes_to_the_most_urgent_and_then_the_oldest),
		cmocka_unit_test(a_claim_counts_from_its_start_until_its_expiry),
		cmocka_unit_test(an_owner_that_leaves_takes_only_its_own_claims),
		cmocka_unit_test(a_replacement_ends_those_of_the_same_wish_alone),
		cmocka_unit_test(a_claim_is_replaced_by_its_user_and_by_root_alone),
		cmocka_unit_test(what_nobody_knows_the_maker_of_is_roots),
		cmocka_unit_test(scopes_do_not_mix),
		cmocka_unit_test(names_go_there_and_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
