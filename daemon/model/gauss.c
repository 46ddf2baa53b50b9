/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/gauss.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "model/triangle.h"

/* What is chosen by likelihood; all as natural logarithms, of values of mean 0 and spread 1. */
enum { HEIGHT = GAUSS_COORDINATES_MAX, NOISE, CHOICES };

#define TREND  2.0 /* standard deviation of each coefficient of the trend, and of the constant */
#define STEP   0.8 /* first step of the search */
#define FINER  4   /* so many times, by half each */
#define TURNS  4
#define JITTER 1e-10 /* keeps places that are all but the same apart */

struct Gauss {
	size_t coordinates, n;
	double x[GAUSS_POINTS_MAX][GAUSS_COORDINATES_MAX];
	double y[GAUSS_POINTS_MAX], noise[GAUSS_POINTS_MAX];
	double mean, spread; /* of y */
	double choice[CHOICES];
	double *factor; /* model/triangle.h */
	double weight[GAUSS_POINTS_MAX];
};

/* Where each choice is likely before anything was measured: its centre and its spread. Lengths of
 * about the whole range; a noise of about 1 % of what is spread over a decade or two. */
static void prior_of(size_t choice, double *ret_centre, double *ret_spread)
{
	*ret_centre = choice == NOISE ? log(0.01) : 0;
	*ret_spread = 1.5;
}

Gauss *gauss_new(size_t coordinates)
{
	Gauss *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->coordinates = MIN(coordinates, (size_t)GAUSS_COORDINATES_MAX);
	g->factor = calloc(TRIANGLE_SIZE(GAUSS_POINTS_MAX), sizeof(double));
	for (size_t c = 0; c < CHOICES; c++) {
		double spread;

		prior_of(c, &g->choice[c], &spread);
	}
	return g->factor ? g : gauss_free(g);
}

Gauss *gauss_free(Gauss *g)
{
	if (g)
		free(g->factor);
	free(g);
	return NULL;
}

int gauss_add(Gauss *g, const double *x, double y, double noise)
{
	if (g->n >= GAUSS_POINTS_MAX)
		return -ENOSPC;
	memcpy(g->x[g->n], x, g->coordinates * sizeof(*x));
	g->y[g->n] = y;
	g->noise[g->n] = noise;
	g->n++;
	return 0;
}

void gauss_clear(Gauss *g)
{
	g->n = 0;
}

size_t gauss_n(const Gauss *g)
{
	return g->n;
}

/* How far apart, in lengths; squared. */
static double distance(const Gauss *g, const double *inverse, const double *a, const double *b)
{
	double sum = 0;

	for (size_t i = 0; i < g->coordinates; i++) {
		double d = (a[i] - b[i]) * inverse[i];

		sum += d * d;
	}
	return sum;
}

static double trend(const Gauss *g, const double *a, const double *b)
{
	double sum = 1;

	for (size_t i = 0; i < g->coordinates; i++)
		sum += a[i] * b[i];
	return TREND * TREND * sum;
}

typedef struct Kernel {
	double inverse[GAUSS_COORDINATES_MAX]; /* of the lengths */
	double height, noise;                  /* variances */
} Kernel;

static Kernel kernel_of(const Gauss *g, const double *choice)
{
	Kernel k = { .height = exp(2 * choice[HEIGHT]), .noise = exp(2 * choice[NOISE]) };

	for (size_t i = 0; i < g->coordinates; i++)
		k.inverse[i] = exp(-choice[i]);
	return k;
}

static double covariance(const Gauss *g, const Kernel *k, const double *a, const double *b)
{
	double r2 = 5 * distance(g, k->inverse, a, b), r = sqrt(r2);

	return k->height * (1 + r + r2 / 3) * exp(-r) + trend(g, a, b);
}

static void fill(const Gauss *g, const Kernel *k, double *triangle)
{
	for (size_t i = 0; i < g->n; i++) {
		double *to = triangle_row(triangle, i);

		for (size_t j = 0; j <= i; j++)
			to[j] = covariance(g, k, g->x[i], g->x[j]);
		to[i] += k->noise * g->noise[i] * g->noise[i] + JITTER;
	}
}

static void centre(Gauss *g)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < g->n; i++)
		sum += g->y[i];
	g->mean = sum / (double)g->n;
	for (size_t i = 0; i < g->n; i++)
		squares += pow(g->y[i] - g->mean, 2);
	g->spread = sqrt(squares / (double)g->n);
	if (!(g->spread > 0))
		g->spread = 1;
}

/* Factor and weights of these choices. Returns the logarithm of their likelihood but for a
 * constant, -INFINITY where they cannot be. */
static double try(Gauss *g, const double *choice)
{
	Kernel k = kernel_of(g, choice);
	double sum = 0, centre_of, spread;

	fill(g, &k, g->factor);
	if (!triangle_factor(g->factor, g->n))
		return -INFINITY;
	for (size_t i = 0; i < g->n; i++)
		g->weight[i] = (g->y[i] - g->mean) / g->spread;
	triangle_solve_lower(g->factor, g->n, g->weight);
	sum -= dot_product(g->weight, g->weight, g->n) / 2;
	for (size_t i = 0; i < g->n; i++)
		sum -= log(triangle_row_of(g->factor, i)[i]);
	triangle_solve_upper(g->factor, g->n, g->weight);
	for (size_t c = 0; c < CHOICES; c++) {
		prior_of(c, &centre_of, &spread);
		sum -= pow((choice[c] - centre_of) / spread, 2) / 2;
	}
	return sum;
}

/* One coordinate by steps of this size, for as long as it helps. */
static bool walk(Gauss *g, size_t c, double step, double *best)
{
	bool better = false;

	for (;;) {
		double likelihood;

		g->choice[c] += step;
		likelihood = try(g, g->choice);
		if (!(likelihood > *best + 1e-3)) {
			g->choice[c] -= step;
			return better;
		}
		*best = likelihood;
		better = true;
	}
}

static bool walk_all(Gauss *g, double step, double *best)
{
	bool better = false;

	for (size_t c = 0; c < CHOICES; c++)
		if (c >= HEIGHT || c < g->coordinates) {
			better |= walk(g, c, step, best);
			better |= walk(g, c, -step, best);
		}
	return better;
}

/* The likelihood of a handful of choices is smooth: going along each in turn finds its top. */
static void learn_choices(Gauss *g)
{
	double best = try(g, g->choice), step = STEP;

	for (int finer = 0; finer < FINER; finer++) {
		for (int turn = 0; turn < TURNS && walk_all(g, step, &best); turn++)
			;
		step /= 2;
	}
}

int gauss_fit(Gauss *g, bool learn)
{
	if (g->n < 2)
		return -ENODATA;
	centre(g);
	if (learn)
		learn_choices(g);
	return isfinite(try(g, g->choice)) ? 0 : -EDOM;
}

void gauss_predict(const Gauss *g, const double *x, GaussGuess *ret)
{
	Kernel k = kernel_of(g, g->choice);
	double v[GAUSS_POINTS_MAX], variance = covariance(g, &k, x, x);

	for (size_t i = 0; i < g->n; i++)
		v[i] = covariance(g, &k, x, g->x[i]);
	ret->mean = g->mean + g->spread * dot_product(v, g->weight, g->n);
	triangle_solve_lower(g->factor, g->n, v);
	variance -= dot_product(v, v, g->n);
	ret->sd = g->spread * sqrt(MAX(variance, 0.0));
}

void gauss_leave_out(const Gauss *g, size_t i, GaussGuess *ret)
{
	double v[GAUSS_POINTS_MAX] = {}, precision;

	v[i] = 1;
	triangle_solve_lower(g->factor, g->n, v);
	precision = dot_product(v, v, g->n);
	ret->mean = g->y[i] - g->spread * g->weight[i] / precision;
	ret->sd = g->spread / sqrt(precision);
}

double gauss_noise(const Gauss *g)
{
	return g->spread * exp(g->choice[NOISE]);
}
