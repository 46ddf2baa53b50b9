/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a simulated device truly gives for what watts, over everything that can be set on it: the
 * physics is asked for each setting, and between two settings it is paced without a loss. */

#include "sim/sim-node.h"

typedef struct TruePoint {
	double mb_s, watts;
} TruePoint;

/* Lower convex hull of points, by rising MB/s; the first is at 0 MB/s. */
typedef struct TrueHull {
	TruePoint *points;
	size_t n;
} TrueHull;

typedef struct TrueOption {
	SimRegisters registers;
	SimForecast forecast;
} TrueOption;

typedef struct TrueCurve {
	SimDevice *device;
	TrueOption *options; /* the first is: nothing is set */
	size_t n_options;
	TruePoint *scratch;
	double least_w;    /* with no IO, in the deepest condition or state */
	uint64_t until_us; /* what follows holds until then: the family's error drifts */
	TrueHull awake;
	double full_mb_s;     /* with nothing set */
	double joules_per_mb; /* above idle, with nothing set */
} TrueCurve;

/* -ENOMEM. true_curve_done() is due in any case. */
int true_curve_init(TrueCurve *c, SimDevice *device);
void true_curve_done(TrueCurve *c);
void true_curve_advance(TrueCurve *c, uint64_t now_us);
/* MB/s asked for in the mean of that time, and the most of it, of what it gives with nothing set.
 */
double true_curve_demand(const TrueCurve *c, uint64_t from_us, uint64_t to_us, double *ret_most);
double true_hull_watts(const TrueHull *h, double mb_s);
