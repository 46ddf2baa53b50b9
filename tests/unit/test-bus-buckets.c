/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How often who may ask for what is costly. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/clock.h"
#include "bus/buckets.h"

#define BEGIN_US (1000 * USEC_PER_SEC)

/* How often in a row so much is there. */
static unsigned takes(Buckets *b, uid_t uid, double tokens, uint64_t now_us)
{
	unsigned n = 0;

	while (n < 1000 && !buckets_take(b, uid, tokens, now_us))
		n++;
	return n;
}

static void who_has_not_asked_has_a_full_bucket_and_no_more(void **state)
{
	Buckets b = {};

	(void)state;
	assert_int_equal(takes(&b, 1, 5, BEGIN_US), 10);
	assert_int_equal(takes(&b, 1, 1, BEGIN_US), 0);
	assert_int_equal(takes(&b, 1, 1, BEGIN_US + 3600 * USEC_PER_SEC), 50);
}

static void who_comes_when_he_was_told_is_answered_and_not_sooner(void **state)
{
	Buckets b = {};
	uint64_t in_us;

	(void)state;
	takes(&b, 1, 1, BEGIN_US);
	in_us = buckets_take(&b, 1, 5, BEGIN_US);
	assert_int_equal(in_us, USEC_PER_SEC);
	assert_int_equal(buckets_take(&b, 1, 5, BEGIN_US + in_us / 2), in_us / 2);
	assert_int_equal(buckets_take(&b, 1, 5, BEGIN_US + in_us), 0);
}

static void whoever_asks_on_and_on_gets_what_the_rate_allows(void **state)
{
	Buckets b = {};
	unsigned n = 0;

	(void)state;
	for (uint64_t at_us = 0; at_us < 100 * USEC_PER_SEC; at_us += USEC_PER_MSEC)
		n += !buckets_take(&b, 1, 1, BEGIN_US + at_us);
	assert_true(n >= 548 && n <= 550);
}

static void users_do_not_take_from_each_other(void **state)
{
	Buckets b = {};

	(void)state;
	assert_int_equal(takes(&b, 1, 1, BEGIN_US), 50);
	assert_int_equal(takes(&b, 2, 1, BEGIN_US), 50);
}

static void so_many_users_that_none_is_forgotten_share_one_bucket(void **state)
{
	Buckets b = {};

	(void)state;
	for (uid_t uid = 0; uid < BUCKETS_USERS; uid++)
		assert_int_equal(buckets_take(&b, uid, 1, BEGIN_US), 0);
	assert_int_equal(takes(&b, BUCKETS_USERS, 1, BEGIN_US), 50);
	for (uid_t uid = BUCKETS_USERS + 1; uid < 10000; uid++)
		assert_int_equal(takes(&b, uid, 1, BEGIN_US), 0);
	assert_int_equal(b.n, BUCKETS_USERS);
	assert_int_equal(takes(&b, 0, 1, BEGIN_US), 49);
}

static void whose_bucket_is_full_again_makes_room(void **state)
{
	Buckets b = {};

	(void)state;
	for (uid_t uid = 0; uid < BUCKETS_USERS; uid++)
		takes(&b, uid, 1, BEGIN_US);
	assert_int_equal(takes(&b, 1000, 1, BEGIN_US + 10 * USEC_PER_SEC), 50);
	assert_int_equal(takes(&b, 1000, 1, BEGIN_US + 10 * USEC_PER_SEC), 0);
	assert_int_equal(takes(&b, 1001, 1, BEGIN_US + 10 * USEC_PER_SEC), 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_has_not_asked_has_a_full_bucket_and_no_more),
		cmocka_unit_test(who_comes_when_he_was_told_is_answered_and_not_sooner),
		cmocka_unit_test(whoever_asks_on_and_on_gets_what_the_rate_allows),
		cmocka_unit_test(users_do_not_take_from_each_other),
		cmocka_unit_test(so_many_users_that_none_is_forgotten_share_one_bucket),
		cmocka_unit_test(whose_bucket_is_full_again_makes_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
