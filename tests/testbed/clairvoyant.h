/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What nobody can do better on a simulated node: a planner that knows the hidden truth of every
 * device and what it is asked for in the second that begins, whose settings take effect at once,
 * and to whom waking a disk and holding its IO in a cache cost nothing. */

#include "true-curve.h"

/* Satisfaction, as the planner counts it, summed up over time: the joules above idle that what was
 * served would take with nothing set. A device that gets the share x of what it asks for adds R*x.
 */
typedef struct Satisfaction {
	double asked, served;
	double best;    /* no planner whose draw never exceeds the budget serves more */
	double granted; /* nor does one more than this that draws what was drawn above it, too */
	double fair; /* of the planner that shares as the policy `balanced` does; NAN: it cannot */
	/* of the same one with the watts that were drawn within the budget, while what is asked for
	 * nothing draws what it drew: it sleeps no sooner than it did */
	double fair_drawn;
	double unfair_s; /* seconds in which even that one cannot keep its floors */
} Satisfaction;

typedef struct Clairvoyant Clairvoyant;

/* Looks from now on. NULL: out of memory. */
Clairvoyant *clairvoyant_new(Inventory *node);
Clairvoyant *clairvoyant_free(Clairvoyant *c);
DEFINE_CLEANUP(Clairvoyant *, clairvoyant_free);

/* A budget, and the means of what the draw was above it and of what it left of it. */
typedef struct Drawn {
	double budget_w, above_w, left_w;
} Drawn;

/* Adds what there was since the last call, a second ago or less. */
void clairvoyant_look(Clairvoyant *c, Drawn drawn, Satisfaction *sum);

/* What a MB of the node's index-th device takes above idle with nothing set. */
double clairvoyant_joules_per_mb(const Clairvoyant *c, size_t index);
