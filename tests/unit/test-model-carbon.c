/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Nibler and Ropars, "Carbon Footprint of Storage in Data Centers", equations 1 to 3: what they
 * print, and what must hold of any figures. */

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "model/carbon.h"

#define GERMANY_G_KWH 381
#define NORWAY_G_KWH  30

static Band exactly(double v)
{
	return (Band){ v, v, v };
}

static void assert_near(double found, double expected)
{
	if (!(fabs(found - expected) <= 1e-9 * fabs(expected)))
		fail_msg("%.12g is not %.12g", found, expected);
}

/* Its figures are the means of the study. */
static CarbonQuestion plain(double ssd_j, double hdd_j, double g_kwh)
{
	return (CarbonQuestion){ .ssd = { exactly(ssd_j), exactly(0.16) },
				 .hdd = { exactly(hdd_j), exactly(0.02) },
				 .size_gb = 1000,
				 .disks = 1,
				 .g_kwh = exactly(g_kwh) };
}

static void as_many_disks_are_needed_as_the_study_prints(void **state)
{
	static const struct {
		double rate, hdd_rate, scaling;
		unsigned disks;
	} rows[] = {
		{ 4000, 722, 1, 6 },    { 4000, 722, 0.9, 7 }, { 4000, 722, 0.75, 8 },
		{ 722, 722, 1, 1 },     { 723, 722, 1, 2 },    { 1, 722, 1, 1 },
		{ 4.9, 7, 0.7, 1 },     { 2100, 700, 1, 3 },   { 0.3, 0.1, 1, 3 },
		{ 1e6, 1, 1, 1000000 },
	};
	unsigned n = 0;

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		assert_int_equal(carbon_disks(rows[i].rate, rows[i].hdd_rate, rows[i].scaling, &n),
				 0);
		assert_int_equal(n, rows[i].disks);
	}
}

static void disks_that_nobody_can_count_are_refused(void **state)
{
	static const struct {
		double rate, hdd_rate, scaling;
		int error;
	} rows[] = {
		{ 0, 722, 1, -EINVAL },       { -1, 722, 1, -EINVAL },
		{ 4000, 0, 1, -EINVAL },      { 4000, 722, 0, -EINVAL },
		{ 4000, 722, 1.01, -EINVAL }, { NAN, 722, 1, -EINVAL },
		{ 4000, NAN, 1, -EINVAL },    { 4000, 722, NAN, -EINVAL },
		{ INFINITY, 1, 1, -EINVAL },  { 1000001, 1, 1, -ERANGE },
	};
	unsigned n = 77;

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(rows); i++)
		assert_int_equal(carbon_disks(rows[i].rate, rows[i].hdd_rate, rows[i].scaling, &n),
				 rows[i].error);
	assert_int_equal(n, 77);
}

/* By hand: 1000 GB owe 140 kg; 5 mJ saved are 5e-3 / 3.6e6 kWh, of 381 g each. */
static void the_break_even_is_where_equation_1_is_one(void **state)
{
	CarbonQuestion q = plain(1e-3, 6e-3, GERMANY_G_KWH);
	CarbonCrossings r;

	(void)state;
	assert_int_equal(carbon_requests(&q, &r), 0);
	assert_int_equal(r.mean.verdict, CARBON_AFTER);
	assert_near(r.mean.at, 140 / (5e-3 / 3.6e6 * 0.381));
	assert_true(fabs(r.mean.at - 2.6457e11) < 0.0001e11);
	assert_int_equal(carbon_requests(&(CarbonQuestion){ .ssd = q.ssd,
							    .hdd = q.hdd,
							    .size_gb = 1000,
							    .disks = 1,
							    .g_kwh = exactly(NORWAY_G_KWH) },
					 &r),
			 0);
	/* the cleaner the grid, the later */
	assert_near(r.mean.at, 140 / (5e-3 / 3.6e6 * 0.030));
}

static void each_disk_that_is_not_made_shortens_it(void **state)
{
	CarbonQuestion q = plain(1e-3, 6e-3, GERMANY_G_KWH);
	CarbonCrossings one, many;

	(void)state;
	assert_int_equal(carbon_requests(&q, &one), 0);
	for (q.disks = 2; q.disks < 8; q.disks++) {
		assert_int_equal(carbon_requests(&q, &many), 0);
		assert_int_equal(many.mean.verdict, CARBON_AFTER);
		assert_near(many.mean.at, one.mean.at * (160 - 20.0 * q.disks) / 140);
	}
	/* eight were made with as much as the SSD */
	assert_int_equal(carbon_requests(&q, &many), 0);
	assert_int_equal(many.mean.verdict, CARBON_ALWAYS);
	assert_true(many.mean.at == 0);
}

static void every_verdict_has_its_figure(void **state)
{
	static const struct {
		double ssd_j, hdd_j;
		unsigned disks;
		CarbonVerdict verdict;
		double at;
	} rows[] = {
		{ 1e-3, 6e-3, 1, CARBON_AFTER, 140 / (5e-3 / 3.6e6 * 0.381) },
		{ 6e-3, 6e-3, 1, CARBON_NEVER, INFINITY }, /* equation 1 is strict */
		{ 7e-3, 6e-3, 1, CARBON_NEVER, INFINITY },
		{ 6e-3, 6e-3, 8, CARBON_NEVER, INFINITY },
		{ 1e-3, 6e-3, 9, CARBON_ALWAYS, 0 },
		{ 6e-3, 6e-3, 9, CARBON_ALWAYS, 0 },
		{ 6e-3, 1e-3, 9, CARBON_UNTIL, 20 / (5e-3 / 3.6e6 * 0.381) },
	};
	CarbonCrossings r;

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		CarbonQuestion q = plain(rows[i].ssd_j, rows[i].hdd_j, GERMANY_G_KWH);

		q.disks = rows[i].disks;
		assert_int_equal(carbon_requests(&q, &r), 0);
		assert_int_equal(r.mean.verdict, rows[i].verdict);
		if (isfinite(rows[i].at))
			assert_near(r.mean.at, rows[i].at);
		else
			assert_true(r.mean.at == rows[i].at);
	}
}

static double draw(double low, double high)
{
	return low + (high - low) * ((double)rand() / RAND_MAX);
}

static Band draw_band(double most)
{
	double mean = draw(0.01 * most, most);

	return (Band){ draw(0.1, 1) * mean, mean, draw(1, 3) * mean };
}

static CarbonQuestion draw_question(void)
{
	return (CarbonQuestion){ .ssd = { draw_band(5e-3), draw_band(0.2) },
				 .hdd = { draw_band(15e-3), draw_band(0.05) },
				 .size_gb = draw(100, 20000),
				 .disks = 1 + (unsigned)rand() % 8,
				 .g_kwh = draw_band(600) };
}

/* Of both solutions, in every case: who is there has caused as much as the other. */
static void assert_equal_sides(const CarbonQuestion *q, CarbonCase which, const CarbonCrossing *x)
{
	double ssd_kg, hdd_kg, before_kg[2], after_kg[2];

	if (x->verdict != CARBON_AFTER && x->verdict != CARBON_UNTIL)
		return;
	carbon_sides(q, x->at, which, &ssd_kg, &hdd_kg);
	assert_near(ssd_kg, hdd_kg);
	carbon_sides(q, 0.9 * x->at, which, &before_kg[0], &before_kg[1]);
	carbon_sides(q, 1.1 * x->at, which, &after_kg[0], &after_kg[1]);
	assert_true((before_kg[0] < before_kg[1]) == (x->verdict == CARBON_UNTIL));
	assert_true((after_kg[0] < after_kg[1]) == (x->verdict == CARBON_AFTER));
}

static void at_the_break_even_both_sides_are_equal(void **state)
{
	unsigned seen[4] = {};

	(void)state;
	srand(1);
	for (int i = 0; i < 20000; i++) {
		CarbonQuestion q = draw_question();
		CarbonCrossings r;

		assert_int_equal(carbon_requests(&q, &r), 0);
		assert_equal_sides(&q, CARBON_MEAN, &r.mean);
		assert_equal_sides(&q, CARBON_BEST, &r.best);
		assert_equal_sides(&q, CARBON_WORST, &r.worst);
		seen[r.mean.verdict]++;
	}
	for (size_t i = 0; i < ELEMENTSOF(seen); i++)
		assert_true(seen[i] > 100);
}

/* How good a crossing is for the SSD: any AFTER is worse than ALWAYS, and better than NEVER. Those
 * that are ahead at first only cannot be compared with those that are ahead in the end. */
static void assert_no_better(const CarbonCrossing *x, const CarbonCrossing *than)
{
	if (x->verdict == CARBON_NEVER || than->verdict == CARBON_ALWAYS)
		return;
	assert_true(x->verdict != CARBON_ALWAYS && than->verdict != CARBON_NEVER);
	if (x->verdict != than->verdict)
		return;
	assert_true(x->verdict == CARBON_AFTER ? x->at >= than->at : x->at <= than->at);
}

static void any_figures_within_the_bands_are_between_best_and_worst(void **state)
{
	(void)state;
	srand(2);
	for (int i = 0; i < 20000; i++) {
		CarbonQuestion q = draw_question(), in = q;
		CarbonCrossings r, one;
		Band *const bands[] = { &in.ssd.request_j, &in.ssd.embodied_kg_gb,
					&in.hdd.request_j, &in.hdd.embodied_kg_gb, &in.g_kwh };

		for (size_t k = 0; k < ELEMENTSOF(bands); k++)
			*bands[k] = exactly(draw(bands[k]->low, bands[k]->high));
		assert_int_equal(carbon_requests(&q, &r), 0);
		assert_int_equal(carbon_requests(&in, &one), 0);
		assert_no_better(&r.mean, &r.best);
		assert_no_better(&r.worst, &r.mean);
		assert_no_better(&one.mean, &r.best);
		assert_no_better(&r.worst, &one.mean);
	}
}

static void at_the_threshold_so_many_requests_are_the_break_even(void **state)
{
	unsigned seen = 0;

	(void)state;
	srand(3);
	for (int i = 0; i < 5000; i++) {
		CarbonQuestion q = draw_question();
		double requests = draw(1e8, 1e12);
		CarbonCrossings at, r;

		assert_int_equal(carbon_intensity(&q, requests, &at), 0);
		if (at.mean.verdict != CARBON_AFTER && at.mean.verdict != CARBON_UNTIL)
			continue;
		q.g_kwh = exactly(at.mean.at);
		assert_int_equal(carbon_requests(&q, &r), 0);
		assert_int_equal(r.mean.verdict, at.mean.verdict);
		assert_near(r.mean.at, requests);
		seen++;
	}
	assert_true(seen > 1000);
}

static void electricity_without_carbon_repays_nothing(void **state)
{
	CarbonQuestion q = plain(1e-3, 6e-3, 0);
	CarbonCrossings r;

	(void)state;
	assert_int_equal(carbon_requests(&q, &r), 0);
	assert_int_equal(r.mean.verdict, CARBON_NEVER);
	q.disks = 9;
	assert_int_equal(carbon_requests(&q, &r), 0);
	assert_int_equal(r.mean.verdict, CARBON_ALWAYS);
}

static void a_kilowatt_hour_is_as_much_as_its_intensity(void **state)
{
	(void)state;
	assert_near(carbon_use_kg(3.6e6, GERMANY_G_KWH), 0.381);
	assert_near(carbon_use_kg(7.2e6, NORWAY_G_KWH), 0.060);
}

static void questions_that_make_no_sense_are_refused(void **state)
{
	const CarbonQuestion good = plain(1e-3, 6e-3, GERMANY_G_KWH);
	const Band wrong[] = { { 2, 1, 3 },       { 1, 3, 2 },   { -1, 1, 2 },
			       { NAN, NAN, NAN }, { 1, NAN, 2 }, { 0, 1, INFINITY } };
	CarbonQuestion q;
	CarbonCrossings r;

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(wrong); i++)
		for (size_t k = 0; k < 5; k++) {
			Band *bands[] = { &q.ssd.request_j, &q.ssd.embodied_kg_gb, &q.hdd.request_j,
					  &q.hdd.embodied_kg_gb, &q.g_kwh };

			q = good;
			*bands[k] = wrong[i];
			assert_int_equal(carbon_requests(&q, &r), -EINVAL);
			assert_int_equal(carbon_intensity(&q, 1e9, &r), -EINVAL);
		}
	q = good;
	q.disks = 0;
	assert_int_equal(carbon_requests(&q, &r), -EINVAL);
	q = good;
	q.size_gb = 0;
	assert_int_equal(carbon_requests(&q, &r), -EINVAL);
	assert_int_equal(carbon_intensity(&good, 0, &r), -EINVAL);
	assert_int_equal(carbon_intensity(&good, INFINITY, &r), -EINVAL);
}

static void the_defaults_are_the_study_s(void **state)
{
	const Band ssd = CARBON_SSD_KG_GB, hdd = CARBON_HDD_KG_GB;

	(void)state;
	assert_true(ssd.low == 0.033 && ssd.mean == 0.16 && ssd.high == 0.34);
	assert_true(hdd.low == 0.005 && hdd.mean == 0.02 && hdd.high == 0.06);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_many_disks_are_needed_as_the_study_prints),
		cmocka_unit_test(disks_that_nobody_can_count_are_refused),
		cmocka_unit_test(the_break_even_is_where_equation_1_is_one),
		cmocka_unit_test(each_disk_that_is_not_made_shortens_it),
		cmocka_unit_test(every_verdict_has_its_figure),
		cmocka_unit_test(at_the_break_even_both_sides_are_equal),
		cmocka_unit_test(any_figures_within_the_bands_are_between_best_and_worst),
		cmocka_unit_test(at_the_threshold_so_many_requests_are_the_break_even),
		cmocka_unit_test(electricity_without_carbon_repays_nothing),
		cmocka_unit_test(a_kilowatt_hour_is_as_much_as_its_intensity),
		cmocka_unit_test(questions_that_make_no_sense_are_refused),
		cmocka_unit_test(the_defaults_are_the_study_s),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
