/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A Kalman filter: the state are the factors, each look measures one weighted sum of them. At first
 * the factors may be off by COMMON_OFF together and by FAMILY_OFF each, and each second they may
 * move by COMMON_DRIFT and FAMILY_DRIFT. That is a ridge towards the common factor. */

#include "control/correction.h"

#include <math.h>

#include "base/clock.h"
#include "base/text.h"

#define COMMON_OFF   0.3
#define FAMILY_OFF   0.15
#define COMMON_DRIFT 0.002
#define FAMILY_DRIFT 0.002
#define LEAST_FACTOR 0.4
#define MOST_FACTOR  2.5

#define FIRST_SPREAD 0.01
#define LEAST_SPREAD 0.002
#define SPREAD_BLEND 0.05
#define SURPRISE     3.0  /* standard deviations: what was believed is no longer so */
#define STEADY       0.03 /* from look to look */
#define LEAST_SHARE  0.01 /* of the draw: idle devices tell nothing of their energies */
#define FREED_MOST   0.01 /* of the draw, a second */
#define STALE_US     (2 * USEC_PER_SEC)

static void widen(Correction *c)
{
	for (size_t i = 0; i < c->n; i++)
		for (size_t j = 0; j < c->n; j++)
			c->covariance[i][j] =
				COMMON_OFF * COMMON_OFF + (i == j ? FAMILY_OFF * FAMILY_OFF : 0);
}

static size_t family_of(const Correction *c, const Profile *p)
{
	size_t i = 0;

	while (i < c->n && c->family[i] != p)
		i++;
	return MIN(i, (size_t)CORRECTION_FAMILIES - 1);
}

static void add_family(Correction *c, const Profile *p)
{
	c->family[c->n] = p;
	c->factor[c->n] = c->estimate[c->n] = 1;
	c->n++;
	widen(c);
}

void correction_add(Correction *c, CorrectionLook *look, const Profile *p, double fixed_w,
		    double dynamic_w)
{
	size_t i = family_of(c, p);

	if (i == c->n)
		add_family(c, p);
	look->fixed_w += fixed_w;
	look->dynamic_w[i] += dynamic_w;
}

double correction_of(const Correction *c, const Profile *p)
{
	size_t i = family_of(c, p);

	return i < c->n ? c->factor[i] : 1;
}

static double corrected_dynamic_w(const Correction *c, const CorrectionLook *look,
				  const double *factor)
{
	double w = 0;

	for (size_t i = 0; i < c->n; i++)
		w += factor[i] * look->dynamic_w[i];
	return w;
}

static double modelled_dynamic_w(const Correction *c, const CorrectionLook *look)
{
	double w = 0;

	for (size_t i = 0; i < c->n; i++)
		w += look->dynamic_w[i];
	return w;
}

/* What each factor has in common with the sum; returns the variance of the sum. */
static double weigh(const Correction *c, const CorrectionLook *look, double *ret_common)
{
	double variance = 0;

	for (size_t i = 0; i < c->n; i++) {
		ret_common[i] = 0;
		for (size_t j = 0; j < c->n; j++)
			ret_common[i] += c->covariance[i][j] * look->dynamic_w[j];
		variance += ret_common[i] * look->dynamic_w[i];
	}
	return variance;
}

/* Time makes it doubtful again, but no more so than at first. */
static void age(Correction *c)
{
	double most = COMMON_OFF * COMMON_OFF + FAMILY_OFF * FAMILY_OFF, worst = 0, part;

	for (size_t i = 0; i < c->n; i++)
		for (size_t j = 0; j < c->n; j++)
			c->covariance[i][j] += COMMON_DRIFT * COMMON_DRIFT +
					       (i == j ? FAMILY_DRIFT * FAMILY_DRIFT : 0);
	for (size_t i = 0; i < c->n; i++)
		worst = MAX(worst, c->covariance[i][i]);
	part = worst > most ? most / worst : 1;
	for (size_t i = 0; i < c->n; i++)
		for (size_t j = 0; j < c->n; j++)
			c->covariance[i][j] *= part;
}

static void update(Correction *c, const double *common, double variance, double error_w)
{
	for (size_t i = 0; i < c->n; i++) {
		double moved = c->estimate[i] + common[i] / variance * error_w;

		c->estimate[i] = CLAMP(moved, LEAST_FACTOR, MOST_FACTOR);
		for (size_t j = 0; j < c->n; j++)
			c->covariance[i][j] -= common[i] * common[j] / variance;
	}
}

static void estimate(Correction *c, const CorrectionLook *look)
{
	double common[CORRECTION_FAMILIES], noise_w = c->spread * look->measured_w;
	double error_w =
		       look->measured_w - look->fixed_w - corrected_dynamic_w(c, look, c->estimate),
	       variance;

	age(c);
	variance = weigh(c, look, common) + noise_w * noise_w;
	if (error_w * error_w > SURPRISE * SURPRISE * variance) {
		widen(c);
		variance = weigh(c, look, common) + noise_w * noise_w;
	} else {
		double off = error_w / look->measured_w;

		c->spread =
			sqrt(c->spread * c->spread * (1 - SPREAD_BLEND) + off * off * SPREAD_BLEND);
		c->spread = MAX(c->spread, LEAST_SPREAD);
	}
	update(c, common, variance, error_w);
	c->off_w = sqrt(MAX(weigh(c, look, common), 0.0));
}

static void believe(Correction *c, const CorrectionLook *look, double seconds)
{
	double freed_w =
		corrected_dynamic_w(c, look, c->factor) - corrected_dynamic_w(c, look, c->estimate);
	double most_w = FREED_MOST * look->measured_w * seconds;
	double part = freed_w > most_w ? most_w / freed_w : 1;

	for (size_t i = 0; i < c->n; i++)
		c->factor[i] += part * (c->estimate[i] - c->factor[i]);
}

static void forget(Correction *c)
{
	c->known = false;
	for (size_t i = 0; i < c->n; i++)
		c->factor[i] = c->estimate[i] = MAX(c->factor[i], 1.0);
	widen(c);
}

/* A sensor tells of a moment ago: while the draw moves it tells of another draw. */
static bool is_steady(Correction *c, double modelled_w, double measured_w)
{
	bool steady = fabs(modelled_w - c->modelled_w) < STEADY * modelled_w &&
		      fabs(measured_w - c->measured_w) < STEADY * measured_w;

	c->modelled_w = modelled_w;
	c->measured_w = measured_w;
	return steady;
}

void correction_take(Correction *c, const CorrectionLook *look)
{
	double dynamic_w = modelled_dynamic_w(c, look);
	uint64_t passed_us = look->at_us - c->looked_us;
	bool steady = is_steady(c, look->fixed_w + dynamic_w, look->measured_w);

	c->looked_us = look->at_us;
	if (!(look->measured_w > 0) || passed_us >= STALE_US) {
		forget(c);
		return;
	}
	if (look->settling || !steady || dynamic_w < LEAST_SHARE * look->measured_w)
		return;
	if (!c->known)
		c->spread = FIRST_SPREAD;
	c->known = true;
	estimate(c, look);
	believe(c, look, (double)passed_us / USEC_PER_SEC);
}
