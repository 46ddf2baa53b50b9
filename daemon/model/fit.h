/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Weighted least squares with unknowns that cannot be negative: what idling, an IO and a page cost,
 * from what was moved and what was measured. Only sums are kept, so that the same code serves a
 * batch of points and a daemon that adds an observation a second and forgets old ones. Pure. */

#include <stdbool.h>
#include <stddef.h>

#define FIT_UNKNOWNS_MAX 33 /* idle, and 8 energies of each of 4 families */

/* The normal equations. Zeroed but for n: nothing has been observed. */
typedef struct FitSums {
	size_t n;            /* unknowns */
	double observations; /* forgotten ones count in part */
	double xx[FIT_UNKNOWNS_MAX][FIT_UNKNOWNS_MAX], xy[FIT_UNKNOWNS_MAX], yy;
} FitSums;

/* y = sum of x[i] times the unknowns, and noise; weight: 1 over its variance, or in proportion. */
void fit_add(FitSums *s, const double *x, double y, double weight);
void fit_merge(FitSums *s, const FitSums *other); /* of as many unknowns */
void fit_forget(FitSums *s, double factor);       /* all that was observed counts so much less */
/* The same observations, of fewer unknowns: the sums of x[i] * part[i] over those i whose into[i]
 * is the same are the new regressors. */
void fit_join(const FitSums *s, const size_t *into, const double *part, size_t n, FitSums *ret);

typedef struct FitResult {
	size_t n;
	bool determined[FIT_UNKNOWNS_MAX]; /* false: the observations do not tell it from others */
	double value[FIT_UNKNOWNS_MAX];    /* NAN where it is not determined */
	double basic[FIT_UNKNOWNS_MAX];    /* the same, and of what is not determined values that
					    * explain the observations together */
	double sd[FIT_UNKNOWNS_MAX];       /* standard deviation; NAN: not known */
	double own[FIT_UNKNOWNS_MAX];      /* of its regressor, squared, what no others explain: 0
					    * to 1 */
	double covariance[FIT_UNKNOWNS_MAX][FIT_UNKNOWNS_MAX]; /* of those above 0, else 0 */
	double residual_sd; /* of an observation of weight 1; NAN: too few observations */
	double condition;   /* of the scaled equations, by their pivots: it is at least that */
} FitResult;

/* -ENODATA: fewer observations than unknowns that they tell apart. */
int fit_solve(const FitSums *s, FitResult *ret);
