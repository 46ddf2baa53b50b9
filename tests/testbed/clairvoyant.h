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
	double unfair_s; /* seconds in which even that one cannot keep its floors */
} Satisfaction;

typedef struct Clairvoyant Clairvoyant;

/* Looks from now on. NULL: out of memory. */
Clairvoyant *clairvoyant_new(Inventory *node);
Clairvoyant *clairvoyant_free(Clairvoyant *c);
DEFINE_CLEANUP(Clairvoyant *, clairvoyant_free);

/* Adds what there was since the last call, a second ago or less, with above_w the mean of what the
 * draw was above the budget. */
void clairvoyant_look(Clairvoyant *c, double budget_w, double above_w, Satisfaction *sum);

/* What a MB of the node's index-th device takes above idle with nothing set. */
double clairvoyant_joules_per_mb(const Clairvoyant *c, size_t index);
