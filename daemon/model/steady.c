/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/steady.h"

#include <math.h>

#include "base/cleanup.h"

#define RANGE_MAX   0.2 /* of the mean */
#define SLOPE_MAX   0.1 /* of the mean, over the window */
#define BATCHES_MIN 5
#define INDEPENDENT 0.2  /* a correlation below this is no longer told from none */
#define ALIKE_MAX   0.95 /* of a correlation: none but a constant has more */

static double mean_of(const double *v, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i];
	return n > 0 ? sum / (double)n : NAN;
}

static double range_of(const double *v, size_t n)
{
	double least = v[0], most = v[0];

	for (size_t i = 1; i < n; i++) {
		least = fmin(least, v[i]);
		most = fmax(most, v[i]);
	}
	return most - least;
}

/* Of the line of least squares, from one round to the next. */
static double slope_of(const double *v, size_t n)
{
	double middle = (double)(n - 1) / 2, xy = 0, xx = 0;

	for (size_t i = 0; i < n; i++) {
		xy += ((double)i - middle) * v[i];
		xx += ((double)i - middle) * ((double)i - middle);
	}
	return xy / xx;
}

bool steady_window(const double *rounds, size_t n)
{
	const double *v = rounds + n - STEADY_WINDOW;
	double mean;

	if (n < STEADY_WINDOW)
		return false;
	mean = fabs(mean_of(v, STEADY_WINDOW));
	return range_of(v, STEADY_WINDOW) <= RANGE_MAX * mean &&
	       fabs(slope_of(v, STEADY_WINDOW)) * (STEADY_WINDOW - 1) <= SLOPE_MAX * mean;
}

/* Student's t, 97.5 %. */
static double student(size_t freedom)
{
	static const double t[] = { 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365,
				    2.306,  2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
				    2.131,  2.120, 2.110, 2.101, 2.093, 2.086 };

	if (freedom == 0)
		return INFINITY;
	return freedom <= ELEMENTSOF(t) ? t[freedom - 1] : 1.96 + 2.6 / (double)freedom;
}

static double variance_of(const double *v, size_t n)
{
	double mean = mean_of(v, n), sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (v[i] - mean) * (v[i] - mean);
	return sum / (double)(n - 1);
}

/* How much each is like the one before it. An estimate from few is too low by about 1/n for each
 * correlation (Kendall 1954): that is added. */
static double likeness(const double *v, size_t n)
{
	double mean = mean_of(v, n), products = 0, squares = variance_of(v, n) * (double)(n - 1);
	double r;

	for (size_t i = 1; i < n; i++)
		products += (v[i] - mean) * (v[i - 1] - mean);
	r = squares > 0 ? products / squares : 0;
	return fmin(fmax(r + (1 + 3 * fmax(r, 0)) / (double)n, 0), ALIKE_MAX);
}

/* Pairs become one; an odd one at the beginning is left out, because the end has settled longest.
 */
static size_t join_pairs(double *v, size_t n)
{
	size_t odd = n % 2;

	for (size_t i = 0; i < n / 2; i++)
		v[i] = (v[odd + 2 * i] + v[odd + 2 * i + 1]) / 2;
	return n / 2;
}

SteadyMean steady_mean(const double *rounds, size_t n)
{
	SteadyMean m = { mean_of(rounds, n), NAN };
	double batches[STEADY_ROUNDS_MAX], alike;
	size_t k = MIN(n, (size_t)STEADY_ROUNDS_MAX);

	if (k < 3)
		return m;
	for (size_t i = 0; i < k; i++)
		batches[i] = rounds[i];
	while ((alike = likeness(batches, k)) > INDEPENDENT && k / 2 >= BATCHES_MIN)
		k = join_pairs(batches, k);
	/* what likeness the batches still have makes them so many fewer */
	m.half_width = student(k - 1) *
		       sqrt(variance_of(batches, k) / (double)k * (1 + alike) / (1 - alike));
	return m;
}

SteadyMean steady_repeats(const SteadyMean *runs, size_t n)
{
	double means[STEADY_ROUNDS_MAX] = {}, within = 0;
	SteadyMean m = { NAN, NAN };

	n = MIN(n, (size_t)STEADY_ROUNDS_MAX);
	for (size_t i = 0; i < n; i++) {
		means[i] = runs[i].mean;
		within += runs[i].half_width * runs[i].half_width;
	}
	m.mean = mean_of(means, n);
	m.half_width = sqrt(within) / (double)n;
	if (n > 2)
		m.half_width = fmax(m.half_width,
				    student(n - 1) * sqrt(variance_of(means, n) / (double)n));
	else if (n == 2) /* two tell their difference alone */
		m.half_width = hypot(m.half_width, (means[0] - means[1]) / 2);
	return m;
}

/* The difference of two runs has twice the variance of one. What the rounds explain of it is taken
 * off; half widths are about two standard deviations. */
double steady_spread(const SteadyMean *first, const SteadyMean *again, size_t n)
{
	double squares = 0;

	for (size_t i = 0; i < n; i++) {
		double mean = (first[i].mean + again[i].mean) / 2;
		double apart = (first[i].mean - again[i].mean) / mean;
		double rounds = hypot(first[i].half_width, again[i].half_width) / 2 / mean;

		squares += (apart * apart - rounds * rounds) / 2;
	}
	return squares > 0 ? student(n) * sqrt(squares / (double)n) : 0;
}

bool steady_add(Steady *s, double mb_s, double watts)
{
	if (s->n >= STEADY_ROUNDS_MAX)
		return s->reached;
	s->mb_s[s->n] = mb_s;
	s->watts[s->n] = watts;
	s->n++;
	if (!s->reached && steady_window(s->mb_s, s->n) && steady_window(s->watts, s->n)) {
		s->reached = true;
		s->from = s->n - STEADY_WINDOW;
	}
	return s->reached;
}

/* What never settled counts from the half on. */
static size_t first_of(const Steady *s)
{
	return s->reached ? s->from : s->n / 2;
}

SteadyMean steady_mb_s(const Steady *s)
{
	return steady_mean(s->mb_s + first_of(s), s->n - first_of(s));
}

SteadyMean steady_watts(const Steady *s)
{
	return steady_mean(s->watts + first_of(s), s->n - first_of(s));
}
