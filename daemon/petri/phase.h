/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Phase-type times: a walk through exponential phases, so that a Markov chain can hold them. It
 * begins in one of the phases and goes from each to the next or to the end. */

#define PHASES_MAX       11
#define PHASES_IN_SERIES 10 /* γ of the study at most, after one of another length */

typedef struct PhaseType {
	unsigned n;
	double rate[PHASES_MAX];  /* a second */
	double enter[PHASES_MAX]; /* probability of beginning there */
	double next[PHASES_MAX];  /* probability of going on instead of ending */
} PhaseType;

/* The time of this mean and standard deviation, in seconds. Up to a deviation of the mean, as
 * Borba, Tavares and Maciel do it ("Analytical models for performance and energy consumption
 * evaluation of storage devices"): one phase and γ equal ones after it, γ = (mean/deviation)², 10
 * at most; γ + 1 equal ones where the deviation is too small for that, so that theirs is then
 * larger than asked. Above: one of two exponential times of the same part of the mean each
 * (hyperexponential, balanced means). -EINVAL: not a mean above zero with a deviation of zero or
 * more. */
int phase_fit(double mean_s, double deviation_s, PhaseType *ret);

/* The hyperexponential time of these three moments E[T], E[T²] and E[T³], which decide how long its
 * tail is. -EDOM where none has them: where the deviation does not exceed the mean, or the third
 * moment is not above 1.5 E[T²]² / E[T]. */
int phase_fit_moments(const double moments[3], PhaseType *ret);

/* E[T], E[T²] and E[T³]. */
void phase_moments(const PhaseType *p, double ret_moments[3]);
