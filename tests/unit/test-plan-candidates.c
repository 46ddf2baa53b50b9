/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the planner chooses from, as it is shown to people. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan-nodes.h"

typedef struct Shown {
	PlanCandidate c[FRONTIER_MAX];
	size_t n;
} Shown;

static Shown shown(const Node *n)
{
	Shown s;

	plan_candidates(&n->in, 0, s.c, &s.n);
	assert_in_range(s.n, 1, FRONTIER_MAX);
	assert_true(setting_equal(&s.c[s.n - 1].at.setting, &SETTING_AS_FOUND));
	return s;
}

static void a_plan_takes_one_of_them(void **state)
{
	_cleanup_(plan_freep) Plan *p = NULL;
	const Setting *taken;
	bool found = false;
	Shown s;
	Node n;
	(void)state;

	start(&n, 11);
	add(&n, "samsung-pm9a3", INFINITY);
	s = shown(&n);
	p = checked(&n);
	taken = &p->devices[0].setting;
	for (size_t i = 0; i < s.n; i++) {
		Setting at = s.c[i].at.setting;

		if (s.c[i].at.paced)
			at.pace_w = taken->pace_w;
		found |= setting_equal(&at, taken);
	}
	assert_true(found);
}

static void what_policy_and_rules_forbid_is_not_among_them(void **state)
{
	PolicyRule rules[] = {
		{ .match = "samsung*", .weight = 1, .forbidden = MECHANISM_PACING }
	};
	Policy policy = *balanced;
	Shown s;
	Node n;
	(void)state;

	policy.rules = rules;
	policy.n_rules = ELEMENTSOF(rules);
	policy.forbidden = MECHANISM_POWER_STATE;
	start(&n, 11);
	add(&n, "samsung-pm9a3", INFINITY);
	n.in.policy = &policy;
	s = shown(&n);
	for (size_t i = 0; i < s.n; i++)
		assert_int_equal(setting_mechanisms(&s.c[i].at.setting) &
					 (MECHANISM_PACING | MECHANISM_POWER_STATE),
				 0);
}

static void what_was_measured_of_the_device_is_in_their_watts(void **state)
{
	Shown plain, biased, corrected;
	Node n;
	(void)state;

	start(&n, 11);
	add(&n, "samsung-pm9a3", INFINITY);
	plain = shown(&n);
	n.devices[0].bias = 1.2;
	biased = shown(&n);
	n.devices[0].bias = 1;
	n.devices[0].correction = 0.9;
	corrected = shown(&n);
	assert_true(biased.n == plain.n && corrected.n == plain.n);
	for (size_t i = 0; i < plain.n; i++) {
		const PlanCandidate *p = &plain.c[i], *b = &biased.c[i], *c = &corrected.c[i];

		assert_float_equal(b->at.cap_w, 1.2 * p->at.cap_w, 1e-9);
		assert_float_equal(b->at.cap_hi_w, 1.2 * p->at.cap_hi_w, 1e-9);
		assert_true(b->at.expect_w >= p->at.expect_w);
		assert_true(c->at.cap_w == p->at.cap_w && c->at.expect_w <= p->at.expect_w);
		assert_true(p->at.expect_w <= p->at.cap_w + 1e-9);
		assert_true(p->expect_hi_w >= p->at.expect_w - 1e-9);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plan_takes_one_of_them),
		cmocka_unit_test(what_policy_and_rules_forbid_is_not_among_them),
		cmocka_unit_test(what_was_measured_of_the_device_is_in_their_watts),
	};

	return cmocka_run_group_tests(tests, read_files, free_files);
}
