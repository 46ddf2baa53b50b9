/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Claims of clients on the bus, over a restart of the daemon. */

#include "test-control.h"

#define BUS  "0123456789abcdef"
#define TINY "policies/nodes/tiny.node"

static void open_node(Fixture *f, const char *path)
{
	fixture_open(f, path);
	fixture_start(f);
	fixture_run(f, 5);
}

typedef struct Ended {
	uint64_t cookie;
	char why[80];
	uint64_t replaced, by; /* told before that */
	unsigned n_replaced;
} Ended;

static void on_ended(uint64_t cookie, const char *why, void *userdata)
{
	Ended *e = userdata;

	e->cookie = cookie;
	snprintf(e->why, sizeof(e->why), "%s", why);
}

static void on_replaced(uint64_t old, uint64_t new, void *userdata)
{
	Ended *e = userdata;

	assert_int_not_equal(e->cookie, old);
	e->replaced = old;
	e->by = new;
	e->n_replaced++;
}

static uint64_t claim_of_user(Fixture *f, uint32_t uid, const char *owner, double percent)
{
	const Claim c = { .class = CLASS_OPERATOR,
			  .limit = percent,
			  .unit = LIMIT_PERCENT,
			  .source = (char *)"hook",
			  .reason = (char *)"",
			  .maker = { .known = true, .uid = uid },
			  .owner = (char *)owner,
			  .bus = (char *)BUS,
			  .expiry_us = USEC_NEVER };

	return fixture_claim(f, &c);
}

static uint64_t claim_of(Fixture *f, const char *owner, double percent)
{
	return claim_of_user(f, 0, owner, percent);
}

static void restart(Fixture *f, Ended *e)
{
	const ControlEvents events = { .claim_ended = on_ended,
				       .claim_replaced = on_replaced,
				       .userdata = e };

	*e = (Ended){};
	fixture_stop(f);
	fixture_start(f);
	control_set_events(f->control, &events);
}

static const Claim *find(const Fixture *f, uint64_t cookie)
{
	return claims_find(control_claims(f->control), cookie);
}

static void one_whose_owner_does_not_come_back_ends_in_30_s_and_is_told(void **state)
{
	uint64_t cookie;
	Fixture f;
	Ended e;

	(void)state;
	open_node(&f, TINY);
	cookie = claim_of(&f, ":1.5", 70);
	restart(&f, &e);
	fixture_run(&f, 29);
	assert_true(state_of(&f).enforcing);
	assert_non_null(find(&f, cookie));
	fixture_run(&f, 2);
	assert_false(state_of(&f).enforcing);
	assert_int_equal(e.cookie, cookie);
	assert_string_equal(e.why, "its owner has not come back after the daemon's restart");
	fixture_close(&f);
}

static void one_whose_owner_lives_holds_on_as_it_was_made(void **state)
{
	uint64_t cookie;
	Fixture f;
	Ended e;

	(void)state;
	open_node(&f, TINY);
	cookie = claim_of(&f, ":1.5", 70);
	restart(&f, &e);
	assert_int_equal(control_adopt(f.control, "another bus", ":1.5"), 0);
	assert_int_equal(control_adopt(f.control, BUS, ":1.5"), 1);
	fixture_run(&f, 60);
	assert_true(find(&f, cookie)->expiry_us == USEC_NEVER);
	assert_true(state_of(&f).enforcing);
	assert_int_equal(control_drop_owner(f.control, ":1.5"), 1);
	assert_false(state_of(&f).enforcing);
	fixture_close(&f);
}

/* Unique names of another bus may come again on this one. */
static void a_namesake_that_leaves_does_not_end_it(void **state)
{
	uint64_t cookie;
	Fixture f;
	Ended e;

	(void)state;
	open_node(&f, TINY);
	cookie = claim_of(&f, ":1.5", 70);
	restart(&f, &e);
	assert_int_equal(control_drop_owner(f.control, ":1.5"), 0);
	assert_non_null(find(&f, cookie));
	fixture_close(&f);
}

static void each_new_claim_renews_one(void **state)
{
	uint64_t low, high, again;
	Fixture f;
	Ended e;

	(void)state;
	open_node(&f, TINY);
	high = claim_of(&f, ":1.5", 80);
	low = claim_of(&f, ":1.6", 70);
	restart(&f, &e);
	again = claim_of(&f, ":1.9", 70);
	assert_int_equal(e.cookie, low);
	assert_string_equal(e.why, "renewed by a new claim");
	assert_int_equal(e.replaced, low);
	assert_int_equal(e.by, again);
	assert_non_null(find(&f, high));
	assert_non_null(find(&f, again));
	claim_of(&f, ":1.9", 60);
	assert_int_equal(e.cookie, high);
	fixture_close(&f);
}

static void another_users_claim_renews_none(void **state)
{
	uint64_t cookie;
	Fixture f;
	Ended e;

	(void)state;
	open_node(&f, TINY);
	cookie = claim_of_user(&f, 1000, ":1.5", 70);
	restart(&f, &e);
	claim_of_user(&f, 1001, ":1.6", 70);
	assert_non_null(find(&f, cookie));
	claim_of_user(&f, 1000, ":1.7", 70);
	assert_null(find(&f, cookie));
	fixture_close(&f);
}

/* A second wish of an owner that has been there all the time is not the first one made anew. */
static void an_adopted_one_is_renewed_by_the_same_claim_alone(void **state)
{
	uint64_t cookie;
	Fixture f;
	Ended e;

	(void)state;
	open_node(&f, TINY);
	cookie = claim_of(&f, ":1.5", 70);
	restart(&f, &e);
	assert_int_equal(control_adopt(f.control, BUS, ":1.5"), 1);
	claim_of(&f, ":1.5", 80);
	claim_of(&f, ":1.6", 70);
	assert_non_null(find(&f, cookie));
	claim_of(&f, ":1.5", 70);
	assert_null(find(&f, cookie));
	cookie = claim_of(&f, ":1.5", 70);
	fixture_run(&f, 31);
	claim_of(&f, ":1.5", 70);
	assert_non_null(find(&f, cookie));
	fixture_close(&f);
}

/* A listener that knows the old cookie learns the new one. */
static void each_that_is_replaced_is_told_with_its_successor(void **state)
{
	Claim claim = { .class = CLASS_OPERATOR,
			.limit = 90,
			.unit = LIMIT_PERCENT,
			.source = (char *)"hook",
			.reason = (char *)"",
			.expiry_us = USEC_NEVER };
	uint64_t other, new;
	Fixture f;
	Ended e;

	(void)state;
	open_node(&f, TINY);
	restart(&f, &e);
	fixture_claim(&f, &claim);
	fixture_claim(&f, &claim);
	claim.source = (char *)"another";
	other = fixture_claim(&f, &claim);
	assert_int_equal(e.n_replaced, 0);
	claim.source = (char *)"hook";
	claim.replaces = true;
	new = fixture_claim(&f, &claim);
	assert_int_equal(e.n_replaced, 2);
	assert_int_equal(e.by, new);
	assert_int_not_equal(e.replaced, other);
	assert_int_equal(e.cookie, e.replaced);
	fixture_release(&f, new);
	assert_int_equal(e.n_replaced, 2);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_whose_owner_does_not_come_back_ends_in_30_s_and_is_told),
		cmocka_unit_test(one_whose_owner_lives_holds_on_as_it_was_made),
		cmocka_unit_test(a_namesake_that_leaves_does_not_end_it),
		cmocka_unit_test(each_new_claim_renews_one),
		cmocka_unit_test(another_users_claim_renews_none),
		cmocka_unit_test(each_that_is_replaced_is_told_with_its_successor),
		cmocka_unit_test(an_adopted_one_is_renewed_by_the_same_claim_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
