/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The knapsack against its own promises. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#include "plan-instances.h"

static void a_higher_budget_is_never_worth_less(void **state)
{
	static Instance in;
	uint64_t seed = 3;
	(void)state;

	for (int n = 0; n < 60; n++) {
		double last = -INFINITY, least, most;

		if (n % _KIND_COUNT == STRONGLY_CORRELATED)
			draw_instance(&seed, STRONGLY_CORRELATED, n % 2, 2 + below(&seed, 8), 8,
				      &in);
		else
			draw_instance(&seed, n % _KIND_COUNT, n % 2, 2 + below(&seed, 40), 16, &in);
		least = least_watts(&in.p);
		most = most_watts(&in.p);
		for (int i = 0; i <= 150; i++) {
			_cleanup_(solution_done) Solution s = { 0 };

			in.p.budget_w = least + (most - least) * (i / 148.0 - 1 / 148.0);
			assert_int_equal(knapsack_solve(&in.p, 0, &s), 0);
			check_solution(&in.p, &s);
			if (s.shortfall_w > 0)
				continue;
			assert_true(s.optimal);
			assert_true(s.total_value >= last - 1e-9 * fabs(last));
			last = s.total_value;
		}
	}
}

static void what_is_not_proved_is_within_its_bound(void **state)
{
	static Instance in;
	uint64_t seed = 4;
	int unproved = 0;
	(void)state;

	for (int n = 0; n < 200; n++) {
		_cleanup_(solution_done) Solution quick = { 0 }, full = { 0 };

		draw_instance(&seed, n % 2 ? STRONGLY_CORRELATED : UNCORRELATED, n % 3 == 0,
			      2 + below(&seed, 30), 12, &in);
		assert_int_equal(knapsack_solve(&in.p, 1, &quick), 0);
		assert_int_equal(knapsack_solve(&in.p, 0, &full), 0);
		check_solution(&in.p, &quick);
		assert_true(quick.bound_value >= full.total_value);
		assert_true(full.bound_value >= quick.total_value);
		if (!full.optimal)
			continue;
		assert_true(quick.total_value <= full.total_value * (1 + 1e-9));
		assert_true(quick.bound_value >= full.total_value * (1 - 1e-9));
		unproved += !quick.optimal;
	}
	assert_true(unproved > 20);
}

/* A higher budget is worth less by no more than its own gap, however little effort is allowed. */
static void what_is_not_proved_still_rises_with_the_budget_but_for_its_gap(void **state)
{
	static Instance in;
	uint64_t seed = 8;
	(void)state;

	for (int n = 0; n < 40; n++) {
		double last = -INFINITY, least, most;

		draw_instance(&seed, n % _KIND_COUNT, n % 2, 2 + below(&seed, 60), 16, &in);
		least = least_watts(&in.p);
		most = most_watts(&in.p);
		for (int i = 1; i <= 100; i++) {
			_cleanup_(solution_done) Solution s = { 0 };

			in.p.budget_w = least + (most - least) * i / 100;
			assert_int_equal(knapsack_solve(&in.p, 1, &s), 0);
			check_solution(&in.p, &s);
			assert_true(s.bound_value >= last - 1e-9 * fabs(last));
			last = s.total_value;
		}
	}
}

/* Many devices of one kind: all of them could take the step at which the budget breaks. */
static void many_devices_alike_are_solved_to_the_optimum(void **state)
{
	static Instance in;
	uint64_t seed = 9;
	(void)state;

	for (int n = 0; n < 30; n++) {
		_cleanup_(solution_done) Solution s = { 0 };

		draw_instance(&seed, IDENTICAL, n % 2, 100 + below(&seed, 400), 8, &in);
		assert_int_equal(knapsack_solve(&in.p, 0, &s), 0);
		check_solution(&in.p, &s);
		assert_true(s.optimal);
	}
}

static void the_same_problem_has_the_same_solution(void **state)
{
	static Instance in;
	uint64_t seed = 5;
	(void)state;

	for (int n = 0; n < 200; n++) {
		_cleanup_(solution_done) Solution a = { 0 }, b = { 0 };

		draw_instance(&seed, n % _KIND_COUNT, n % 2, 1 + below(&seed, 60), 16, &in);
		assert_int_equal(knapsack_solve(&in.p, 0, &a), 0);
		assert_int_equal(knapsack_solve(&in.p, 0, &b), 0);
		assert_memory_equal(a.choice, b.choice, in.p.n_classes * sizeof(*a.choice));
		assert_memory_equal(a.watts, b.watts, in.p.n_classes * sizeof(*a.watts));
	}
}

/* Tenths have no exact double: sums of them miss the budget by a bit, either way. */
static void tenths_never_add_up_to_more_than_the_budget(void **state)
{
	static Instance in;
	uint64_t seed = 6;
	int full = 0;
	(void)state;

	for (int n = 0; n < 2000; n++) {
		_cleanup_(solution_done) Solution s = { 0 };

		draw_instance(&seed, SMALL_NUMBERS, n % 2, 1 + below(&seed, 40), 6, &in);
		for (size_t k = 0; k < in.first[in.p.n_classes]; k++) {
			in.choices[k].lo_w *= 0.1;
			in.choices[k].hi_w *= 0.1;
		}
		in.p.budget_w *= 0.1;
		assert_int_equal(knapsack_solve(&in.p, 0, &s), 0);
		check_solution(&in.p, &s);
		full += s.total_w > in.p.budget_w - 1e-9 && s.shortfall_w == 0;
	}
	assert_true(full > 100);
}

static void a_segment_is_filled_to_the_budget(void **state)
{
	const Choice choices[] = { { 0.1, 0, 0.7, 6 }, { 0.1, 1, 0.1, 1 }, { 0.2, 1, 0.2, 1 } };
	const size_t first[] = { 0, 1, 2, 3 };
	Problem p = { choices, first, 3, 0.6 };
	_cleanup_(solution_done) Solution s = { 0 };
	(void)state;

	assert_int_equal(knapsack_solve(&p, 0, &s), 0);
	assert_true(s.total_w <= 0.6);
	assert_true(s.total_w > 0.6 - 1e-15);
	assert_float_equal(s.watts[0], 0.3, 1e-12);
	assert_float_equal(s.total_value, 4, 1e-9);
}

static void equal_choices_go_to_fewer_watts_then_the_first(void **state)
{
	const Choice choices[] = { { 3, 5, 3, 5 }, { 2, 5, 2, 5 }, { 2, 5, 2, 5 }, { 1, 4, 1, 4 } };
	const size_t first[] = { 0, 4 };
	Problem p = { choices, first, 1, INFINITY };
	_cleanup_(solution_done) Solution s = { 0 };
	(void)state;

	assert_int_equal(knapsack_solve(&p, 0, &s), 0);
	assert_int_equal(s.choice[0], 1);
	assert_true(s.optimal);
}

static void an_infeasible_budget_gives_the_least_and_says_by_how_much(void **state)
{
	const Choice choices[] = { { 3, 5, 4, 6 }, { 2, 1, 2, 1 }, { 5, 0, 5, 0 } };
	const size_t first[] = { 0, 2, 3 };
	Problem p = { choices, first, 2, 6.5 };
	_cleanup_(solution_done) Solution s = { 0 }, none = { 0 };
	(void)state;

	assert_int_equal(knapsack_solve(&p, 0, &s), 0);
	assert_int_equal(s.choice[0], 1);
	assert_true(s.total_w == 7);
	assert_true(s.shortfall_w == 0.5);
	p.budget_w = 0;
	assert_int_equal(knapsack_solve(&p, 0, &none), 0);
	assert_true(none.shortfall_w == 7);
}

static void no_classes_need_no_watts(void **state)
{
	const size_t first[] = { 0 };
	Problem p = { NULL, first, 0, 10 };
	_cleanup_(solution_done) Solution s = { 0 };
	(void)state;

	assert_int_equal(knapsack_solve(&p, 0, &s), 0);
	assert_true(s.total_w == 0 && s.total_value == 0 && s.optimal && s.shortfall_w == 0);
}

static void numbers_that_are_none_are_refused(void **state)
{
	static const Choice bad[] = {
		{ NAN, 1, 2, 3 }, { 1, NAN, 1, NAN }, { -1, 1, 2, 3 },       { 3, 1, 2, 3 },
		{ 1, 3, 2, 1 },   { 1, 1, 1, 2 },     { 1, 1, INFINITY, 2 },
	};
	static const size_t one[] = { 0, 1 }, empty[] = { 0, 0 };
	const Choice good = { 1, 1, 2, 3 };
	Solution s;
	(void)state;

	for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
		Problem p = { &bad[i], one, 1, 10 };

		assert_int_equal(knapsack_solve(&p, 0, &s), -EINVAL);
	}
	assert_int_equal(knapsack_solve(&(Problem){ &good, one, 1, NAN }, 0, &s), -EINVAL);
	assert_int_equal(knapsack_solve(&(Problem){ &good, empty, 1, 10 }, 0, &s), -EINVAL);
}

/* Each class of one kind in three; their choices are listed once, and once more for each class. */
static void classes_of_one_kind_get_what_choices_of_their_own_would_give_them(void **state)
{
	enum { KINDS = 4, CLASSES = 12 };
	static Instance kinds, own;
	size_t kind[CLASSES], shared = 0;
	uint64_t seed = 11;
	(void)state;

	for (int k = 0; k < 300; k++) {
		_cleanup_(solution_done) Solution a = { 0 }, b = { 0 };
		Problem p;

		draw_instance(&seed, k % _KIND_COUNT, k % 2, KINDS, 6, &kinds);
		own.first[0] = 0;
		for (size_t c = 0; c < CLASSES; c++) {
			size_t from, n;

			kind[c] = below(&seed, KINDS);
			from = kinds.first[kind[c]];
			n = kinds.first[kind[c] + 1] - from;
			memcpy(own.choices + own.first[c], kinds.choices + from,
			       n * sizeof(Choice));
			own.first[c + 1] = own.first[c] + n;
		}
		own.p = (Problem){ own.choices, own.first, CLASSES, 0 };
		own.p.budget_w = least_watts(&own.p);
		own.p.budget_w += uniform(&seed) * (most_watts(&own.p) - own.p.budget_w);
		p = (Problem){ kinds.choices, kinds.first, CLASSES, own.p.budget_w, kind, KINDS };
		assert_int_equal(knapsack_solve(&own.p, 0, &a), 0);
		assert_int_equal(knapsack_solve(&p, 0, &b), 0);
		check_solution(&own.p, &b);
		assert_true(a.total_value == b.total_value && a.total_w == b.total_w);
		assert_memory_equal(a.choice, b.choice, CLASSES * sizeof(*a.choice));
		shared += b.optimal;
	}
	assert_true(shared > 200);
	kind[0] = KINDS; /* there is none */
	kinds.p = (Problem){ kinds.choices, kinds.first, CLASSES, 1, kind, KINDS };
	assert_int_equal(knapsack_solve(&kinds.p, 0, &(Solution){ 0 }), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_higher_budget_is_never_worth_less),
		cmocka_unit_test(what_is_not_proved_is_within_its_bound),
		cmocka_unit_test(what_is_not_proved_still_rises_with_the_budget_but_for_its_gap),
		cmocka_unit_test(many_devices_alike_are_solved_to_the_optimum),
		cmocka_unit_test(the_same_problem_has_the_same_solution),
		cmocka_unit_test(tenths_never_add_up_to_more_than_the_budget),
		cmocka_unit_test(a_segment_is_filled_to_the_budget),
		cmocka_unit_test(equal_choices_go_to_fewer_watts_then_the_first),
		cmocka_unit_test(an_infeasible_budget_gives_the_least_and_says_by_how_much),
		cmocka_unit_test(no_classes_need_no_watts),
		cmocka_unit_test(classes_of_one_kind_get_what_choices_of_their_own_would_give_them),
		cmocka_unit_test(numbers_that_are_none_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
