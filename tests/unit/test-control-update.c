/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Claims that are changed while they hold. */

#include <errno.h>

#include "test-control.h"

#define TINY "policies/nodes/tiny.node"

static const ClaimChange nothing = { .class = -1, .tolerance_s = NAN };

typedef struct Heard {
	unsigned plans; /* for a claim that has changed */
	unsigned changes, added, ended;
	double least_w, most_w; /* of the budgets of these plans */
} Heard;

static void on_plan(const Plan *p, const char *why, void *userdata)
{
	Heard *h = userdata;

	h->plans += streq(why, "claim changed");
	h->least_w = MIN(h->least_w, p->budget_w);
	h->most_w = MAX(h->most_w, p->budget_w);
}

static void on_changed(const Claim *c, void *userdata)
{
	(void)c;
	((Heard *)userdata)->changes++;
}

static void on_added(const Claim *c, void *userdata)
{
	(void)c;
	((Heard *)userdata)->added++;
}

static void on_ended(uint64_t cookie, const char *why, void *userdata)
{
	(void)cookie, (void)why;
	((Heard *)userdata)->ended++;
}

static void listen(Fixture *f, Heard *h)
{
	const ControlEvents events = { .plan_applied = on_plan,
				       .claim_added = on_added,
				       .claim_changed = on_changed,
				       .claim_ended = on_ended,
				       .userdata = h };

	*h = (Heard){ .least_w = INFINITY };
	control_set_events(f->control, &events);
}

static uint64_t open_limited(Fixture *f, double percent)
{
	uint64_t cookie;

	fixture_open(f, TINY);
	fixture_start(f);
	fixture_run(f, 5);
	cookie = limit(f, SCOPE_NODE, NULL, percent);
	fixture_run(f, 5);
	return cookie;
}

static int change(Fixture *f, uint64_t cookie, const ClaimChange *c)
{
	_cleanup_free_ char *text = NULL;
	int r = control_change_claim(f->control, cookie, c, NULL, &text);

	assert_true(r >= 0 || text);
	return r;
}

static ClaimChange to_percent(double percent)
{
	ClaimChange c = nothing;

	c.sets_limit = true;
	c.limit = percent;
	c.unit = LIMIT_PERCENT;
	return c;
}

static const Claim *find(const Fixture *f, uint64_t cookie)
{
	return claims_find(control_claims(f->control), cookie);
}

static void a_new_limit_is_planned_for_without_a_moment_that_has_none(void **state)
{
	const double percents[] = { 70, 90 };
	uint64_t cookie;
	Fixture f;
	Heard h;

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(percents); i++) {
		const ClaimChange to = to_percent(percents[i]);
		double old_w, new_w;

		cookie = open_limited(&f, 80);
		old_w = state_of(&f).budget_w;
		listen(&f, &h);
		assert_int_equal(change(&f, cookie, &to), 0);
		fixture_run(&f, 5);
		new_w = state_of(&f).budget_w;
		assert_float_equal(new_w, percents[i] / 100 * fixture_operating_w(&f), 1e-6);
		assert_int_equal(h.plans, 1);
		assert_true(h.most_w <= MAX(old_w, new_w) + EPSILON_W);
		assert_within_budget(&f);
		assert_int_equal(h.changes, 1);
		assert_int_equal(h.added + h.ended, 0);
		fixture_close(&f);
	}
}

static void what_is_not_named_stays(void **state)
{
	const ClaimChange to = to_percent(75);
	uint64_t cookie;
	Claim before, after;
	Fixture f;

	(void)state;
	cookie = open_limited(&f, 80);
	before = *find(&f, cookie);
	assert_int_equal(change(&f, cookie, &to), 0);
	after = *find(&f, cookie);
	assert_true(after.limit == 75);
	assert_int_equal(after.cookie, before.cookie);
	assert_int_equal(after.class, before.class);
	assert_int_equal(after.created_us, before.created_us);
	assert_int_equal(after.expiry_us, before.expiry_us);
	assert_true(after.tolerance_s == before.tolerance_s);
	assert_string_equal(after.source, "test");
	assert_int_equal(change(&f, cookie, &nothing), 0);
	assert_true(find(&f, cookie)->limit == 75);
	fixture_close(&f);
}

static void a_renewal_moves_the_end_and_makes_no_plan(void **state)
{
	ClaimChange renewal = nothing;
	uint64_t cookie;
	Fixture f;
	Heard h;

	(void)state;
	cookie = open_limited(&f, 80);
	listen(&f, &h);
	for (unsigned i = 0; i < 10; i++) {
		renewal.for_us = 3 * USEC_PER_SEC;
		assert_int_equal(change(&f, cookie, &renewal), 0);
		fixture_run(&f, 2);
		assert_true(state_of(&f).enforcing);
	}
	assert_int_equal(h.changes, 10);
	assert_int_equal(h.ended, 0);
	assert_int_equal(h.plans, 0);
	fixture_run(&f, 2);
	assert_int_equal(h.ended, 1);
	assert_false(state_of(&f).enforcing);
	assert_int_equal(change(&f, cookie, &renewal), -ENOENT);
	fixture_close(&f);
}

static void one_that_had_an_end_may_be_left_without(void **state)
{
	ClaimChange renewal = nothing;
	uint64_t cookie;
	Fixture f;

	(void)state;
	cookie = open_limited(&f, 80);
	renewal.for_us = USEC_PER_SEC;
	assert_int_equal(change(&f, cookie, &renewal), 0);
	renewal.for_us = USEC_NEVER;
	assert_int_equal(change(&f, cookie, &renewal), 0);
	fixture_run(&f, 5);
	assert_true(find(&f, cookie)->expiry_us == USEC_NEVER);
	fixture_close(&f);
}

static void a_change_that_makes_no_sense_leaves_it_as_it_was(void **state)
{
	const ClaimChange bad = to_percent(101);
	uint64_t cookie;
	Fixture f;
	Heard h;

	(void)state;
	cookie = open_limited(&f, 80);
	listen(&f, &h);
	assert_int_equal(change(&f, cookie, &bad), -EINVAL);
	assert_true(find(&f, cookie)->limit == 80);
	assert_int_equal(h.changes + h.plans, 0);
	fixture_close(&f);
}

static void it_is_as_it_was_changed_to_after_a_restart(void **state)
{
	ClaimChange to = to_percent(75);
	uint64_t cookie;
	Fixture f;

	(void)state;
	to.reason = "hotter";
	cookie = open_limited(&f, 80);
	assert_int_equal(change(&f, cookie, &to), 0);
	fixture_stop(&f);
	fixture_start(&f);
	assert_non_null(find(&f, cookie));
	assert_null(claims_get(control_claims(f.control), 1));
	assert_true(find(&f, cookie)->limit == 75);
	assert_string_equal(find(&f, cookie)->reason, "hotter");
	fixture_close(&f);
}

/* The time before a plan of it is in force is no overrun of it. */
static void a_lower_limit_is_not_exceeded_before_it_is_in_force(void **state)
{
	const ClaimChange to = to_percent(60);
	uint64_t cookie;
	Fixture f;

	(void)state;
	cookie = open_limited(&f, 95);
	assert_int_equal(change(&f, cookie, &to), 0);
	assert_int_equal(find(&f, cookie)->changed_us, now_us(&f));
	fixture_run(&f, 1);
	assert_int_equal(f.control->gauges.overload.strict_until_us, 0);
	fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_limit_is_planned_for_without_a_moment_that_has_none),
		cmocka_unit_test(what_is_not_named_stays),
		cmocka_unit_test(a_renewal_moves_the_end_and_makes_no_plan),
		cmocka_unit_test(one_that_had_an_end_may_be_left_without),
		cmocka_unit_test(a_change_that_makes_no_sense_leaves_it_as_it_was),
		cmocka_unit_test(it_is_as_it_was_changed_to_after_a_restart),
		cmocka_unit_test(a_lower_limit_is_not_exceeded_before_it_is_in_force),
	};

	log_set_max_level(LOG_CRIT);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
