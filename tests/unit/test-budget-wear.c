/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/clock.h"
#include "budget/wear.h"

#define HOUR      (3600 * USEC_PER_SEC)
#define DAY       (24 * HOUR)
#define NOW       (55 * 365 * DAY)
#define TEN_A_DAY ((WearTerms){ .starts_a_day = 10, .loads_a_day = 300 })
#define EPSILON   1e-9

static bool near(double a, double b)
{
	return fabs(a - b) < EPSILON;
}

static WearAccount account(double starts, double loads)
{
	return (WearAccount){ .starts = starts, .loads = loads, .realtime_us = NOW };
}

/* Starts left after that long on ten a day. */
static double starts_after(double starts, uint64_t us)
{
	WearAccount a = account(starts, 0);

	wear_refill(&a, &TEN_A_DAY, NOW + us);
	return a.starts;
}

static void the_rating_is_spread_over_the_years_of_service(void **state)
{
	WearTerms t = wear_terms(0, 5, 1000);

	(void)state;
	assert_true(fabs(t.starts_a_day - 50000 / (5 * 365.25)) < EPSILON);
	assert_true(t.starts_a_day > 27 && t.starts_a_day < 28);
	assert_true(t.loads_a_day > 328 && t.loads_a_day < 329);
	assert_true(near(wear_terms(100000, 5, 1000).starts_a_day, 2 * t.starts_a_day));
	assert_true(near(wear_terms(0, 10, 1000).starts_a_day, t.starts_a_day / 2));
	assert_true(near(wear_terms(0, 10, 1000).loads_a_day, t.loads_a_day / 2));
}

static void the_configuration_limits_the_stops_of_a_day_but_no_parking(void **state)
{
	const WearTerms free = wear_terms(0, WEAR_SERVICE_YEARS, 1000),
			safe = wear_terms(0, WEAR_SERVICE_YEARS, WEAR_STARTS_A_DAY),
			never = wear_terms(0, WEAR_SERVICE_YEARS, 0);

	(void)state;
	assert_true(safe.starts_a_day == 10 && never.starts_a_day == 0);
	assert_true(safe.loads_a_day == free.loads_a_day && never.loads_a_day == free.loads_a_day);
}

static void time_earns_cycles_up_to_a_days_worth(void **state)
{
	(void)state;
	assert_true(near(starts_after(0, 0), 0));
	assert_true(near(starts_after(0, 12 * HOUR), 5));
	assert_true(near(starts_after(3, 12 * HOUR), 8));
	assert_true(near(starts_after(3, DAY), 10));
	assert_true(near(starts_after(10, 1), 10));
	assert_true(near(starts_after(0, 30 * 365 * DAY), 10));
}

static void many_small_refills_earn_what_one_does(void **state)
{
	WearAccount a = account(0, 0);

	(void)state;
	for (uint64_t us = 0; us <= 6 * HOUR; us += 500 * USEC_PER_MSEC)
		wear_refill(&a, &TEN_A_DAY, NOW + us);
	assert_true(fabs(a.starts - 2.5) < 1e-6);
	assert_true(fabs(a.loads - 75) < 1e-6);
}

static void a_clock_that_went_backwards_earns_nothing_and_loses_nothing(void **state)
{
	WearAccount a = account(4, 50);

	(void)state;
	wear_refill(&a, &TEN_A_DAY, NOW - 365 * DAY);
	assert_true(near(a.starts, 4) && near(a.loads, 50));
	wear_refill(&a, &TEN_A_DAY, 0);
	assert_true(near(a.starts, 4) && near(a.loads, 50));
}

static void a_clock_that_was_ahead_for_a_while_does_not_stop_the_earning(void **state)
{
	WearAccount a = account(0, 0);

	(void)state;
	a.realtime_us = UINT64_MAX;
	wear_refill(&a, &TEN_A_DAY, NOW);
	assert_true(near(a.starts, 0));
	wear_refill(&a, &TEN_A_DAY, NOW + 12 * HOUR);
	assert_true(near(a.starts, 5));
}

static void terms_that_shrink_take_what_is_too_much(void **state)
{
	const WearTerms never = { .starts_a_day = 0, .loads_a_day = 100 };
	WearAccount a = account(10, 300);

	(void)state;
	wear_refill(&a, &never, NOW);
	assert_true(near(a.starts, 0) && near(a.loads, 100));
	assert_false(wear_affords(&a, CONDITION_STANDBY_Z));
}

static void less_than_one_a_day_still_adds_up_to_one(void **state)
{
	const WearTerms weekly = { .starts_a_day = 1 / 7.0, .loads_a_day = 300 };
	WearAccount a = account(0, 300);

	(void)state;
	wear_refill(&a, &weekly, NOW + 6 * DAY);
	assert_false(wear_affords(&a, CONDITION_STANDBY_Z));
	wear_refill(&a, &weekly, NOW + 8 * DAY);
	assert_true(wear_affords(&a, CONDITION_STANDBY_Z));
	assert_true(near(a.starts, 1));
}

static void standby_costs_a_start_and_a_load_and_parking_a_load(void **state)
{
	static const struct {
		Condition condition;
		uint64_t starts, loads;
	} costs[] = {
		{ CONDITION_ACTIVE, 0, 0 },    { CONDITION_IDLE_A, 0, 0 },
		{ CONDITION_IDLE_B, 0, 1 },    { CONDITION_IDLE_C, 0, 1 },
		{ CONDITION_STANDBY_Y, 1, 1 }, { CONDITION_STANDBY_Z, 1, 1 },
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(costs); i++) {
		const WearAccount before = account(3, 5);
		WearAccount a = before;

		wear_charge(&a, costs[i].condition);
		assert_int_equal(a.starts_used, costs[i].starts);
		assert_int_equal(a.loads_used, costs[i].loads);
		assert_true(near(a.starts, 3 - (double)costs[i].starts));
		assert_true(near(a.loads, 5 - (double)costs[i].loads));
		wear_refund(&a, costs[i].condition);
		assert_memory_equal(&a, &before, sizeof(a));
	}
}

static void what_is_paid_for_before_it_was_used_is_refunded_to_no_less_than_none(void **state)
{
	WearAccount a = account(0, 0);

	(void)state;
	wear_refund(&a, CONDITION_STANDBY_Z);
	assert_true(a.starts_used == 0 && a.loads_used == 0);
}

static void only_whole_cycles_can_be_spent(void **state)
{
	const WearAccount none = account(0.99, 0.99), load = account(0.99, 1),
			  start = account(1, 0.99), both = account(1, 1);

	(void)state;
	for (Condition c = CONDITION_ACTIVE; c <= CONDITION_STANDBY_Z; c++) {
		assert_true(wear_affords(&none, c) == (c <= CONDITION_IDLE_A));
		assert_true(wear_affords(&start, c) == (c <= CONDITION_IDLE_A));
		assert_true(wear_affords(&load, c) == (c <= CONDITION_IDLE_C));
		assert_true(wear_affords(&both, c));
	}
}

static void a_debt_is_paid_back_before_the_disk_sleeps_again(void **state)
{
	WearAccount a = account(1, 300);

	(void)state;
	for (int i = 0; i < 6; i++)
		wear_charge(&a, CONDITION_STANDBY_Z);
	assert_true(near(a.starts, -5));
	assert_int_equal(a.starts_used, 6);
	wear_refill(&a, &TEN_A_DAY, NOW + 14 * HOUR);
	assert_false(wear_affords(&a, CONDITION_STANDBY_Z));
	wear_refill(&a, &TEN_A_DAY, NOW + 15 * HOUR);
	assert_true(wear_affords(&a, CONDITION_STANDBY_Z));
}

/* Whenever it is asked, over its years no disk is stopped more than it is rated
 * for, but for the day's worth that it begins with. */
static void no_way_of_asking_spends_more_than_time_has_earned(void **state)
{
	const WearTerms t = wear_terms(0, 5, 1000);
	WearAccount a = account(t.starts_a_day, t.loads_a_day);
	unsigned seed = 1;
	uint64_t now = NOW;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		now += (uint64_t)rand_r(&seed) % (2 * HOUR);
		wear_refill(&a, &t, now);
		if (rand_r(&seed) % 3 == 0)
			continue;
		for (Condition c = CONDITION_STANDBY_Z; wear_affords(&a, c) && rand_r(&seed) % 4;)
			wear_charge(&a, c);
	}
	assert_true(a.starts_used > 0);
	assert_true((double)a.starts_used <=
		    t.starts_a_day * ((double)(now - NOW) / DAY + 1) + 1e-3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rating_is_spread_over_the_years_of_service),
		cmocka_unit_test(the_configuration_limits_the_stops_of_a_day_but_no_parking),
		cmocka_unit_test(time_earns_cycles_up_to_a_days_worth),
		cmocka_unit_test(many_small_refills_earn_what_one_does),
		cmocka_unit_test(a_clock_that_went_backwards_earns_nothing_and_loses_nothing),
		cmocka_unit_test(a_clock_that_was_ahead_for_a_while_does_not_stop_the_earning),
		cmocka_unit_test(terms_that_shrink_take_what_is_too_much),
		cmocka_unit_test(less_than_one_a_day_still_adds_up_to_one),
		cmocka_unit_test(standby_costs_a_start_and_a_load_and_parking_a_load),
		cmocka_unit_test(
			what_is_paid_for_before_it_was_used_is_refunded_to_no_less_than_none),
		cmocka_unit_test(only_whole_cycles_can_be_spent),
		cmocka_unit_test(a_debt_is_paid_back_before_the_disk_sleeps_again),
		cmocka_unit_test(no_way_of_asking_spends_more_than_time_has_earned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
