/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a drive gives and draws at any place of a grid, from what was measured at some. The highest
 * power state is modelled by itself. Of the others it is modelled what they take off it, and that
 * depends most on what the drive would draw without them: a power state takes nothing where the
 * drive would not draw more than it allows. So few points of each state tell much. Pure. */

#include "model/gauss.h"

#define SHED_COORDINATES 4 /* depth, chunk, share of reads, pattern */

typedef struct ShedPlace {
	double state;                /* 0: the highest; 1: the lowest */
	double at[SHED_COORDINATES]; /* each of 0 to 1 */
} ShedPlace;

typedef struct ShedPoint {
	ShedPlace place;
	double mb_s, watts; /* logarithms; watts above idle */
	double watts_noise; /* relative to that of mb_s */
} ShedPoint;

typedef struct ShedModel ShedModel;

ShedModel *shed_model_new(void);
ShedModel *shed_model_free(ShedModel *m); /* returns NULL */
DEFINE_CLEANUP(ShedModel *, shed_model_free);
/* learn: as of gauss_fit(). -ENODATA: too few points of the highest state. After an error nothing
 * can be guessed. */
int shed_model_fit(ShedModel *m, const ShedPoint *points, size_t n, bool learn);
/* Logarithms, as in the points. -ENODATA: too few points are of a lower state, and this place is.
 */
int shed_model_guess(const ShedModel *m, const ShedPlace *p, GaussGuess *ret_mb_s,
		     GaussGuess *ret_watts);
/* What all points but i tell of point i; NAN: nothing. */
void shed_model_leave_out(const ShedModel *m, const ShedPoint *points, size_t i,
			  GaussGuess *ret_mb_s, GaussGuess *ret_watts);
