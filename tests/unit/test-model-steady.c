/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* When a drive has settled, and how sure its mean is. */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hidden-drive.h"
#include "model/steady.h"

static bool is_steady(double a, double b, double c, double d, double e)
{
	const double rounds[] = { 7, a, b, c, d, e };

	return steady_window(rounds, ELEMENTSOF(rounds));
}

static void the_rule_is_snias(void **state)
{
	const double few[] = { 100, 100, 100, 100 };

	(void)state;
	assert_false(steady_window(few, ELEMENTSOF(few)));
	assert_true(is_steady(100, 100, 100, 100, 100));
	assert_true(is_steady(90.1, 109.9, 90.1, 109.9, 100)); /* a range of 19.8 % */
	assert_false(is_steady(89.9, 110.1, 89.9, 110.1, 100));
	assert_true(is_steady(95.1, 97.5, 100, 102.5, 104.9)); /* it rises by 9.8 % */
	assert_false(is_steady(94.9, 97.4, 100, 102.6, 105.1));
	assert_false(is_steady(105.1, 102.6, 100, 97.4, 94.9));
}

static void throughput_and_watts_settle_together(void **state)
{
	Steady s = {};

	(void)state;
	/* the throughput settles at once, the watts after ten rounds */
	for (int i = 0; i < 30; i++)
		steady_add(&s, 500, 6 + fmin(i, 10));
	assert_true(s.reached);
	assert_in_range(s.from, 7, 10);
	assert_float_equal(steady_watts(&s).mean, 16, 0.3);
	assert_true(steady_mb_s(&s).half_width == 0);
}

static void what_never_settles_says_so(void **state)
{
	Steady s = {};

	(void)state;
	for (int i = 0; i < 2 * STEADY_ROUNDS_MAX; i++)
		assert_false(steady_add(&s, i % 2 ? 500 : 900, 10));
	assert_int_equal(s.n, STEADY_ROUNDS_MAX);
	assert_float_equal(steady_mb_s(&s).mean, 700, 1);
}

/* Each round is so much like the one before it. */
static void draw_rounds(double *rounds, size_t n, double alike, uint64_t *chance)
{
	double off = hidden_normal(chance);

	for (size_t i = 0; i < n; i++) {
		rounds[i] = 100 + off;
		off = alike * off + sqrt(1 - alike * alike) * hidden_normal(chance);
	}
}

#define TRIALS 2000

static void the_interval_holds_the_truth_though_rounds_are_alike(void **state)
{
	static const double alike[] = { 0, 0.5, 0.8 }, least[] = { 0.93, 0.88, 0.8 };
	static const size_t rounds_n[] = { 20, 60 };

	(void)state;
	for (size_t a = 0; a < ELEMENTSOF(alike); a++)
		for (size_t k = 0; k < ELEMENTSOF(rounds_n); k++) {
			size_t n = rounds_n[k], held = 0, naive = 0;
			uint64_t chance = 17;

			for (int trial = 0; trial < TRIALS; trial++) {
				double rounds[64], squares = 0;
				SteadyMean m;

				draw_rounds(rounds, n, alike[a], &chance);
				m = steady_mean(rounds, n);
				held += fabs(m.mean - 100) <= m.half_width;
				for (size_t i = 0; i < n; i++)
					squares += pow(rounds[i] - m.mean, 2);
				naive += fabs(m.mean - 100) <=
					 2 * sqrt(squares / (double)(n - 1) / (double)n);
			}
			print_message(
				"# %zu rounds, correlation %.1f: %.1f %% of the intervals hold "
				"the truth, %.1f %% if rounds were independent\n",
				n, alike[a], 100.0 * held / TRIALS, 100.0 * naive / TRIALS);
			assert_true(held > least[a] * TRIALS);
			assert_true(held < TRIALS);
		}
}

static void repeats_that_differ_widen_the_interval(void **state)
{
	const SteadyMean alike[] = { { 100, 1 }, { 100.1, 1 }, { 99.9, 1 } },
			 apart[] = { { 100, 1 }, { 110, 1 }, { 90, 1 } };

	(void)state;
	assert_float_equal(steady_repeats(alike, 3).mean, 100, 1e-9);
	assert_float_equal(steady_repeats(alike, 3).half_width, 1 / sqrt(3), 1e-9);
	assert_true(steady_repeats(apart, 3).half_width > 20);
	assert_true(steady_repeats(apart, 2).half_width > 5);
	assert_true(steady_repeats(apart, 1).half_width == 1);
}

static void too_few_rounds_tell_no_interval(void **state)
{
	const double two[] = { 1, 2 };

	(void)state;
	assert_true(steady_mean(two, 2).mean == 1.5);
	assert_true(isnan(steady_mean(two, 2).half_width));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rule_is_snias),
		cmocka_unit_test(throughput_and_watts_settle_together),
		cmocka_unit_test(what_never_settles_says_so),
		cmocka_unit_test(the_interval_holds_the_truth_though_rounds_are_alike),
		cmocka_unit_test(repeats_that_differ_widen_the_interval),
		cmocka_unit_test(too_few_rounds_tell_no_interval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
