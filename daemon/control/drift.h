/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What idling, an IO and a page truly cost, behind each power sensor: the sums of a fit, to which
 * each look adds what was moved and what was measured, and of which the old is forgotten. It has
 * seen all kinds of IO for half an hour, where the correction by a sensor (correct.c) has one
 * factor for all of a profile's, of some seconds. So what it says of the present draw is how far
 * that factor is off, and with it the margin becomes narrower or wider. */

#include "control/gauges.h"
#include "model/fit.h"

/* Then a moment counts 1/e. With a sensor that is 1 % noisy over fifty drives it takes so long
 * until their loads have moved apart often enough to tell eight kinds of IO to 5 %; what drives
 * draw ages far more slowly. */
#define DRIFT_FORGOTTEN_S 1800.0

#define DRIFT_STEADY_LOOKS 4 /* before the moment that counts */

#define DRIFT_FAMILIES 4
#define DRIFT_ENERGIES (2 * _DIRECTION_MAX * _PATTERN_MAX) /* of a family */
_Static_assert(1 + DRIFT_FAMILIES * DRIFT_ENERGIES <= FIT_UNKNOWNS_MAX, "a sensor's unknowns");

/* A moment behind one sensor. */
typedef struct DriftMoment {
	double x[FIT_UNKNOWNS_MAX]; /* watts without IO, and what was moved a second */
	double modelled_w;          /* by the profiles */
	double measured_w;          /* NAN: it tells nothing of the energies */
	uint64_t fingerprint;       /* of the devices and their settings */
} DriftMoment;

/* Behind one sensor. The unknowns: the watts without IO over what the profiles say, then the
 * energies of each family. */
typedef struct DriftOf {
	FitSums sums;
	const Profile *family[DRIFT_FAMILIES];
	size_t n;
	bool too_many;      /* it measures devices of more profiles than can be told apart */
	uint64_t taken_us;  /* the reading that was looked at last */
	uint64_t looked_us; /* when that was */
	DriftMoment last;   /* counts once the look after it shows nothing else */
	unsigned steady;    /* looks in a row up to it that showed the same draw */
	FitResult *fit;     /* drift-fit.c: of some seconds ago; NULL: none yet */
	bool fit_holds;
	uint64_t fitted_us;
	double told_w, told_sd_w; /* the draw at the last look by it; NAN: it does not tell */
} DriftOf;

/* Where in the unknowns; page: of a page, else of an IO. */
static inline size_t drift_unknown(size_t family, Direction d, Pattern t, bool page)
{
	return 1 + DRIFT_ENERGIES * family + 2 * (_PATTERN_MAX * (size_t)d + (size_t)t) + page;
}

void drift_close(Gauges *g);
/* A look, and what the margins become by it. settling: what is in force is being changed. */
void drift_look(Gauges *g, bool settling, const Tools *t);
