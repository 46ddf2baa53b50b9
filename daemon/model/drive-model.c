/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/drive-model.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define COORDINATES (DRIVE_COORDINATES + 1) /* and how near the drive is to saturation */
#define OWN_MOST    0.9                     /* what a point tells of itself alone */

struct DriveModel {
	LawFit *law;
	Gauss *mb_s, *watts; /* so much more than by the law; logarithms */
};

DriveModel *drive_model_new(size_t streams, size_t states)
{
	DriveModel *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->law = law_fit_new(streams, states);
	m->mb_s = gauss_new(COORDINATES);
	m->watts = gauss_new(COORDINATES);
	return m->law && m->mb_s && m->watts ? m : drive_model_free(m);
}

DriveModel *drive_model_free(DriveModel *m)
{
	if (!m)
		return NULL;
	law_fit_free(m->law);
	gauss_free(m->mb_s);
	gauss_free(m->watts);
	free(m);
	return NULL;
}

/* The law is least true about the bend to saturation. */
static void find_coordinates(const DrivePlace *p, const LawAnswer *a, double x[COORDINATES])
{
	memcpy(x, p->at, sizeof(p->at));
	x[DRIVE_COORDINATES] = tanh(a->saturated / 2);
}

static int fit_law(DriveModel *m, const DrivePoint *points, size_t n, bool learn)
{
	LawPoint of[GAUSS_POINTS_MAX];

	if (n > GAUSS_POINTS_MAX)
		return -ENOSPC;
	for (size_t i = 0; i < n; i++)
		of[i] = (LawPoint){ points[i].place.law, points[i].mb_s, points[i].watts,
				    points[i].watts_noise };
	return law_fit(m->law, of, n, learn);
}

static int add_rest(DriveModel *m, const DrivePoint *p)
{
	double x[COORDINATES];
	LawGuess law;
	int r;

	law_fit_guess(m->law, &p->place.law, p->watts_noise, &law);
	find_coordinates(&p->place, &law.answer, x);
	r = gauss_add(m->mb_s, x, p->mb_s - law.answer.mb_s, 1);
	return r < 0 ? r : gauss_add(m->watts, x, p->watts - law.answer.watts, p->watts_noise);
}

int drive_model_fit(DriveModel *m, const DrivePoint *points, size_t n, bool learn)
{
	int r = fit_law(m, points, n, learn);

	gauss_clear(m->mb_s);
	gauss_clear(m->watts);
	for (size_t i = 0; i < n && r >= 0; i++)
		r = add_rest(m, &points[i]);
	if (r >= 0)
		r = gauss_fit(m->mb_s, learn);
	return r < 0 ? r : gauss_fit(m->watts, learn);
}

void drive_model_guess(const DriveModel *m, const DrivePlace *p, GaussGuess *ret_mb_s,
		       GaussGuess *ret_watts)
{
	double x[COORDINATES];
	LawGuess law;

	law_fit_guess(m->law, &p->law, 1, &law);
	find_coordinates(p, &law.answer, x);
	gauss_predict(m->mb_s, x, ret_mb_s);
	gauss_predict(m->watts, x, ret_watts);
	ret_mb_s->mean += law.answer.mb_s;
	ret_mb_s->sd = hypot(ret_mb_s->sd, law.mb_s_sd);
	ret_watts->mean += law.answer.watts;
	ret_watts->sd = hypot(ret_watts->sd, law.watts_sd);
}

/* A point has drawn the law towards itself: without it, it would be off by more. */
static double without(double measured, double guess, double own)
{
	return measured - (measured - guess) / (1 - MIN(own, OWN_MOST));
}

void drive_model_leave_out(const DriveModel *m, const DrivePoint *points, size_t i,
			   double *ret_mb_s, double *ret_watts)
{
	const DrivePoint *p = &points[i];
	GaussGuess mb_s, watts;
	LawGuess law;

	law_fit_guess(m->law, &p->place.law, p->watts_noise, &law);
	gauss_leave_out(m->mb_s, i, &mb_s);
	gauss_leave_out(m->watts, i, &watts);
	*ret_mb_s = without(p->mb_s, law.answer.mb_s + mb_s.mean, law.mb_s_own);
	*ret_watts = without(p->watts, law.answer.watts + watts.mean, law.watts_own);
}
