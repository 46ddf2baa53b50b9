/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What plan and margins are held to, and whether they keep it. */

#include <stdbool.h>
#include <stdio.h>

typedef enum Promise {
	BEST_SENSED, /* satisfaction, of the clairvoyant's */
	BEST_BLIND,
	FAIR_SENSED, /* of that of the clairvoyant who shares as the policy does */
	FAIR_BLIND,
	FAIR_DRAWN,   /* of the same with the watts that were drawn: what margins leave is SPENT_...
		       */
	SPENT_SENSED, /* share of the budget that is left where it binds */
	SPENT_BLIND,
	HEAT,        /* the account of the overload, s */
	HARD,        /* s above a budget of which nothing is tolerated */
	FLOOR_KEPT,  /* the least share, where floors are possible */
	EVEN,        /* Jain's index */
	POOL_USABLE, /* of what was planned for a pool */
	NO_HARM,     /* kept of the throughput with 5 % more watts than are drawn */
	_PROMISE_MAX,
} Promise;

typedef struct Judged {
	unsigned n, n_kept;
	double worst, percent;
	const char *node; /* where it was worst */
} Judged;

typedef struct Promises {
	Judged judged[_PROMISE_MAX];
} Promises;

/* NAN: it could not be measured, and nothing is judged. node is kept; percent NAN: not of a limit.
 */
void promise_judge(Promises *p, Promise which, double value, const char *node, double percent);
void promises_print(const Promises *p);
void promises_write(const Promises *p, FILE *json);
