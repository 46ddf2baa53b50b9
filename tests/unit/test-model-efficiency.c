/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Every figure that Mordvinova et al. and Byrne print, to the digit that they print, and what must
 * hold of the shipped profiles. */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model-store.h"
#include "model/carbon.h"
#include "model/efficiency.h"

#define STFC_G_KWH 207
#define KB_PER_MB  1024 /* as Mordvinova et al. count */

/* As printed: half a unit of the last digit either way. */
static void assert_printed(double found, double printed, double digit)
{
	if (!(fabs(found - printed) <= digit / 2 * (1 + 1e-9)))
		fail_msg("%.9g would not be printed as %g", found, printed);
}

static void assert_near(double found, double expected)
{
	if (!(fabs(found - expected) <= 1e-9 * fabs(expected)))
		fail_msg("%.12g is not %.12g", found, expected);
}

static void the_studies_figures_are_met_to_the_printed_digit(void **state)
{
	const struct {
		double found, printed, digit;
	} rows[] = {
		/* Mordvinova et al.: disk, SSD, flash drive, whole server, cost */
		{ efficiency_per_joule(140, 17.3), 8.1, 0.1 },
		{ efficiency_mean_per_joule(90, 80, 0.8), 106.3, 0.1 },
		{ efficiency_both_per_joule(18, 16, 0.215, 0.375), 57.6, 0.1 },
		{ efficiency_per_joule(63.1, 104) * KB_PER_MB, 621, 1 },
		{ efficiency_year_cost(8.9, 0.18), 14, 1 },
		/* Byrne: 1.9 and 4.0 kW for a PB */
		{ efficiency_year_t_per_pb(1900, 1000, STFC_G_KWH), 3.4, 0.1 },
		{ efficiency_year_t_per_pb(4000, 1000, STFC_G_KWH), 7.3, 0.1 },
		{ efficiency_year_kg(1900, STFC_G_KWH) / 1000, 3.4, 0.1 },
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(rows); i++)
		assert_printed(rows[i].found, rows[i].printed, rows[i].digit);
}

/* Where a study prints two things that do not agree: one is followed, and what the other would give
 * is as far off as printed here. */
static void of_two_prints_that_disagree_one_is_followed(void **state)
{
	const struct {
		const char *reason;
		double followed, other, apart;
	} rows[] = {
		{ "Mordvinova et al., flash drive: the text has the mean of the quotients, the table the "
		  "quotient of the sums (57.6 MB/J), by which its figures are compared",
		  efficiency_both_per_joule(18, 16, 0.215, 0.375), (18 / 0.215 + 16 / 0.375) / 2,
		  5.6 },
		{ "Mordvinova et al., server: 63.1 MB/s at 104 W are 607 KB/J, and 621 where an MB is "
		  "1024 KB: so it is printed",
		  efficiency_per_joule(63.1, 104) * KB_PER_MB,
		  efficiency_per_joule(63.1, 104) * 1000, 14.6 },
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(rows); i++) {
		print_message("# not followed: %s\n", rows[i].reason);
		assert_true(fabs(fabs(rows[i].followed - rows[i].other) - rows[i].apart) < 0.1);
	}
	/* one power: it is the form for SSDs */
	assert_near(efficiency_both_per_joule(90, 80, 0.8, 0.8),
		    efficiency_mean_per_joule(90, 80, 0.8));
}

static void what_is_usable_is_less_parity_and_what_stays_free(void **state)
{
	static const struct {
		double raw;
		Protection p;
		double usable;
	} rows[] = {
		{ 1000, { 8, 3, 0.8 }, 1000 * 8.0 / 11 * 0.8 },
		{ 11, { 8, 3, 1 }, 8 },
		{ 20, { 1, 0, 1 }, 20 },
		{ 20, { 1, 1, 0.5 }, 5 },
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(rows); i++)
		assert_near(efficiency_usable(rows[i].raw, &rows[i].p), rows[i].usable);
	/* 581.8 TB of a PB: what a usable PB takes is 1.71875 times what a raw one takes */
	assert_printed(efficiency_usable(1000, &rows[0].p), 581.8, 0.1);
	assert_near(efficiency_year_t_per_pb(1000, efficiency_usable(1000, &rows[0].p), 207),
		    efficiency_year_t_per_pb(1000, 1000, 207) * 1.71875);
}

/* 100 MB/s move a PB in 10^7 s; 10 W take 10^8 J for it, which are 27.8 kWh. */
static void carbon_of_a_petabyte_and_of_ios_is_that_of_its_joules(void **state)
{
	(void)state;
	assert_near(efficiency_kg_per_pb(100, 10, STFC_G_KWH), 1e8 / 3.6e6 * 0.207);
	assert_printed(efficiency_kg_per_pb(100, 10, STFC_G_KWH), 5.75, 0.01);
	assert_near(efficiency_kg_per_giga_io(1e5, 10, STFC_G_KWH), 1e5 / 3.6e6 * 0.207);
	assert_near(efficiency_kg_per_pb(100, 10, STFC_G_KWH),
		    carbon_use_kg(1e9 / efficiency_per_joule(100, 10), STFC_G_KWH));
}

static void figures_that_make_no_sense_are_none(void **state)
{
	const Protection good = { 8, 3, 0.8 };
	const double none[] = {
		efficiency_per_joule(1, 0),
		efficiency_per_joule(-1, 1),
		efficiency_per_joule(NAN, 1),
		efficiency_per_joule(1, -1),
		efficiency_per_joule(INFINITY, 1),
		efficiency_mean_per_joule(1, 1, 0),
		efficiency_both_per_joule(1, 1, 0, 0),
		efficiency_year_cost(-1, 1),
		efficiency_year_cost(1, NAN),
		efficiency_year_kg(NAN, 1),
		efficiency_year_kg(1, -1),
		efficiency_usable(0, &good),
		efficiency_usable(1, &(Protection){ 0, 3, 1 }),
		efficiency_usable(1, &(Protection){ 8, 3, 0 }),
		efficiency_usable(1, &(Protection){ 8, 3, 1.01 }),
		efficiency_usable(1, &(Protection){ 8, 3, NAN }),
		efficiency_year_t_per_pb(1, 0, 1),
		efficiency_kg_per_pb(0, 1, 1),
		efficiency_kg_per_pb(1, 1, -1),
		efficiency_kg_per_giga_io(0, 1, 1),
		efficiency_kg_per_giga_io(1, 1, NAN),
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(none); i++)
		if (!isnan(none[i]))
			fail_msg("row %zu is %g", i, none[i]);
	assert_true(efficiency_per_joule(0, 1) == 0);
}

static void a_device_gives_for_a_joule_what_it_is_predicted_to(void **state)
{
	static const Mix mixes[] = {
		{ 1, 0, 256, 256, 64, NULL },
		{ 0, 1, 4, 4, 64, NULL },
		{ 0.5, 1, 4, 4, 64, NULL },
	};

	(void)state;
	for (size_t i = 0; i < store->n; i++)
		for (size_t k = 0; k < ELEMENTSOF(mixes); k++) {
			Prediction at;
			Efficiency e;

			predict(store->profiles[i], &mixes[k], &SETTING_AS_FOUND, &at);
			efficiency_predict(store->profiles[i], &mixes[k], &e);
			assert_true(e.mb_j > 0 && e.io_j > 0);
			assert_near(e.mb_j * e.watts, at.mb_s);
			assert_near(e.io_j * e.watts, at.iops);
			assert_true(e.error == at.error && e.estimated == at.estimated);
			assert_true(e.watts <= profile_operating_w(store->profiles[i]) * 1.000001);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_studies_figures_are_met_to_the_printed_digit),
		cmocka_unit_test(of_two_prints_that_disagree_one_is_followed),
		cmocka_unit_test(what_is_usable_is_less_parity_and_what_stays_free),
		cmocka_unit_test(carbon_of_a_petabyte_and_of_ios_is_that_of_its_joules),
		cmocka_unit_test(figures_that_make_no_sense_are_none),
		cmocka_unit_test(a_device_gives_for_a_joule_what_it_is_predicted_to),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
