/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/shed-model.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define FULL_COORDINATES (SHED_COORDINATES + 1) /* and the bytes outstanding */
#define LESS_COORDINATES (SHED_COORDINATES + 2) /* and the state, and the watts without it */
#define LESS_LEAST       2                      /* points */
#define WATTS_SCALE      4 /* of the logarithm, to bring it to a range of about 1 */

struct ShedModel {
	Gauss *full_mb_s, *full_watts; /* of the highest state */
	Gauss *less_mb_s, *less_watts; /* so much less in the others; logarithms */
};

ShedModel *shed_model_new(void)
{
	ShedModel *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->full_mb_s = gauss_new(FULL_COORDINATES);
	m->full_watts = gauss_new(FULL_COORDINATES);
	m->less_mb_s = gauss_new(LESS_COORDINATES);
	m->less_watts = gauss_new(LESS_COORDINATES);
	if (!m->full_mb_s || !m->full_watts || !m->less_mb_s || !m->less_watts)
		return shed_model_free(m);
	return m;
}

ShedModel *shed_model_free(ShedModel *m)
{
	if (!m)
		return NULL;
	gauss_free(m->full_mb_s);
	gauss_free(m->full_watts);
	gauss_free(m->less_mb_s);
	gauss_free(m->less_watts);
	free(m);
	return NULL;
}

/* A drive saturates along lines of so many bytes outstanding: that they are a coordinate lets the
 * covariance follow such a line. */
static void full_coordinates(const ShedPlace *p, double x[FULL_COORDINATES])
{
	memcpy(x, p->at, sizeof(p->at));
	x[SHED_COORDINATES] = (p->at[0] + p->at[1]) / 2;
}

static void less_coordinates(const ShedPlace *p, double full_watts, double x[LESS_COORDINATES])
{
	memcpy(x, p->at, sizeof(p->at));
	x[SHED_COORDINATES] = p->state;
	x[SHED_COORDINATES + 1] = full_watts / WATTS_SCALE;
}

static void guess_full(const ShedModel *m, const ShedPlace *p, GaussGuess *ret_mb_s,
		       GaussGuess *ret_watts)
{
	double x[FULL_COORDINATES];

	full_coordinates(p, x);
	gauss_predict(m->full_mb_s, x, ret_mb_s);
	gauss_predict(m->full_watts, x, ret_watts);
}

static int add_full(ShedModel *m, const ShedPoint *p)
{
	double x[FULL_COORDINATES];
	int r;

	full_coordinates(&p->place, x);
	r = gauss_add(m->full_mb_s, x, p->mb_s, 1);
	return r < 0 ? r : gauss_add(m->full_watts, x, p->watts, p->watts_noise);
}

static int add_less(ShedModel *m, const ShedPoint *p)
{
	double x[LESS_COORDINATES];
	GaussGuess mb_s, watts;
	int r;

	guess_full(m, &p->place, &mb_s, &watts);
	less_coordinates(&p->place, watts.mean, x);
	r = gauss_add(m->less_mb_s, x, p->mb_s - mb_s.mean, 1);
	return r < 0 ? r : gauss_add(m->less_watts, x, p->watts - watts.mean, p->watts_noise);
}

static int fit_part(Gauss *mb_s, Gauss *watts, bool learn)
{
	int r = gauss_fit(mb_s, learn);

	return r < 0 ? r : gauss_fit(watts, learn);
}

int shed_model_fit(ShedModel *m, const ShedPoint *points, size_t n, bool learn)
{
	int r = 0;

	gauss_clear(m->full_mb_s);
	gauss_clear(m->full_watts);
	gauss_clear(m->less_mb_s);
	gauss_clear(m->less_watts);
	for (size_t i = 0; i < n && r >= 0; i++)
		if (points[i].place.state <= 0)
			r = add_full(m, &points[i]);
	if (r >= 0)
		r = fit_part(m->full_mb_s, m->full_watts, learn);
	for (size_t i = 0; i < n && r >= 0; i++)
		if (points[i].place.state > 0)
			r = add_less(m, &points[i]);
	if (r >= 0 && gauss_n(m->less_mb_s) >= LESS_LEAST)
		r = fit_part(m->less_mb_s, m->less_watts, learn);
	return r;
}

/* What is not known of the watts without the state is not known of what the state takes either:
 * `slope` is what one standard deviation of them changes. */
static GaussGuess less_of(const Gauss *g, const ShedPlace *p, const GaussGuess *full_watts,
			  double *ret_slope)
{
	double x[LESS_COORDINATES];
	GaussGuess less, above, below;

	less_coordinates(p, full_watts->mean, x);
	gauss_predict(g, x, &less);
	less_coordinates(p, full_watts->mean + full_watts->sd, x);
	gauss_predict(g, x, &above);
	less_coordinates(p, full_watts->mean - full_watts->sd, x);
	gauss_predict(g, x, &below);
	*ret_slope = (above.mean - below.mean) / 2;
	return less;
}

int shed_model_guess(const ShedModel *m, const ShedPlace *p, GaussGuess *ret_mb_s,
		     GaussGuess *ret_watts)
{
	GaussGuess mb_s, watts, less_mb_s, less_watts;
	double mb_s_slope, watts_slope;

	guess_full(m, p, &mb_s, &watts);
	if (p->state <= 0) {
		*ret_mb_s = mb_s;
		*ret_watts = watts;
		return 0;
	}
	if (gauss_n(m->less_mb_s) < LESS_LEAST)
		return -ENODATA;
	less_mb_s = less_of(m->less_mb_s, p, &watts, &mb_s_slope);
	less_watts = less_of(m->less_watts, p, &watts, &watts_slope);
	*ret_mb_s =
		(GaussGuess){ mb_s.mean + less_mb_s.mean,
			      sqrt(pow(less_mb_s.sd, 2) + pow(mb_s.sd, 2) + pow(mb_s_slope, 2)) };
	/* where the state holds the watts, they are the same whatever they were without it */
	*ret_watts = (GaussGuess){ watts.mean + less_watts.mean,
				   hypot(less_watts.sd, watts.sd + watts_slope) };
	return 0;
}

void shed_model_leave_out(const ShedModel *m, const ShedPoint *points, size_t i,
			  GaussGuess *ret_mb_s, GaussGuess *ret_watts)
{
	const bool less = points[i].place.state > 0;
	GaussGuess mb_s = {}, watts = {};
	size_t at = 0;

	for (size_t k = 0; k < i; k++)
		at += (points[k].place.state > 0) == less;
	if (less && gauss_n(m->less_mb_s) < LESS_LEAST) {
		*ret_mb_s = *ret_watts = (GaussGuess){ NAN, NAN };
		return;
	}
	gauss_leave_out(less ? m->less_mb_s : m->full_mb_s, at, ret_mb_s);
	gauss_leave_out(less ? m->less_watts : m->full_watts, at, ret_watts);
	if (less)
		guess_full(m, &points[i].place, &mb_s, &watts);
	ret_mb_s->mean += mb_s.mean;
	ret_watts->mean += watts.mean;
}
