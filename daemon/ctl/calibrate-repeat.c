/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Some points are measured again at the end: the first, one of the middle and the last. How far two
 * runs of the same point differ by more than their rounds do is in the error of all. */

#include <math.h>

#include "ctl/calibrate.h"
#include "model/steady.h"

#define WORTH_RUNS 12 /* of fewer, three are too many */

static bool same_place(const Point *a, const Point *b)
{
	return a->power_state == b->power_state && a->depth == b->depth &&
	       a->chunk_kib == b->chunk_kib && a->read_share == b->read_share &&
	       a->pattern == b->pattern;
}

size_t calibrate_repeats_of(size_t runs)
{
	return runs >= WORTH_RUNS ? CALIBRATE_REPEATS : 0;
}

CalibratePoint *calibrate_first_of(const Calibration *c, const Point *at)
{
	for (size_t i = 0; i < c->n_points; i++)
		if (same_place(&c->points[i].at, at))
			return &c->points[i];
	return NULL;
}

static bool is_repeated(const Calibration *c, const Point *at)
{
	for (size_t i = 0; i < c->n_repeats; i++)
		if (same_place(&c->repeats[i].at, at))
			return true;
	return false;
}

/* The last one last: something lies between its two runs. */
const CalibratePoint *calibrate_repeat_next(const Calibration *c)
{
	const size_t which[] = { c->n_points / 2, 0, c->n_points - 1 };

	if (c->n_repeats >= calibrate_repeats_of(c->n_points + CALIBRATE_REPEATS))
		return NULL;
	for (size_t i = 0; i < ELEMENTSOF(which); i++)
		if (!is_repeated(c, &c->points[which[i]].at))
			return &c->points[which[i]];
	return NULL;
}

/* A run's mean, and the interval that its rounds leave: the sensor's own error, which is in that of
 * the watts, is the same in all runs. */
static SteadyMean watts_of(const Calibration *c, const CalibratePoint *p)
{
	double sensor = c->subject.sensor_error;
	double squares = p->at.error * p->at.error - sensor * sensor;

	return (SteadyMean){ p->at.watts, p->at.watts * sqrt(fmax(squares, 0)) };
}

static SteadyMean mb_s_of(const Calibration *c, const CalibratePoint *p)
{
	(void)c;
	return (SteadyMean){ p->at.mb_s, isnan(p->mb_s_error) ? 0 : p->at.mb_s * p->mb_s_error };
}

typedef SteadyMean (*MeanOf)(const Calibration *c, const CalibratePoint *p);

static double spread_of(const Calibration *c, MeanOf mean)
{
	SteadyMean first[CALIBRATE_REPEATS], again[CALIBRATE_REPEATS];

	for (size_t i = 0; i < c->n_repeats; i++) {
		first[i] = mean(c, calibrate_first_of(c, &c->repeats[i].at));
		again[i] = mean(c, &c->repeats[i]);
	}
	return steady_spread(first, again, c->n_repeats);
}

/* Both runs of a point count for it. */
static void join_runs(const Calibration *c, CalibratePoint *first, const CalibratePoint *again)
{
	const SteadyMean w[] = { watts_of(c, first), watts_of(c, again) };
	const SteadyMean x[] = { mb_s_of(c, first), mb_s_of(c, again) };
	SteadyMean watts = steady_repeats(w, 2), mb_s = steady_repeats(x, 2);

	first->at.iops *= mb_s.mean / first->at.mb_s;
	first->at.watts = watts.mean;
	first->at.mb_s = mb_s.mean;
	first->at.error = hypot(watts.half_width / watts.mean, c->subject.sensor_error);
	first->mb_s_error = mb_s.half_width / mb_s.mean;
	first->at.p99_us = fmax(first->at.p99_us, again->at.p99_us);
	first->rounds += again->rounds;
	first->settled &= again->settled;
}

void calibrate_take_repeats(Calibration *c)
{
	c->watts_spread = spread_of(c, watts_of);
	c->mb_s_spread = spread_of(c, mb_s_of);
	for (size_t i = 0; i < c->n_points; i++) {
		CalibratePoint *p = &c->points[i];

		p->at.error = hypot(p->at.error, c->watts_spread);
		p->mb_s_error = hypot(p->mb_s_error, c->mb_s_spread);
	}
	for (size_t i = 0; i < c->n_repeats; i++)
		join_runs(c, calibrate_first_of(c, &c->repeats[i].at), &c->repeats[i]);
}
