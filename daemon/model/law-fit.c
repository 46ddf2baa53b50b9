/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Least squares by Levenberg and Marquardt's method (J. J. Moré, The Levenberg-Marquardt algorithm:
 * implementation and theory, 1978). What is likely before anything was measured counts as a
 * measurement of each constant, so that few points suffice; the constants of a stream are likely
 * near those that all streams have in common, which are fitted with them. */

#include "model/law-fit.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "model/triangle.h"

#define CONSTANTS_MAX ((LAW_STREAMS_MAX + 1) * LAW_OF_STREAM + LAW_STATES_MAX * OF_STATE + OF_DRIVE)
#define OF_STATE      (LAW_WITH_STATE - LAW_OF_STREAM)
#define OF_DRIVE      (LAW_CONSTANTS - LAW_WITH_STATE)
#define POINTS_LEAST  4
#define ERROR         0.02 /* of a measurement, before it is known; relative */
#define ROUNDS_MAX    60
#define TRIES_MAX     12
#define ENOUGH        1e-4 /* a smaller gain ends the search */
#define SLOPE_STEP    1e-5
/* Of the chi-squared of each measurement: so good a fit is luck, where points are few. */
#define LUCK 0.05
/* Standard deviations of what is likely; of logarithms */
#define STREAMS_APART 1.0
#define STREAMS_SD    2.0
#define CAP_SD        1.5
#define STATE_SD      0.3
#define HIGHEST_SD    1e-3 /* the highest state is what the others are compared with */
#define DRIVE_SD      1.0
#define SHARPNESS     log(5)
#define CAP_WITHIN    (-1.0)

struct LawFit {
	size_t streams, states, n;
	double at[CONSTANTS_MAX]; /* each stream's, the common ones, each state's, the drive's */
	double likely[CONSTANTS_MAX], spread[CONSTANTS_MAX];
	double gradient[CONSTANTS_MAX];
	double information[TRIANGLE_SIZE(CONSTANTS_MAX)];
	double factor[TRIANGLE_SIZE(CONSTANTS_MAX)];
	double error; /* of a measurement, relative */
	bool fitted;
};

static size_t first_of_stream(size_t stream)
{
	return stream * LAW_OF_STREAM;
}

static size_t first_common(const LawFit *f)
{
	return first_of_stream(f->streams);
}

static size_t first_of_state(const LawFit *f, size_t state)
{
	return first_of_stream(f->streams + 1) + state * OF_STATE;
}

static size_t first_of_drive(const LawFit *f)
{
	return first_of_state(f, f->states);
}

LawFit *law_fit_new(size_t streams, size_t states)
{
	LawFit *f;

	if (streams > LAW_STREAMS_MAX || states > LAW_STATES_MAX)
		return NULL;
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	f->streams = streams;
	f->states = states;
	f->n = first_of_drive(f) + OF_DRIVE;
	return f;
}

LawFit *law_fit_free(LawFit *f)
{
	free(f);
	return NULL;
}

/* Which of all constants are those of this place. */
static void find_constants(const LawFit *f, const LawPlace *p, size_t ret[LAW_CONSTANTS])
{
	for (size_t i = 0; i < LAW_CONSTANTS; i++)
		ret[i] = i < LAW_OF_STREAM    ? first_of_stream(p->stream) + i
			 : i < LAW_WITH_STATE ? first_of_state(f, p->state) + i - LAW_OF_STREAM
					      : first_of_drive(f) + i - LAW_WITH_STATE;
}

typedef struct Slopes {
	size_t of[LAW_CONSTANTS];
	double mb_s[LAW_CONSTANTS], watts[LAW_CONSTANTS];
} Slopes;

static LawAnswer answer(const LawFit *f, const double *at, const LawPlace *p, Slopes *ret)
{
	double c[LAW_CONSTANTS];
	LawAnswer here, beside;
	size_t of[LAW_CONSTANTS];

	find_constants(f, p, of);
	for (size_t i = 0; i < LAW_CONSTANTS; i++)
		c[i] = at[of[i]];
	here = law_answer(p, c);
	if (!ret)
		return here;
	memcpy(ret->of, of, sizeof(of));
	for (size_t i = 0; i < LAW_CONSTANTS; i++) {
		c[i] += SLOPE_STEP;
		beside = law_answer(p, c);
		c[i] -= SLOPE_STEP;
		ret->mb_s[i] = (beside.mb_s - here.mb_s) / SLOPE_STEP;
		ret->watts[i] = (beside.watts - here.watts) / SLOPE_STEP;
	}
	return here;
}

/* The squares of how far the points are off, in errors. */
static double misfit(const LawFit *f, const double *at, const LawPoint *points, size_t n)
{
	double all = 0;

	for (size_t i = 0; i < n; i++) {
		const LawPoint *p = &points[i];
		LawAnswer a = answer(f, at, &p->place, NULL);

		all += pow((a.mb_s - p->mb_s) / ERROR, 2) +
		       pow((a.watts - p->watts) / (ERROR * p->watts_noise), 2);
	}
	return all;
}

static double likely(const LawFit *f, const double *at, size_t i)
{
	return i < first_common(f) ? at[first_common(f) + i % LAW_OF_STREAM] : f->likely[i];
}

static double cost(const LawFit *f, const double *at, const LawPoint *points, size_t n)
{
	double all = misfit(f, at, points, n);

	for (size_t i = 0; i < f->n; i++)
		all += pow((at[i] - likely(f, at, i)) / f->spread[i], 2);
	return all;
}

/* One measurement: it is off by so much, and its error is sd. */
static void inform(LawFit *f, const size_t *of, const double *slope, size_t n, double off,
		   double sd)
{
	for (size_t i = 0; i < n; i++) {
		f->gradient[of[i]] += slope[i] * off / (sd * sd);
		for (size_t k = 0; k <= i; k++)
			triangle_row(f->information, MAX(of[i], of[k]))[MIN(of[i], of[k])] +=
				slope[i] * slope[k] / (sd * sd);
	}
}

static void inform_likely(LawFit *f, size_t i)
{
	const size_t of[] = { i, first_common(f) + i % LAW_OF_STREAM };

	inform(f, of, (const double[]){ 1, -1 }, i < first_common(f) ? 2 : 1,
	       likely(f, f->at, i) - f->at[i], f->spread[i]);
}

static void inform_all(LawFit *f, const LawPoint *points, size_t n)
{
	Slopes s;

	memset(f->information, 0, sizeof(f->information));
	memset(f->gradient, 0, sizeof(f->gradient));
	for (size_t i = 0; i < n; i++) {
		const LawPoint *p = &points[i];
		LawAnswer a = answer(f, f->at, &p->place, &s);

		inform(f, s.of, s.mb_s, LAW_CONSTANTS, p->mb_s - a.mb_s, ERROR);
		inform(f, s.of, s.watts, LAW_CONSTANTS, p->watts - a.watts, ERROR * p->watts_noise);
	}
	for (size_t i = 0; i < f->n; i++)
		inform_likely(f, i);
}

/* Where the constants would go, the more `damping` the less far. False: nowhere. */
static bool step(LawFit *f, double damping, double *ret)
{
	memcpy(f->factor, f->information, sizeof(f->factor));
	for (size_t i = 0; i < f->n; i++)
		triangle_row(f->factor, i)[i] *= 1 + damping;
	if (!triangle_factor(f->factor, f->n))
		return false;
	memcpy(ret, f->gradient, f->n * sizeof(*ret));
	triangle_solve_lower(f->factor, f->n, ret);
	triangle_solve_upper(f->factor, f->n, ret);
	for (size_t i = 0; i < f->n; i++)
		ret[i] += f->at[i];
	return true;
}

/* False: no step is better than to stay. */
static bool go_on(LawFit *f, const LawPoint *points, size_t n, double *damping, double *best)
{
	double to[CONSTANTS_MAX];

	for (int tries = 0; tries < TRIES_MAX; tries++) {
		double there = step(f, *damping, to) ? cost(f, to, points, n) : INFINITY;

		if (there < *best) {
			memcpy(f->at, to, f->n * sizeof(*to));
			*best = there;
			*damping = MAX(*damping / 5, 1e-9);
			return true;
		}
		*damping *= 4;
	}
	return false;
}

static void search(LawFit *f, const LawPoint *points, size_t n)
{
	double best = cost(f, f->at, points, n), was, damping = 0.01;

	for (int round = 0; round < ROUNDS_MAX; round++) {
		was = best;
		inform_all(f, points, n);
		if (!go_on(f, points, n, &damping, &best) || was - best < ENOUGH * was)
			return;
	}
}

/* The shortest times and least energies that were seen of it. False: there is no point of it. */
static bool begin_stream(LawFit *f, size_t stream, const LawPoint *points, size_t n)
{
	double *c = f->at + first_of_stream(stream);
	bool seen = false;

	for (size_t i = 0; i < LAW_OF_STREAM; i++)
		c[i] = INFINITY;
	for (size_t i = 0; i < n; i++) {
		const LawPlace *p = &points[i].place;
		double kib = log(p->kib), io_s = kib + log(1024 / 1e6) - points[i].mb_s;
		double io_j = points[i].watts + io_s;

		if (p->stream != stream)
			continue;
		seen = true;
		c[LAW_WAIT_S] = fmin(c[LAW_WAIT_S], io_s + log(p->depth));
		c[LAW_IO_S] = fmin(c[LAW_IO_S], io_s);
		c[LAW_KIB_S] = fmin(c[LAW_KIB_S], io_s - kib);
		c[LAW_IO_J] = fmin(c[LAW_IO_J], io_j);
		c[LAW_KIB_J] = fmin(c[LAW_KIB_J], io_j - kib);
	}
	c[LAW_ALONE] = 0;
	return seen;
}

static void begin_streams(LawFit *f, const LawPoint *points, size_t n)
{
	double *common = f->at + first_common(f);
	bool seen[LAW_STREAMS_MAX] = {};
	size_t n_seen = 0;

	memset(common, 0, LAW_OF_STREAM * sizeof(*common));
	for (size_t s = 0; s < f->streams; s++) {
		seen[s] = begin_stream(f, s, points, n);
		n_seen += seen[s];
		for (size_t i = 0; i < LAW_OF_STREAM && seen[s]; i++)
			common[i] += f->at[first_of_stream(s) + i];
	}
	for (size_t i = 0; i < LAW_OF_STREAM; i++)
		common[i] /= (double)n_seen;
	for (size_t s = 0; s < f->streams; s++)
		if (!seen[s])
			memcpy(f->at + first_of_stream(s), common, LAW_OF_STREAM * sizeof(*common));
	for (size_t i = 0; i < first_common(f) + LAW_OF_STREAM; i++) {
		f->likely[i] = common[i % LAW_OF_STREAM];
		f->spread[i] = i < first_common(f) ? STREAMS_APART : STREAMS_SD;
	}
}

/* A state may hold the drive at the most that was seen in it. */
static void begin_states(LawFit *f, const LawPoint *points, size_t n)
{
	double most[LAW_STATES_MAX], most_of_all = -INFINITY;

	for (size_t s = 0; s < f->states; s++)
		most[s] = -INFINITY;
	for (size_t i = 0; i < n; i++) {
		double *of = &most[points[i].place.state];

		*of = fmax(*of, points[i].watts);
		most_of_all = fmax(most_of_all, points[i].watts);
	}
	for (size_t s = 0; s < f->states; s++) {
		size_t first = first_of_state(f, s);

		for (size_t i = first; i < first + OF_STATE; i++) {
			f->at[i] = f->likely[i] = 0;
			f->spread[i] = s > 0 ? STATE_SD : HIGHEST_SD;
		}
		f->at[first] = isfinite(most[s]) ? most[s] : most_of_all;
		f->likely[first] = most_of_all;
		f->spread[first] = CAP_SD;
	}
}

static void begin(LawFit *f, const LawPoint *points, size_t n)
{
	size_t first = first_of_drive(f);

	begin_streams(f, points, n);
	begin_states(f, points, n);
	for (size_t i = first; i < f->n; i++) {
		f->at[i] = f->likely[i] = SHARPNESS;
		f->spread[i] = DRIVE_SD;
	}
	first += LAW_CAP_WITHIN - LAW_WITH_STATE;
	f->at[first] = f->likely[first] = CAP_WITHIN;
}

int law_fit(LawFit *f, const LawPoint *points, size_t n, bool anew)
{
	double off;

	if (n < POINTS_LEAST)
		return -ENODATA;
	if (anew || !f->fitted)
		begin(f, points, n);
	search(f, points, n);
	inform_all(f, points, n);
	memcpy(f->factor, f->information, sizeof(f->factor));
	f->fitted = triangle_factor(f->factor, f->n);
	off = misfit(f, f->at, points, n) / (double)(2 * n);
	f->error = ERROR * sqrt(MAX(off, LUCK));
	return f->fitted ? 0 : -EDOM;
}

/* The variance of what the constants tell along these slopes, for measurements of ERROR. */
static double unknown(const LawFit *f, const size_t *of, const double *slope)
{
	double v[CONSTANTS_MAX] = {};

	for (size_t i = 0; i < LAW_CONSTANTS; i++)
		v[of[i]] = slope[i];
	triangle_solve_lower(f->factor, f->n, v);
	return dot_product(v, v, f->n);
}

void law_fit_guess(const LawFit *f, const LawPlace *p, double watts_noise, LawGuess *ret)
{
	double mb_s, watts;
	Slopes s;

	ret->answer = answer(f, f->at, p, &s);
	mb_s = unknown(f, s.of, s.mb_s);
	watts = unknown(f, s.of, s.watts);
	ret->mb_s_sd = sqrt(mb_s) * f->error / ERROR;
	ret->watts_sd = sqrt(watts) * f->error / ERROR;
	ret->mb_s_own = mb_s / pow(ERROR, 2);
	ret->watts_own = watts / pow(ERROR * watts_noise, 2);
}
