/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The wear account of a disk: a token bucket of start/stop cycles (standby) and one of load/unload
 * cycles (idle_b and deeper park the heads). Pure. Sources: drives are rated for 50 000 start/stop
 * and 600 000 load/unload cycles; over five years 27 and 329 a day. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "model/setting.h"

#define WEAR_STARTS_RATED  50000.0
#define WEAR_LOADS_RATED   600000.0
#define WEAR_SERVICE_YEARS 5.0
#define WEAR_STARTS_A_DAY  10.0 /* at most, whatever the rating: safe default */

/* The cycles that a day earns. A bucket holds a day's worth, but at least one cycle. */
typedef struct WearTerms {
	double starts_a_day, loads_a_day;
} WearTerms;

/* rated_starts 0: WEAR_STARTS_RATED. service_years: above 0. most_a_day: the configuration's
 * cycles_a_day; 0: none at all. */
WearTerms wear_terms(double rated_starts, double service_years, double most_a_day);

typedef struct WearAccount {
	char *id;                         /* Device.id */
	double starts, loads;             /* cycles left now */
	uint64_t starts_used, loads_used; /* ever, on this account */
	uint64_t realtime_us; /* when it was last refilled, by the wall clock, because it must
				 outlive reboots */
} WearAccount;

/* Adds what the time since has earned. A clock that went backwards earns nothing and loses nothing;
 * more than a day's worth is never held. */
void wear_refill(WearAccount *a, const WearTerms *t, uint64_t realtime_us);
/* Can a cycle through this condition be paid? ACTIVE and idle_a cost nothing, idle_b and idle_c a
 * load, standby a load and a start. */
bool wear_affords(const WearAccount *a, Condition c);
/* Takes the cycle off the account, below zero if need be: a disk that somebody else stops wears all
 * the same. */
void wear_charge(WearAccount *a, Condition c);
/* Puts a cycle back that was not made after all. */
void wear_refund(WearAccount *a, Condition c);
