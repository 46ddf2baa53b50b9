/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Gaussian-process regression on a handful of coordinates: from what was measured at some places it
 * tells what would be measured at others, and how sure that is. A linear trend, and about it
 * Matern's covariance of order 5/2 with a length of its own for each coordinate. Pure. */

#include "base/cleanup.h"

#define GAUSS_COORDINATES_MAX 6
#define GAUSS_POINTS_MAX      256 /* the work grows with the third power */

typedef struct Gauss Gauss;

typedef struct GaussGuess {
	double mean;
	double sd; /* of the mean; the noise of one more measurement is not in it */
} GaussGuess;

/* The coordinates should be of about 0 to 1. NULL: out of memory. */
Gauss *gauss_new(size_t coordinates);
Gauss *gauss_free(Gauss *g); /* returns NULL */
DEFINE_CLEANUP(Gauss *, gauss_free);
/* noise: of this measurement, in units that are the same for all; how large one is is learned.
 * -ENOSPC: there are GAUSS_POINTS_MAX already. What was fitted is of no use until gauss_fit(). */
int gauss_add(Gauss *g, const double *x, double y, double noise);
void gauss_clear(Gauss *g); /* no points; what was learned stays */
size_t gauss_n(const Gauss *g);
/* Fits to all points. learn: chooses lengths, height and noise anew, by the most likely; else those
 * chosen last are kept. -ENODATA: fewer than two points. */
int gauss_fit(Gauss *g, bool learn);
void gauss_predict(const Gauss *g, const double *x, GaussGuess *ret);
/* What all other points tell of point i (Rasmussen and Williams, "Gaussian Processes for Machine
 * Learning", eq. 5.10-5.12); sd is with the noise. */
void gauss_leave_out(const Gauss *g, size_t i, GaussGuess *ret);
double gauss_noise(const Gauss *g); /* standard deviation of a measurement of noise 1 */
