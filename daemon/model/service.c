/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/service.h"

#include <math.h>

#include "model/profile-file.h"
#include "petri/study.h"

/* How much service times differ a profile says by the 99th percentile of an IO alone at the device.
 * Where that was not measured, half of the mean is assumed on flash: Borba, Tavares and Maciel
 * measured from 1 to 80 % of it on an SSD. */
#define FLASH_DEVIATION 0.5
#define NORMAL_P99      2.3263

/* The point of one IO at a time that is the nearest in size, of those with a 99th percentile. */
static const Point *measured_alone(const Profile *p, Direction d, Pattern t, double kib)
{
	const Point *best = NULL;

	for (const Point *q = p->points; q < p->points + p->n_points; q++)
		if (q->p99_us > 0 && q->depth == 1 && !point_is_mix(q) && q->direction == d &&
		    q->pattern == t &&
		    (!best || fabs(log(q->chunk_kib / kib)) < fabs(log(best->chunk_kib / kib))))
			best = q;
	return best;
}

/* The deviation, relative to the mean, of gamma distributed times whose 99th percentile is so many
 * times the mean: the root of Wilson and Hilferty's approximation of its quantiles. */
static double deviation_of_tail(double tail)
{
	double b = NORMAL_P99 / 3, excess = cbrt(MAX(tail, 1.0)) - 1;
	double root = b * b - 4 * excess / 9;

	return 4.5 * (b - sqrt(MAX(root, 0.0)));
}

/* Relative to the mean. A disk's is the study's where it was not measured, of its IOs of 4 KiB and
 * 1 MiB the one that is nearer in size. */
double service_deviation(const Profile *p, Direction d, Pattern t, double kib, bool *ret_assumed)
{
	const Point *q = measured_alone(p, d, t, kib);
	const StudyOperation *o;

	if (q)
		return deviation_of_tail(q->p99_us * q->iops / 1e6);
	if (p->kind != KIND_HDD) {
		*ret_assumed = true;
		return FLASH_DEVIATION;
	}
	o = study_operation(STUDY_HDD, d == WRITE_IO, t == RANDOM_IO, kib < 64);
	return o->deviation_ms / o->mean_ms;
}

/* Wilson and Hilferty's approximation of the gamma distribution's quantile. */
static double tail_of_deviation(double deviation)
{
	double part = deviation * deviation / 9;

	return pow(1 - part + NORMAL_P99 * sqrt(part), 3);
}

double service_tail(double depth, double servers, double deviation)
{
	double square = deviation * deviation, ahead = depth - servers, crowd = ahead / servers;
	double dispersion, part = servers / depth;

	if (ahead <= 0)
		return tail_of_deviation(deviation);
	/* Several servers end their IOs at random moments of each other, as Poisson's would, until
	 * each has served a few. One begins as the queue is joined. */
	dispersion =
		square + (1 - square) * (1 - 1 / servers) * (1 - exp(-2 * crowd)) / (2 * crowd);
	return tail_of_deviation(part * sqrt(dispersion * crowd / servers + square));
}

/* Wilson and Hilferty's approximation the other way round. A tail beyond the longest that it knows
 * is taken for that one, stretched. */
double service_slower(double tail, double times)
{
	double deviation = deviation_of_tail(tail), part = deviation * deviation / 9;
	double stretched = times * MIN(tail_of_deviation(deviation) / tail, 1.0);

	if (!(part > 0))
		return times < 1;
	return erfc((cbrt(stretched) - (1 - part)) / sqrt(2 * part)) / 2;
}
