/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "petri/phase.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/cleanup.h"

static void add_stages(PhaseType *p, unsigned n, double mean_s)
{
	for (; n > 0 && mean_s > 0; n--) {
		p->enter[p->n] = p->n == 0;
		if (p->n > 0)
			p->next[p->n - 1] = 1;
		p->rate[p->n++] = 1 / mean_s;
	}
}

/* Two times to choose from, the first with probability p. */
static void set_choice(PhaseType *t, double p, double first_s, double second_s)
{
	*t = (PhaseType){ 2, { 1 / first_s, 1 / second_s }, { p, 1 - p }, { 0 } };
}

/* mean = a + γ b and deviation² = a² + γ b², solved for the stages' means a and b; a is the lesser
 * root, which is zero where γ equal stages do. */
static void fit_stages(double mean_s, double deviation_s, PhaseType *ret)
{
	double ratio = mean_s / deviation_s;
	unsigned n = (unsigned)MIN((double)PHASES_IN_SERIES, floor(ratio * ratio * (1 + 1e-12)));
	double rest = n * ((n + 1) * deviation_s * deviation_s - mean_s * mean_s);
	double single = (mean_s - sqrt(MAX(rest, 0.0))) / (n + 1);

	*ret = (PhaseType){ 0 };
	if (rest < 0)
		single = mean_s / (n + 1);
	if (single < 1e-9 * mean_s)
		single = 0;
	add_stages(ret, 1, single);
	add_stages(ret, n, (mean_s - single) / n);
}

int phase_fit(double mean_s, double deviation_s, PhaseType *ret)
{
	double square = deviation_s / mean_s * deviation_s / mean_s, p;

	if (!(mean_s > 0 && deviation_s >= 0 && isfinite(mean_s) && isfinite(square)))
		return -EINVAL;
	if (square <= 1) {
		fit_stages(mean_s, deviation_s, ret);
		return 0;
	}
	p = (1 + sqrt((square - 1) / (square + 1))) / 2;
	set_choice(ret, p, mean_s / (2 * p), mean_s / (2 * (1 - p)));
	return 0;
}

/* The two means are the roots of x² - a x + b, where every moment over its factorial is a times the
 * one before less b times the one before that. */
int phase_fit_moments(const double moments[3], PhaseType *ret)
{
	double m1 = moments[0], m2 = moments[1] / 2, m3 = moments[2] / 6;
	double wide = m2 - m1 * m1, tail = m1 * m3 - m2 * m2, a, b, root, longer_s, shorter_s;

	if (!(m1 > 0 && wide > 0 && tail > 0 && isfinite(m3)))
		return -EDOM;
	a = (m3 - m1 * m2) / wide;
	b = tail / wide;
	root = sqrt(MAX(a * a - 4 * b, 0.0));
	longer_s = (a + root) / 2;
	shorter_s = b / longer_s;
	set_choice(ret, (m1 - shorter_s) / (longer_s - shorter_s), longer_s, shorter_s);
	return 0;
}

void phase_moments(const PhaseType *p, double ret_moments[3])
{
	double rest[3] = { 0 }, sum[3] = { 0 };

	for (unsigned i = p->n; i-- > 0;) {
		double s = 1 / p->rate[i], go = p->next[i];

		/* from here: this phase, and what is left after it if it goes on */
		rest[2] = 6 * s * s * s + go * (6 * s * s * rest[0] + 3 * s * rest[1] + rest[2]);
		rest[1] = 2 * s * s + go * (2 * s * rest[0] + rest[1]);
		rest[0] = s + go * rest[0];
		for (unsigned k = 0; k < 3; k++)
			sum[k] += p->enter[i] * rest[k];
	}
	memcpy(ret_moments, sum, sizeof(sum));
}
