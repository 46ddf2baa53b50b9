/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a drive gives and draws at any place of a grid, from what was measured at some: a law of
 * what drives are like (model/law.h), fitted, and a Gaussian process for what this drive does that
 * the law does not say. Pure. */

#include "model/gauss.h"
#include "model/law-fit.h"

#define DRIVE_COORDINATES 5 /* depth, chunk, share of reads, pattern, power state */

typedef struct DrivePlace {
	LawPlace law;
	double at[DRIVE_COORDINATES]; /* each of 0 to 1 */
} DrivePlace;

typedef struct DrivePoint {
	DrivePlace place;
	double mb_s, watts; /* logarithms; watts above idle */
	double watts_noise; /* relative to that of mb_s */
} DrivePoint;

typedef struct DriveModel DriveModel;

/* NULL: as of law_fit_new(). */
DriveModel *drive_model_new(size_t streams, size_t states);
DriveModel *drive_model_free(DriveModel *m); /* returns NULL */
DEFINE_CLEANUP(DriveModel *, drive_model_free);
/* At most GAUSS_POINTS_MAX. learn: as of gauss_fit(). -ENODATA: too few points. After an error
 * nothing can be guessed. */
int drive_model_fit(DriveModel *m, const DrivePoint *points, size_t n, bool learn);
/* Logarithms, as in the points. */
void drive_model_guess(const DriveModel *m, const DrivePlace *p, GaussGuess *ret_mb_s,
		       GaussGuess *ret_watts);
/* What all points but i tell of point i. */
void drive_model_leave_out(const DriveModel *m, const DrivePoint *points, size_t i,
			   double *ret_mb_s, double *ret_watts);
