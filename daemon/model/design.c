/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>

#include "model/design-private.h"

#define SIGMAS          2.0  /* 96 to 100 of 100 settings lay within, also of drives with quirks */
#define LEARN_EVERY     1.08 /* so many times the points, and the models are learned anew */
#define DYNAMIC_W_LEAST 0.01 /* the sensor's last digit: less is not told from idling */

Point design_point(const Design *d, size_t candidate)
{
	const DesignPlace p = design_place_of(d, candidate);
	const DesignStream *s = &d->grid.streams[p.stream];

	return (Point){ .power_state = d->grid.states[p.state],
			.depth = d->grid.depths[p.depth],
			.chunk_kib = d->grid.chunks_kib[p.chunk],
			.read_share = s->read_share,
			.direction = s->read_share > 0 ? READ_IO : WRITE_IO,
			.pattern = s->pattern };
}

int design_find(const Design *d, const Point *p, size_t *ret)
{
	for (size_t i = 0; i < d->n_candidates; i++) {
		const Point q = design_point(d, i);

		if (q.power_state == p->power_state && q.depth == p->depth &&
		    q.chunk_kib == p->chunk_kib && fabs(q.read_share - p->read_share) < 1e-6 &&
		    q.pattern == p->pattern) {
			*ret = i;
			return 0;
		}
	}
	return -ENOENT;
}

static void set_goal(Design *d, const DesignGoal *goal)
{
	size_t runs = goal->runs > 0 ? goal->runs : MAX(d->n_candidates / 4, (size_t)1);

	d->goal = *goal;
	d->goal.runs = MIN(runs, MIN(d->n_candidates, (size_t)GAUSS_POINTS_MAX));
}

int design_new(const DesignGrid *grid, const DesignGoal *goal, double idle_w, uint64_t seed,
	       Design **ret)
{
	_cleanup_(design_freep) Design *d = NULL;
	int r;

	if (!design_grid_valid(grid))
		return -EINVAL;
	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	d->grid = *grid;
	d->idle_w = idle_w;
	d->n_candidates = grid->n_states * grid->n_depths * grid->n_chunks * grid->n_streams;
	d->next = d->n_candidates;
	d->distance = INFINITY;
	set_goal(d, goal);
	d->done = calloc(d->n_candidates, sizeof(*d->done));
	d->model = drive_model_new(grid->n_streams, grid->n_states);
	if (!d->done || !d->model)
		return -ENOMEM;
	r = design_begin(d, seed);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(d);
	return 0;
}

Design *design_free(Design *d)
{
	if (!d)
		return NULL;
	drive_model_free(d->model);
	free(d->order);
	free(d->done);
	free(d);
	return NULL;
}

size_t design_candidates(const Design *d)
{
	return d->n_candidates;
}

size_t design_runs(const Design *d)
{
	return d->n_runs;
}

size_t design_most_runs(const Design *d)
{
	return d->goal.runs;
}

double design_distance(const Design *d)
{
	return d->distance;
}

int design_guess(const Design *d, const Point *p, DesignGuess *ret)
{
	const DrivePlace place = design_drive_place(d, p);
	GaussGuess mb_s, watts;
	double dynamic_w;

	if (d->learned_at == 0)
		return -ENODATA;
	drive_model_guess(d->model, &place, &mb_s, &watts);
	dynamic_w = exp(watts.mean);
	*ret = (DesignGuess){ .mb_s = exp(mb_s.mean),
			      .watts = d->idle_w + dynamic_w,
			      .mb_s_error = SIGMAS * mb_s.sd,
			      .watts_error =
				      SIGMAS * watts.sd * dynamic_w / (d->idle_w + dynamic_w) };
	return 0;
}

/* How far from its goal a guess is: 1 is just there. */
static double distance_of(const Design *d, const DesignGuess *g)
{
	return MAX(g->mb_s_error / MAX(d->goal.mb_s_error, 1e-9),
		   g->watts_error / MAX(d->goal.watts_error, 1e-9));
}

/* -ENODATA: there is nothing to fit to. */
static int fit(Design *d)
{
	size_t n = d->n_points;
	bool learn = d->learned_at == 0 || (double)n >= LEARN_EVERY * (double)d->learned_at;
	int r = drive_model_fit(d->model, d->points, n, learn);

	if (r < 0)
		d->learned_at = 0; /* what was fitted before is gone */
	else if (learn)
		d->learned_at = n;
	return r;
}

/* The candidate that is least sure. */
static void choose(Design *d)
{
	d->distance = 0;
	d->next = d->n_candidates;
	for (size_t i = 0; i < d->n_candidates; i++) {
		const Point p = design_point(d, i);
		DesignGuess guess;
		double distance;

		if (d->done[i] || design_guess(d, &p, &guess) < 0)
			continue;
		distance = distance_of(d, &guess);
		if (distance > d->distance) {
			d->distance = distance;
			d->next = i;
		}
	}
}

int design_next(Design *d, size_t *ret)
{
	int r;

	if (d->n_runs >= d->goal.runs)
		return -ENODATA;
	if (d->next == d->n_candidates) {
		for (size_t i = 0; i < d->n_order && d->next == d->n_candidates; i++)
			if (!d->done[d->order[i]])
				d->next = d->order[i];
		if (d->next == d->n_candidates) {
			r = fit(d);
			if (r < 0)
				return r;
			choose(d);
		}
	}
	if (d->next == d->n_candidates || d->distance <= 1)
		return -ENODATA;
	*ret = d->next;
	return 0;
}

int design_tell(Design *d, size_t candidate, double mb_s, double watts)
{
	const Point p = design_point(d, candidate);
	double dynamic_w = MAX(watts - d->idle_w, DYNAMIC_W_LEAST);

	if (!(mb_s > 0) || !isfinite(mb_s) || !isfinite(watts))
		return -EINVAL;
	if (d->n_points >= GAUSS_POINTS_MAX)
		return -ENOSPC;
	d->points[d->n_points++] = (DrivePoint){ design_drive_place(d, &p), log(mb_s),
						 log(dynamic_w), MAX(watts / dynamic_w, 1.0) };
	d->done[candidate] = true;
	d->n_runs++;
	d->next = d->n_candidates;
	/* whoever asks for a guess after the last run wants it with all that was measured */
	if (d->n_runs >= d->goal.runs && fit(d) >= 0) {
		choose(d);
		d->next = d->n_candidates;
	}
	return 0;
}

void design_skip(Design *d, size_t candidate)
{
	d->done[candidate] = true;
	d->n_runs++;
	d->next = d->n_candidates;
}

int design_left_out(const Design *d, double *ret_mb_s_error, double *ret_watts_error)
{
	double mb_s = 0, watts = 0, n = (double)d->n_points;

	if (d->learned_at == 0)
		return -ENODATA;
	for (size_t i = 0; i < d->n_points; i++) {
		double dynamic_w = exp(d->points[i].watts);
		double m, w;

		drive_model_leave_out(d->model, d->points, i, &m, &w);
		mb_s += pow(expm1(m - d->points[i].mb_s), 2);
		watts += pow((exp(w) - dynamic_w) / (d->idle_w + dynamic_w), 2);
	}
	*ret_mb_s_error = sqrt(mb_s / n);
	*ret_watts_error = sqrt(watts / n);
	return 0;
}
