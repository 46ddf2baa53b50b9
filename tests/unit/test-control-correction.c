/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a sensor says of the profiles of what it measures. */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/text.h"
#include "control/correction.h"

#define IDLE_W 40.0

static const Profile profiles[CORRECTION_FAMILIES + 2];

/* Two families drawing so much by their profiles, and in truth so many times that. */
static void look(Correction *c, unsigned second, const double *dynamic_w, const double *truth)
{
	CorrectionLook l = { .measured_w = IDLE_W, .at_us = second * USEC_PER_SEC };

	for (size_t i = 0; i < 2; i++) {
		correction_add(c, &l, &profiles[i], IDLE_W / 2, dynamic_w[i]);
		l.measured_w += truth[i] * dynamic_w[i];
	}
	correction_take(c, &l);
}

static double total(const Correction *c, const double *dynamic_w)
{
	return IDLE_W + correction_of(c, &profiles[0]) * dynamic_w[0] +
	       correction_of(c, &profiles[1]) * dynamic_w[1];
}

static void loads_that_move_apart_tell_families_apart(void **state)
{
	const double truth[] = { 1.3, 0.8 };
	Correction c = {};

	(void)state;
	for (unsigned s = 0; s < 600; s++) {
		double wave = 20 * sin(s * 2 * M_PI / 120);

		look(&c, s, (double[]){ 30 + wave, 30 - wave }, truth);
	}
	print_message("# %.3f, %.3f\n", c.factor[0], c.factor[1]);
	assert_float_equal(correction_of(&c, &profiles[0]), 1.3, 0.02);
	assert_float_equal(correction_of(&c, &profiles[1]), 0.8, 0.02);
}

static void loads_that_move_together_leave_them_one_factor(void **state)
{
	const double truth[] = { 1.3, 0.9 };
	Correction c = {};

	(void)state;
	for (unsigned s = 0; s < 600; s++) {
		double w = 30 + 20 * sin(s * 2 * M_PI / 120);

		look(&c, s, (double[]){ w, w }, truth);
	}
	assert_float_equal(correction_of(&c, &profiles[0]), 1.1, 0.02);
	assert_float_equal(correction_of(&c, &profiles[1]), 1.1, 0.02);
}

static void who_draws_more_is_believed_at_once(void **state)
{
	const double w[] = { 30, 30 }, truth[] = { 1.4, 1.4 };
	Correction c = {};

	(void)state;
	look(&c, 0, w, truth);
	assert_false(c.known);
	look(&c, 1, w, truth);
	assert_true(c.known);
	assert_float_equal(total(&c, w), IDLE_W + 1.4 * 60, 1);
}

static void who_draws_less_is_believed_a_hundredth_a_second(void **state)
{
	const double w[] = { 30, 30 }, truth[] = { 0.6, 0.6 };
	double before_w = IDLE_W + 60, least_w = IDLE_W + 0.6 * 60;
	Correction c = {};

	(void)state;
	look(&c, 0, w, truth);
	for (unsigned s = 1; s < 60; s++) {
		look(&c, s, w, truth);
		assert_true(total(&c, w) >= before_w - 0.01 * least_w - 1e-9);
		before_w = total(&c, w);
	}
	assert_float_equal(before_w, least_w, 0.5);
}

/* By a reading that is none, or by none for two seconds. */
static void what_is_lost_is_believed_only_where_it_is_worse(void **state)
{
	const double w[] = { 30, 30 };

	(void)state;
	for (int late = 0; late < 2; late++) {
		Correction c = {};
		unsigned s = 0;

		while (s < 600) {
			double wave = 20 * sin(s * 2 * M_PI / 120);

			look(&c, s++, (double[]){ 30 + wave, 30 - wave }, (double[]){ 1.3, 0.8 });
		}
		look(&c, late ? s + 1 : s, w, (double[]){ late ? 1.3 : NAN, 0.8 });
		assert_false(c.known);
		assert_float_equal(correction_of(&c, &profiles[0]), 1.3, 0.02);
		assert_true(correction_of(&c, &profiles[1]) == 1);
	}
}

static void while_the_draw_moves_nothing_is_learned(void **state)
{
	Correction c = {};

	(void)state;
	for (unsigned s = 0; s < 60; s++)
		look(&c, s, (double[]){ s % 2 ? 20 : 40, 30 }, (double[]){ 1.4, 1.4 });
	assert_false(c.known);
	assert_true(correction_of(&c, &profiles[0]) == 1);
}

static void families_too_many_share_the_last_factor(void **state)
{
	Correction c = {};

	(void)state;
	for (unsigned s = 0; s < 30; s++) {
		CorrectionLook l = { .at_us = s * USEC_PER_SEC };

		for (size_t i = 0; i < ELEMENTSOF(profiles); i++)
			correction_add(&c, &l, &profiles[i], 5, 10);
		l.measured_w = ELEMENTSOF(profiles) * (5 + 10 * 1.2);
		correction_take(&c, &l);
	}
	assert_int_equal(c.n, CORRECTION_FAMILIES);
	for (size_t i = 0; i < ELEMENTSOF(profiles); i++)
		assert_float_equal(correction_of(&c, &profiles[i]), 1.2, 0.05);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loads_that_move_apart_tell_families_apart),
		cmocka_unit_test(loads_that_move_together_leave_them_one_factor),
		cmocka_unit_test(who_draws_more_is_believed_at_once),
		cmocka_unit_test(who_draws_less_is_believed_a_hundredth_a_second),
		cmocka_unit_test(what_is_lost_is_believed_only_where_it_is_worse),
		cmocka_unit_test(while_the_draw_moves_nothing_is_learned),
		cmocka_unit_test(families_too_many_share_the_last_factor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
