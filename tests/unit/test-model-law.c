/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The constants of a drive's law come out of what the drive does. */

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "hidden-drive.h"
#include "model/law-fit.h"

#define STREAMS 3
#define STATES  2

/* Of each stream, then of each state, then of the drive; as LAW_... has them, but for the
 * logarithm. */
static const double streams[STREAMS][LAW_OF_STREAM] = {
	{ 80e-6, 2.0, 1.1e-6, 0.15e-6, 5e-6, 0.9e-6 },
	{ 20e-6, 1.5, 0.9e-6, 0.14e-6, 3e-6, 0.8e-6 },
	{ 15e-6, 1.2, 4e-6, 0.5e-6, 11e-6, 3e-6 },
};
static const double states[STATES][LAW_WITH_STATE - LAW_OF_STREAM] = { { 18, 1, 1 },
								       { 5, 1.1, 0.95 } };
static const double drive[LAW_CONSTANTS - LAW_WITH_STATE] = { 4, 6, 8, 0.3 };

static LawAnswer truth(const LawPlace *p)
{
	double c[LAW_CONSTANTS];

	for (size_t i = 0; i < LAW_CONSTANTS; i++)
		c[i] = log(i < LAW_OF_STREAM    ? streams[p->stream][i]
			   : i < LAW_WITH_STATE ? states[p->state][i - LAW_OF_STREAM]
						: drive[i - LAW_WITH_STATE]);
	return law_answer(p, c);
}

static LawPlace any_place(uint64_t *chance)
{
	return (LawPlace){ exp2(floor(8 * hidden_uniform(chance))),
			   exp2(2 + floor(9 * hidden_uniform(chance))),
			   (size_t)(STREAMS * hidden_uniform(chance)),
			   (size_t)(STATES * hidden_uniform(chance)) };
}

static LawPoint measured(const LawPlace *p, double noise, uint64_t *chance)
{
	LawAnswer a = truth(p);

	return (LawPoint){ *p, a.mb_s + noise * hidden_normal(chance),
			   a.watts + 2 * noise * hidden_normal(chance), 2 };
}

static LawFit *fit_of(size_t n, double noise, size_t without_stream, uint64_t *chance)
{
	LawFit *f = law_fit_new(STREAMS, STATES);
	LawPoint points[400];

	assert_non_null(f);
	assert_true(n <= ELEMENTSOF(points));
	for (size_t i = 0; i < n;) {
		const LawPlace p = any_place(chance);

		if (p.stream != without_stream)
			points[i++] = measured(&p, noise, chance);
	}
	assert_int_equal(law_fit(f, points, n, false), 0);
	return f;
}

/* One stream, one state: figures that one can check by hand. */
static void the_law_is_what_it_says(void **state)
{
	const double c[LAW_CONSTANTS] = {
		[LAW_WAIT_S] = log(90e-6), [LAW_ALONE] = log(2),         [LAW_IO_S] = log(5e-6),
		[LAW_KIB_S] = log(1e-6),   [LAW_IO_J] = log(4e-6),       [LAW_KIB_J] = log(1e-6),
		[LAW_CAP_W] = log(1.5),    [LAW_BEND_DEPTH] = log(1e6),  [LAW_BEND_SIZE] = log(1e6),
		[LAW_BEND_CAP] = log(1e6), [LAW_CAP_WITHIN] = log(1e-9),
	};
	LawAnswer a;

	(void)state;
	/* an IO of 4 KiB: 90 us, and twice 5 us */
	a = law_answer(&(LawPlace){ 1, 4, 0, 0 }, c);
	assert_float_equal(exp(a.mb_s), 4096 / 100.0, 0.01);
	assert_float_equal(exp(a.watts), 8e-6 / 100e-6, 1e-4);
	/* 20 such saturate: one each 5 us, but 8 uJ each 5 us are more than 1.5 W */
	assert_float_equal(exp(law_answer(&(LawPlace){ 10, 4, 0, 0 }, c).mb_s), 409.6, 0.1);
	a = law_answer(&(LawPlace){ 40, 4, 0, 0 }, c);
	assert_float_equal(a.saturated, log(2), 1e-6);
	assert_float_equal(exp(a.watts), 1.5, 1e-3);
	assert_float_equal(exp(a.mb_s), 4096 / (8 / 1.5), 0.1);
	/* 1 MiB keeps the drive busy for 1024 us, and takes 1028 uJ */
	a = law_answer(&(LawPlace){ 64, 1024, 0, 0 }, c);
	assert_float_equal(exp(a.mb_s), 1024, 0.1);
	assert_float_equal(exp(a.watts), 1028.0 / 1024, 1e-3);
}

static void a_drive_that_follows_the_law_is_known_from_few_points(void **state)
{
	uint64_t chance = 5;
	_cleanup_(law_fit_freep) LawFit *f = fit_of(100, 0, STREAMS, &chance);
	double worst = 0;

	(void)state;
	for (int i = 0; i < 500; i++) {
		const LawPlace p = any_place(&chance);
		LawGuess g;

		law_fit_guess(f, &p, 2, &g);
		worst = fmax(worst, fabs(g.answer.mb_s - truth(&p).mb_s));
		worst = fmax(worst, fabs(g.answer.watts - truth(&p).watts));
	}
	print_message("# off by %.2f %% at most\n", 100 * worst);
	assert_true(worst < 0.05);
}

/* Of places that were not measured, too; and more points tell more. */
static void the_error_that_is_told_is_true(void **state)
{
	uint64_t chance = 8;
	_cleanup_(law_fit_freep) LawFit *few = fit_of(60, 0.03, STREAMS, &chance),
					*many = fit_of(400, 0.03, STREAMS, &chance);
	double squares = 0, sd_few = 0, sd_many = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		const LawPlace p = any_place(&chance);
		LawGuess a, b;

		law_fit_guess(few, &p, 2, &a);
		law_fit_guess(many, &p, 2, &b);
		squares += pow((b.answer.mb_s - truth(&p).mb_s) / b.mb_s_sd, 2);
		sd_few += a.mb_s_sd;
		sd_many += b.mb_s_sd;
	}
	print_message("# errors of %.2f standard deviations; these are %.2f %% and %.2f %%\n",
		      sqrt(squares / 1000), sd_few / 10, sd_many / 10);
	assert_true(sqrt(squares / 1000) > 0.5 && sqrt(squares / 1000) < 2);
	assert_true(sd_many < sd_few);
}

/* Nobody wrote to it: it is told as the others are, and with a wide error. */
static void a_stream_never_measured_is_told_by_what_all_have_in_common(void **state)
{
	const LawPlace unseen = { 8, 64, 1, 0 }, seen = { 8, 64, 0, 0 };
	uint64_t chance = 2;
	_cleanup_(law_fit_freep) LawFit *f = fit_of(100, 0.01, 1, &chance);
	LawGuess of_unseen, of_seen;

	(void)state;
	law_fit_guess(f, &unseen, 2, &of_unseen);
	law_fit_guess(f, &seen, 2, &of_seen);
	assert_true(isfinite(of_unseen.answer.mb_s) && isfinite(of_unseen.answer.watts));
	assert_true(fabs(of_unseen.answer.mb_s - truth(&unseen).mb_s) < 3 * of_unseen.mb_s_sd);
	assert_true(of_unseen.mb_s_sd > 20 * of_seen.mb_s_sd);
}

/* All shares together are the constants that were fitted, and none is more than all. */
static void a_point_has_a_share_in_its_own_guess(void **state)
{
	_cleanup_(law_fit_freep) LawFit *f = law_fit_new(STREAMS, STATES);
	LawPoint points[200];
	uint64_t chance = 6;
	double all = 0;

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(points); i++) {
		const LawPlace p = any_place(&chance);

		points[i] = measured(&p, 0.02, &chance);
	}
	assert_int_equal(law_fit(f, points, ELEMENTSOF(points), true), 0);
	for (size_t i = 0; i < ELEMENTSOF(points); i++) {
		LawGuess g;

		law_fit_guess(f, &points[i].place, points[i].watts_noise, &g);
		assert_true(g.mb_s_own > 0 && g.mb_s_own < 1);
		assert_true(g.watts_own > 0 && g.watts_own < 1);
		all += g.mb_s_own + g.watts_own;
	}
	assert_true(all > 15 && all < STREAMS * 6 + STATES * 3 + 4);
}

static void too_little_and_too_much_are_refused(void **state)
{
	_cleanup_(law_fit_freep) LawFit *f = law_fit_new(STREAMS, STATES);
	const LawPoint p = { { 1, 4, 0, 0 }, 3, 1, 1 };

	(void)state;
	assert_int_equal(law_fit(f, &p, 1, true), -ENODATA);
	assert_null(law_fit_new(LAW_STREAMS_MAX + 1, 1));
	assert_null(law_fit_new(1, LAW_STATES_MAX + 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_law_is_what_it_says),
		cmocka_unit_test(a_drive_that_follows_the_law_is_known_from_few_points),
		cmocka_unit_test(the_error_that_is_told_is_true),
		cmocka_unit_test(a_stream_never_measured_is_told_by_what_all_have_in_common),
		cmocka_unit_test(a_point_has_a_share_in_its_own_guess),
		cmocka_unit_test(too_little_and_too_much_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
