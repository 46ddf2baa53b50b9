/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/energy-fit.h"

#include <math.h>

#include "model/fit.h"

#define ENERGY_ERROR_MAX 0.5

/* Points of one size alone cannot tell the energy of an IO from that of a page. So a seek is taken
 * to be all IO, a stream all pages, and on flash an IO counts as one page more. */
static Energy split_one(const Profile *p, Pattern t, double pages, double joules)
{
	if (p->kind == KIND_HDD)
		return t == RANDOM_IO ? (Energy){ .io_j = joules }
				      : (Energy){ .page_j = joules / pages };
	return (Energy){ joules / (pages + 1), joules / (pages + 1) };
}

/* Saturation is where watts go to IO and least to waiting. */
static bool is_saturated(const Profile *p, const Point *q)
{
	for (const Point *o = p->points; o < p->points + p->n_points; o++)
		if (o->power_state == q->power_state && o->direction == q->direction &&
		    o->pattern == q->pattern && o->chunk_kib == q->chunk_kib && o->depth > q->depth)
			return false;
	return q->power_state == 0;
}

static bool point_usable(const Profile *p, const Point *q, Direction d, Pattern t)
{
	return q->direction == d && q->pattern == t && q->iops > 0 && q->watts > p->idle_w &&
	       is_saturated(p, q);
}

/* An IO's joules are a line over its pages; each point is weighted 1/joules^2, so that small IOs
 * count as much as large ones. */
static bool fit_points(const Profile *p, Direction d, Pattern t, Energy *ret)
{
	FitSums sums = { .n = 2 };
	double pages = 0, joules = 0;
	FitResult line;

	for (const Point *q = p->points; q < p->points + p->n_points; q++) {
		if (!point_usable(p, q, d, t))
			continue;
		pages = q->chunk_kib / 4.0;
		joules = (q->watts - p->idle_w) / q->iops;
		fit_add(&sums, (double[]){ 1, pages }, joules, 1 / (joules * joules));
	}
	if (joules <= 0)
		return false;
	if (fit_solve(&sums, &line) < 0 || !line.determined[0] || !line.determined[1])
		*ret = split_one(p, t, pages, joules);
	else
		*ret = (Energy){ line.value[0], line.value[1] };
	return true;
}

/* Fits the direction's and pattern's own points, else those of the other pattern, else those of the
 * other direction. */
static Energy fit_or_stand_in(const Profile *p, Direction d, Pattern t)
{
	Energy e = {};

	if (!fit_points(p, d, t, &e) && !fit_points(p, d, !t, &e) && !fit_points(p, !d, t, &e))
		fit_points(p, !d, !t, &e);
	return e;
}

/* The watts of a saturated point may be missed either way. Any other point costs more joules an IO
 * than the fit says, because waiting costs too: a paced device's cap must hold there as well. */
static double worst_miss(const Profile *p)
{
	double worst = 0;

	for (const Point *q = p->points; q < p->points + p->n_points; q++) {
		const Energy *e = &p->energy[q->direction][q->pattern];
		double watts = p->idle_w + q->iops * (e->io_j + q->chunk_kib / 4.0 * e->page_j);

		if (q->power_state == 0)
			worst = MAX(worst, q->watts / watts - 1);
		if (is_saturated(p, q))
			worst = MAX(worst, watts / q->watts - 1);
	}
	return worst;
}

void energy_fit(Profile *p)
{
	for (Direction d = 0; d < _DIRECTION_MAX; d++)
		for (Pattern t = 0; t < _PATTERN_MAX; t++) {
			Energy *e = &p->energy[d][t], fitted;

			if (!isnan(e->io_j) && !isnan(e->page_j))
				continue;
			fitted = fit_or_stand_in(p, d, t);
			e->io_j = isnan(e->io_j) ? fitted.io_j : e->io_j;
			e->page_j = isnan(e->page_j) ? fitted.page_j : e->page_j;
		}
	if (isnan(p->energy_error))
		p->energy_error = CLAMP(worst_miss(p), p->error, ENERGY_ERROR_MAX);
}
