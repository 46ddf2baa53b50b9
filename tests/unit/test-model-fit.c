/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What idling, an IO and a page cost, fitted to what was moved and what was measured. */

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/splitmix.h"
#include "base/text.h"
#include "model/fit.h"

typedef struct Chance {
	uint64_t state;
} Chance;

static double uniform(Chance *c)
{
	c->state += SPLITMIX_STEP;
	return (double)(splitmix(c->state) >> 11) * 0x1p-53;
}

/* Box and Muller. */
static double normal(Chance *c)
{
	double r = sqrt(-2 * log(1 - uniform(c)));

	return r * cos(2 * M_PI * uniform(c));
}

/* Idle, then io_j and page_j of reads and writes, random and sequential. */
#define UNKNOWNS 9
static const double truth[UNKNOWNS] = { 250,    4.1e-6, 1.9e-6, 2.2e-6, 0.9e-6,
					8.0e-6, 3.5e-6, 3.1e-6, 2.4e-6 };

static double watts_of(const double *energies, const double *x, size_t n)
{
	double w = 0;

	for (size_t i = 0; i < n; i++)
		w += energies[i] * x[i];
	return w;
}

/* IOs and pages a second: each kind of IO has loads and sizes of its own. */
static void draw_load(Chance *c, double *x)
{
	x[0] = 1;
	for (size_t i = 1; i < UNKNOWNS; i += 2) {
		x[i] = 4e6 * uniform(c);
		x[i + 1] = x[i] * (1 + 15 * uniform(c)) / 4;
	}
}

static void add_load(FitSums *s, Chance *c, double noise)
{
	double x[UNKNOWNS], watts;

	draw_load(c, x);
	watts = watts_of(truth, x, UNKNOWNS);
	fit_add(s, x, watts * (1 + noise * normal(c)), 1 / (watts * watts));
}

static void what_has_no_noise_is_recovered_exactly(void **state)
{
	FitSums s = { .n = UNKNOWNS };
	Chance c = { 1 };
	FitResult r;

	(void)state;
	for (int i = 0; i < 40; i++)
		add_load(&s, &c, 0);
	assert_int_equal(fit_solve(&s, &r), 0);
	for (size_t i = 0; i < UNKNOWNS; i++) {
		assert_true(r.determined[i]);
		assert_float_equal(r.value[i] / truth[i], 1, 1e-6);
	}
	assert_true(r.residual_sd < 1e-6);
	assert_true(r.condition >= 1 && r.condition < 1e4);
}

static void too_few_observations_give_nothing(void **state)
{
	FitSums s = { .n = UNKNOWNS };
	Chance c = { 1 };
	FitResult r;

	(void)state;
	assert_int_equal(fit_solve(&s, &r), -ENODATA);
	for (int i = 0; i < UNKNOWNS; i++)
		add_load(&s, &c, 0);
	assert_int_equal(fit_solve(&s, &r), 0);
	assert_true(isnan(r.residual_sd) && isnan(r.sd[1])); /* nothing is left to judge it by */
}

#define COLUMNS 6
#define ROWS    12

/* Kuhn and Tucker: where an unknown is above 0 nothing pulls at it, and at one that is held at 0
 * nothing pulls upwards. */
static void assert_best(const double (*a)[COLUMNS], const double *y, const double *x)
{
	for (size_t j = 0; j < COLUMNS; j++) {
		double pull = 0;

		for (size_t i = 0; i < ROWS; i++)
			pull += a[i][j] * (y[i] - watts_of(x, a[i], COLUMNS));
		assert_true(x[j] >= 0);
		assert_true(pull < 1e-8);
		assert_true(x[j] == 0 || pull > -1e-8);
	}
}

/* The regressors have much in common, so that what is taken in at first is often let go later. */
static void nothing_is_negative_and_nothing_fits_better(void **state)
{
	unsigned held = 0;
	Chance c = { 2 };

	(void)state;
	for (int trial = 0; trial < 500; trial++) {
		double a[ROWS][COLUMNS], y[ROWS];
		FitSums s = { .n = COLUMNS };
		FitResult r;

		for (size_t i = 0; i < ROWS; i++) {
			double common = uniform(&c);

			for (size_t j = 0; j < COLUMNS; j++)
				a[i][j] = common + 0.2 * uniform(&c);
			y[i] = common + 0.1 * normal(&c);
			fit_add(&s, a[i], y[i], 1);
		}
		assert_int_equal(fit_solve(&s, &r), 0);
		assert_best(a, y, r.value);
		for (size_t j = 0; j < COLUMNS; j++)
			held += r.value[j] == 0;
	}
	print_message("# %u of 3000 unknowns are held at 0\n", held);
	assert_true(held > 500 && held < 2500);
}

#define TRIALS 1000

static void the_covariance_is_that_of_many_trials(void **state)
{
	double sum[UNKNOWNS] = {}, squares[UNKNOWNS] = {}, said[UNKNOWNS] = {}, cross = 0,
	       said_cross = 0;
	Chance c = { 3 };

	(void)state;
	for (int trial = 0; trial < TRIALS; trial++) {
		FitSums s = { .n = UNKNOWNS };
		FitResult r;

		for (int i = 0; i < 150; i++)
			add_load(&s, &c, 0.005);
		assert_int_equal(fit_solve(&s, &r), 0);
		for (size_t i = 0; i < UNKNOWNS; i++) {
			double off = r.value[i] / truth[i] - 1;

			sum[i] += off;
			squares[i] += off * off;
			said[i] += pow(r.sd[i] / truth[i], 2);
		}
		cross += (r.value[1] / truth[1] - 1) * (r.value[2] / truth[2] - 1);
		said_cross += r.covariance[1][2] / truth[1] / truth[2];
	}
	for (size_t i = 0; i < UNKNOWNS; i++) {
		double is = sqrt(squares[i] / TRIALS), by_fit = sqrt(said[i] / TRIALS);

		assert_true(fabs(sum[i] / TRIALS) < 4 * is / sqrt(TRIALS) + 1e-3);
		assert_float_equal(by_fit / is, 1, 0.1);
	}
	assert_true(said_cross < 0);
	assert_float_equal(said_cross / cross, 1, 0.15);
}

static void what_never_varies_is_not_determined(void **state)
{
	FitSums s = { .n = 5 };
	Chance c = { 4 };
	FitResult r;

	(void)state;
	/* reads of one size at any load, writes at one load, and nothing of the last kind */
	for (int i = 0; i < 100; i++) {
		double reads = 1e5 * uniform(&c), x[5] = { 1, reads, 3.7 * reads, 5e4, 0 };

		fit_add(&s, x, 100 + 3e-6 * reads + 8 * (1 + 0.001 * normal(&c)), 1);
	}
	assert_int_equal(fit_solve(&s, &r), 0);
	for (size_t i = 0; i < 5; i++) {
		assert_false(r.determined[i]);
		assert_true(isnan(r.value[i]) && isnan(r.sd[i]) && r.own[i] == 0);
	}
}

static void what_varies_is_determined_beside_writes_of(double size)
{
	FitSums s = { .n = 4 };
	Chance c = { 5 };
	FitResult r;

	for (int i = 0; i < 100; i++) {
		double reads = 1e5 * uniform(&c), writes = 1e5 * uniform(&c);
		double x[4] = { 1, reads, writes, size * writes };

		fit_add(&s, x, 100 + 3e-4 * reads + 5e-4 * writes, 1);
	}
	assert_int_equal(fit_solve(&s, &r), 0);
	assert_true(r.determined[0] && r.determined[1]);
	assert_false(r.determined[2] || r.determined[3]);
	assert_float_equal(r.value[0], 100, 1e-6);
	assert_float_equal(r.value[1], 3e-4, 1e-10);
	assert_true(r.own[1] > 0.1 && r.own[1] <= 1);
}

static void what_varies_is_determined_beside_what_does_not(void **state)
{
	(void)state;
	for (double size = 1; size < 256; size *= 1.3)
		what_varies_is_determined_beside_writes_of(size);
}

static void joined_unknowns_are_one(void **state)
{
	const double part[4] = { 1, 3e-4, 1e-4, 1e-4 };
	const size_t into[4] = { 0, 1, 2, 2 };
	FitSums s = { .n = 4 }, joined;
	Chance c = { 5 };
	FitResult r;

	(void)state;
	for (int i = 0; i < 100; i++) {
		double reads = 1e5 * uniform(&c), writes = 1e5 * uniform(&c);
		double x[4] = { 1, reads, writes, 3.7 * writes };

		fit_add(&s, x, 100 + 3e-4 * reads + 1.2e-4 * 4.7 * writes, 1);
	}
	fit_join(&s, into, part, 3, &joined);
	assert_int_equal(fit_solve(&joined, &r), 0);
	assert_float_equal(r.value[0], 100, 1e-6);
	assert_float_equal(r.value[1], 1, 1e-8);
	assert_float_equal(r.value[2], 1.2, 1e-8);
}

static void parts_merged_are_the_whole(void **state)
{
	FitSums whole = { .n = UNKNOWNS }, parts[2] = { whole, whole };
	Chance a = { 6 }, b = { 6 };
	FitResult r, of_parts;

	(void)state;
	for (int i = 0; i < 100; i++) {
		add_load(&whole, &a, 0.01);
		add_load(&parts[i % 2], &b, 0.01);
	}
	fit_merge(&parts[0], &parts[1]);
	assert_int_equal(fit_solve(&whole, &r), 0);
	assert_int_equal(fit_solve(&parts[0], &of_parts), 0);
	for (size_t i = 0; i < UNKNOWNS; i++)
		assert_float_equal(of_parts.value[i] / r.value[i], 1, 1e-9);
	assert_float_equal(of_parts.residual_sd / r.residual_sd, 1, 1e-9);
}

/* The idle watts rise by a fifth: with forgetting they are found, without they are a mean. */
static void what_is_forgotten_counts_no_more(void **state)
{
	double found[2];

	(void)state;
	for (int forgets = 0; forgets < 2; forgets++) {
		FitSums s = { .n = 2 };
		Chance c = { 7 };
		FitResult r;

		for (int i = 0; i < 2000; i++) {
			double x[2] = { 1, 1e5 * uniform(&c) };

			fit_forget(&s, forgets ? 0.99 : 1);
			fit_add(&s, x, (i < 1000 ? 100 : 120) + 3e-4 * x[1], 1);
		}
		assert_int_equal(fit_solve(&s, &r), 0);
		found[forgets] = r.value[0];
		if (forgets)
			assert_float_equal(s.observations, 100, 0.1);
	}
	assert_float_equal(found[0], 110, 0.5);
	assert_float_equal(found[1], 120, 0.01);
}

/* 50 drives of one profile, of which every ten do one kind of IO at one size, behind one sensor
 * that is off by 1 % at each reading: ten minutes of loads that walk. */
static void fifty_drives_behind_one_noisy_sensor_are_found(void **state)
{
	const double hidden[5] = { 250, 5.3e-6, 1.3e-6, 9.1e-6, 1.6e-6 };
	const double pages[2] = { 1, 16 };
	double worst = 0, off;

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		double load[4] = { 0.5, 0.5, 0.5, 0.5 };
		FitSums s = { .n = 5 };
		Chance c = { seed << 32 };
		FitResult r;

		for (int second = 0; second < 600; second++) {
			double x[5] = { 1 }, watts;

			for (size_t k = 0; k < 4; k++) {
				double ios = k % 2 ? 2.4e6 : 1e7;

				load[k] = fabs(load[k] + 0.08 * normal(&c));
				load[k] = load[k] > 1 ? 2 - load[k] : load[k];
				x[1 + k / 2 * 2] += ios * load[k];
				x[2 + k / 2 * 2] += ios * load[k] * pages[k % 2];
			}
			watts = watts_of(hidden, x, 5);
			fit_add(&s, x, watts * (1 + 0.01 * normal(&c)), 1 / (watts * watts));
		}
		assert_int_equal(fit_solve(&s, &r), 0);
		for (size_t i = 0; i < 5; i++) {
			off = fabs(r.value[i] / hidden[i] - 1);
			worst = MAX(worst, off);
		}
	}
	print_message("# %.1f %% off at the worst in 20 trials of 5 unknowns\n", 100 * worst);
	assert_true(worst < 0.05);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_has_no_noise_is_recovered_exactly),
		cmocka_unit_test(too_few_observations_give_nothing),
		cmocka_unit_test(nothing_is_negative_and_nothing_fits_better),
		cmocka_unit_test(the_covariance_is_that_of_many_trials),
		cmocka_unit_test(what_never_varies_is_not_determined),
		cmocka_unit_test(what_varies_is_determined_beside_what_does_not),
		cmocka_unit_test(joined_unknowns_are_one),
		cmocka_unit_test(parts_merged_are_the_whole),
		cmocka_unit_test(what_is_forgotten_counts_no_more),
		cmocka_unit_test(fifty_drives_behind_one_noisy_sensor_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
