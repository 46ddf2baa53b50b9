/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The constants of a drive's law (model/law.h) that come nearest to what was measured, and how well
 * each is known. Pure. */

#include "base/cleanup.h"
#include "model/law.h"

#define LAW_STREAMS_MAX 32
#define LAW_STATES_MAX  32

typedef struct LawPoint {
	LawPlace place;
	double mb_s, watts; /* logarithms; watts above idle */
	double watts_noise; /* relative to that of mb_s */
} LawPoint;

typedef struct LawGuess {
	LawAnswer answer;
	double mb_s_sd, watts_sd; /* as far as the constants are not known */
	double mb_s_own,
		watts_own; /* share that a measurement at this place has in its own guess */
} LawGuess;

typedef struct LawFit LawFit;

/* NULL: out of memory, or more than LAW_STREAMS_MAX or LAW_STATES_MAX. */
LawFit *law_fit_new(size_t streams, size_t states);
LawFit *law_fit_free(LawFit *f); /* returns NULL */
DEFINE_CLEANUP(LawFit *, law_fit_free);
/* anew: not from where the last fit ended. -ENODATA: too few points. */
int law_fit(LawFit *f, const LawPoint *points, size_t n, bool anew);
/* Of a stream or a state of which nothing was measured, what the others have in common.
 * watts_noise: as of a point there. */
void law_fit_guess(const LawFit *f, const LawPlace *p, double watts_noise, LawGuess *ret);
