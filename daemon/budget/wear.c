/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "budget/wear.h"

#include "base/clock.h"

#define US_A_DAY    (86400.0 * USEC_PER_SEC)
#define DAYS_A_YEAR 365.25

WearTerms wear_terms(double rated_starts, double service_years, double most_a_day)
{
	double days = service_years * DAYS_A_YEAR;
	double rated = rated_starts > 0 ? rated_starts : WEAR_STARTS_RATED;

	return (WearTerms){ .starts_a_day = MIN(rated / days, most_a_day),
			    .loads_a_day = WEAR_LOADS_RATED / days };
}

/* Where a day earns less than a cycle, whole ones must still be saved up. */
static double bucket_size(double a_day)
{
	return a_day > 0 ? MAX(a_day, 1.0) : 0;
}

static double earn(double left, double a_day, double days)
{
	return MIN(left + a_day * days, bucket_size(a_day));
}

void wear_refill(WearAccount *a, const WearTerms *t, uint64_t realtime_us)
{
	double days = realtime_us > a->realtime_us
			      ? (double)(realtime_us - a->realtime_us) / US_A_DAY
			      : 0;

	a->starts = earn(a->starts, t->starts_a_day, days);
	a->loads = earn(a->loads, t->loads_a_day, days);
	/* it is taken also when it went backwards: else a clock that was once far ahead would keep
	 * the account from earning until it is there again */
	a->realtime_us = realtime_us;
}

/* From idle_b on the heads are parked. */
static bool is_load(Condition c)
{
	return c >= CONDITION_IDLE_B;
}

/* The spindle slows down (standby_y) or stops. */
static bool is_start(Condition c)
{
	return c >= CONDITION_STANDBY_Y;
}

bool wear_affords(const WearAccount *a, Condition c)
{
	return (!is_load(c) || a->loads >= 1) && (!is_start(c) || a->starts >= 1);
}

void wear_charge(WearAccount *a, Condition c)
{
	if (is_load(c)) {
		a->loads--;
		a->loads_used++;
	}
	if (is_start(c)) {
		a->starts--;
		a->starts_used++;
	}
}

void wear_refund(WearAccount *a, Condition c)
{
	if (is_load(c)) {
		a->loads++;
		a->loads_used -= a->loads_used > 0;
	}
	if (is_start(c)) {
		a->starts++;
		a->starts_used -= a->starts_used > 0;
	}
}
