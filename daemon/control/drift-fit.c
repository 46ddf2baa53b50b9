/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/drift-fit.h"

#include <math.h>
#include <stdlib.h>

#define UNEXPLAINED 0.1 /* of the draw: the fit does not hold */
#define IDLE_OFF    0.1 /* then the sensor is wrong, or measures something else */
#define REFIT_US    (10 * USEC_PER_SEC)

bool drift_idle_agrees(const FitResult *r)
{
	return r->determined[0] && r->own[0] >= DRIFT_OWN_LEAST &&
	       fabs(r->value[0] - 1) < IDLE_OFF && DRIFT_DEVIATIONS * r->sd[0] < IDLE_OFF;
}

const char *drift_why_nothing(const FitResult *r)
{
	if (!r->determined[0] || r->own[0] < DRIFT_OWN_LEAST ||
	    !(DRIFT_DEVIATIONS * r->sd[0] < IDLE_OFF))
		return "the load has not varied enough";
	if (!(r->residual_sd < UNEXPLAINED))
		return "the sensor does not follow the load";
	if (!drift_idle_agrees(r))
		return "the sensor does not agree with the profiles' idle watts";
	return "";
}

/* Equations of 33 unknowns are not solved each second for what moves in minutes. */
static bool refit(DriftOf *of, uint64_t now_us)
{
	if (of->fit && now_us < of->fitted_us + REFIT_US)
		return of->fit_holds;
	of->fit = of->fit ?: malloc(sizeof(*of->fit));
	of->fitted_us = now_us;
	of->fit_holds = of->fit && !of->too_many &&
			of->sums.observations >= DRIFT_OBSERVATIONS_LEAST &&
			fit_solve(&of->sums, of->fit) == 0 && !*drift_why_nothing(of->fit);
	return of->fit_holds;
}

void drift_tell(DriftOf *of, uint64_t now_us)
{
	const double *x = of->last.x;
	double variance = 0;

	of->told_w = NAN;
	if (of->steady < DRIFT_STEADY_LOOKS || !refit(of, now_us) || of->fit->n != of->sums.n)
		return;
	of->told_w = 0;
	for (size_t i = 0; i < of->fit->n; i++) {
		of->told_w += of->fit->basic[i] * x[i];
		for (size_t j = 0; j < of->fit->n; j++)
			variance += of->fit->covariance[i][j] * x[i] * x[j];
	}
	of->told_sd_w = sqrt(variance);
}
