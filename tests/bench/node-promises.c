/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "node-promises.h"

#include <math.h>

static const struct {
	const char *name, *text;
	double bound;
	bool at_most;
	const char *unit;
	double shown; /* units in one */
} promises[_PROMISE_MAX] = {
	[BEST_SENSED] = { "of_best_sensed", "of the best >= 97 %, sensor", 0.97, false, "%", 100 },
	[BEST_BLIND] = { "of_best_blind", "of the best >= 92 %, no sensor", 0.92, false, "%", 100 },
	[FAIR_SENSED] = { "of_fair_sensed", "of the best fair >= 97 %, sensor", 0.97, false, "%",
			  100 },
	[FAIR_BLIND] = { "of_fair_blind", "of the best fair >= 92 %, no sensor", 0.92, false, "%",
			 100 },
	[FAIR_DRAWN] = { "of_fair_drawn", "of the same with as many W >= 97 %", 0.97, false, "%",
			 100 },
	[SPENT_SENSED] = { "unspent_sensed", "unspent where it binds <= 3 %, sensor", 0.03, true,
			   "%", 100 },
	[SPENT_BLIND] = { "unspent_blind", "the same <= 6 %, no sensor", 0.06, true, "%", 100 },
	[HEAT] = { "heat_s", "heat <= the 3 s tolerated", 3, true, "s", 1 },
	[HARD] = { "hard_above_s", "hard: 0 s above the budget", 0, true, "s", 1 },
	[FLOOR_KEPT] = { "least_share", "least share >= 25 %, where it can be", 0.25, false, "%",
			 100 },
	[EVEN] = { "jain_mixed", "Jain's index >= 0.95, mixed", 0.95, false, " ", 1 },
	[POOL_USABLE] = { "pool_usable", "pools: usable >= 95 % of planned", 0.95, false, "%",
			  100 },
	[NO_HARM] = { "no_harm", "kept >= 99 % with 5 % more than drawn", 0.99, false, "%", 100 },
};

static bool worse(Promise which, double a, double b)
{
	return promises[which].at_most ? a > b : a < b;
}

void promise_judge(Promises *p, Promise which, double value, const char *node, double percent)
{
	Judged *j = &p->judged[which];

	if (!isfinite(value))
		return;
	if (!j->n || worse(which, value, j->worst)) {
		j->worst = value;
		j->node = node;
		j->percent = percent;
	}
	j->n++;
	j->n_kept += !worse(which, value, promises[which].bound);
}

static void print_one(const Judged *j, Promise which)
{
	char where[32];

	snprintf(where, sizeof(where), isfinite(j->percent) ? "%s, %.0f %%" : "%s", j->node,
		 j->percent);
	printf("  %-37s %6.2f %s  %-13s %2u of %-2u  %s\n", promises[which].text,
	       j->worst * promises[which].shown, promises[which].unit, where, j->n_kept, j->n,
	       j->n_kept == j->n ? "met" : "missed");
}

void promises_print(const Promises *p)
{
	printf("\n  %-37s %8s  %-13s %s\n", "promise, tolerating 3 s", "worst", "where", "kept in");
	for (Promise i = 0; i < _PROMISE_MAX; i++)
		if (p->judged[i].n)
			print_one(&p->judged[i], i);
}

void promises_write(const Promises *p, FILE *json)
{
	for (Promise i = 0; i < _PROMISE_MAX; i++)
		if (p->judged[i].n)
			fprintf(json,
				"{\"bench\":\"promise\",\"promise\":\"%s\",\"bound\":%g,"
				"\"worst\":%.6g,\"node\":\"%s\",\"kept_in\":%u,\"of\":%u}\n",
				promises[i].name, promises[i].bound, p->judged[i].worst,
				p->judged[i].node, p->judged[i].n_kept, p->judged[i].n);
}
