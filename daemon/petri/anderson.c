/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "petri/anderson.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/cleanup.h"

#define RIDGE 1e-12 /* of the squares: changes that say the same are told apart no further */

void anderson_done(Anderson *a)
{
	free(a->room);
	*a = (Anderson){};
}

int anderson_new(size_t n, Anderson *ret)
{
	Anderson a = { .n = n, .room = calloc(n, (2 + 2 * ANDERSON_MEMORY) * sizeof(*a.room)) };

	if (!a.room)
		return -ENOMEM;
	a.step = a.room;
	a.point = a.room + n;
	for (unsigned i = 0; i < ANDERSON_MEMORY; i++) {
		a.steps[i] = a.room + (2 + 2 * i) * n;
		a.points[i] = a.room + (3 + 2 * i) * n;
	}
	*ret = a;
	return 0;
}

static double product(const double *a, const double *b, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

static unsigned kept(const Anderson *a)
{
	return MIN(a->seen - 1, (unsigned)ANDERSON_MEMORY);
}

static void remember(Anderson *a, const double *from, const double *x)
{
	/* the first has nothing to be compared to, and its slot is counted last */
	unsigned slot = (a->seen++ + ANDERSON_MEMORY - 1) % ANDERSON_MEMORY;
	double *steps = a->steps[slot], *points = a->points[slot];

	for (size_t i = 0; i < a->n; i++) {
		double step = x[i] - from[i];

		steps[i] = step - a->step[i];
		points[i] = x[i] - a->point[i];
		a->step[i] = step;
		a->point[i] = x[i];
	}
	for (unsigned k = 0; k < kept(a); k++)
		a->products[slot][k] = a->products[k][slot] = product(steps, a->steps[k], a->n);
}

/* Cholesky's decomposition of the products, each scaled to a square of 1, in the lower half of l.
 * False: two of them say the same. */
static bool decompose(const Anderson *a, unsigned n, double l[][ANDERSON_MEMORY])
{
	for (unsigned i = 0; i < n; i++)
		for (unsigned j = 0; j <= i; j++) {
			double sum =
				a->products[i][j] / sqrt(a->products[i][i] * a->products[j][j]);

			if (i == j)
				sum += RIDGE;
			for (unsigned k = 0; k < j; k++)
				sum -= l[i][k] * l[j][k];
			if (i == j && !(sum > 0))
				return false;
			l[i][j] = i == j ? sqrt(sum) : sum / l[j][j];
		}
	return true;
}

/* How much of each change makes the step the smallest. */
static bool find_parts(const Anderson *a, unsigned n, double *parts)
{
	double l[ANDERSON_MEMORY][ANDERSON_MEMORY];

	if (!decompose(a, n, l))
		return false;
	for (unsigned i = 0; i < n; i++) {
		parts[i] = product(a->steps[i], a->step, a->n) / sqrt(a->products[i][i]);
		for (unsigned k = 0; k < i; k++)
			parts[i] -= l[i][k] * parts[k];
		parts[i] /= l[i][i];
	}
	for (unsigned i = n; i-- > 0;) {
		for (unsigned k = i + 1; k < n; k++)
			parts[i] -= l[k][i] * parts[k];
		parts[i] /= l[i][i];
	}
	for (unsigned i = 0; i < n; i++)
		parts[i] /= sqrt(a->products[i][i]);
	return true;
}

void anderson_leap(Anderson *a, const double *from, double *x)
{
	double parts[ANDERSON_MEMORY];
	unsigned n;

	remember(a, from, x);
	n = kept(a);
	if (!find_parts(a, n, parts)) {
		a->seen = 0;
		return;
	}
	for (size_t i = 0; i < a->n; i++) {
		double leapt = x[i];

		for (unsigned k = 0; k < n; k++)
			leapt -= parts[k] * a->points[k][i];
		x[i] = MAX(leapt, x[i] / 8);
	}
}
