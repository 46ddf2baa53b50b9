/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which of many settings to measure, so that the fewest runs tell all of them: each next one is
 * where the models of throughput and of watts, fitted to what was measured so far, are least sure.
 * Pure. */

#include "model/profile.h"

#define DESIGN_AXIS_MAX 32

typedef struct DesignStream {
	double read_share; /* of IOs */
	Pattern pattern;
} DesignStream;

/* Every combination is a candidate. The axes rise. */
typedef struct DesignGrid {
	int states[DESIGN_AXIS_MAX];
	unsigned depths[DESIGN_AXIS_MAX], chunks_kib[DESIGN_AXIS_MAX];
	DesignStream streams[DESIGN_AXIS_MAX];
	size_t n_states, n_depths, n_chunks, n_streams;
} DesignGrid;

typedef struct DesignGoal {
	/* What is predicted is off by less than this, relative, 95 times in 100; 0: never enough */
	double mb_s_error, watts_error;
	size_t runs; /* no more than so many; 0: a quarter of the grid */
} DesignGoal;

typedef struct DesignGuess {
	double mb_s, watts;
	double mb_s_error, watts_error; /* relative, 95 times in 100 */
} DesignGuess;

typedef struct Design Design;

/* idle_w: without IO. -EINVAL: an axis is empty, too long or does not rise. -ENOMEM. */
int design_new(const DesignGrid *grid, const DesignGoal *goal, double idle_w, uint64_t seed,
	       Design **ret);
Design *design_free(Design *d); /* returns NULL */
DEFINE_CLEANUP(Design *, design_free);

size_t design_candidates(const Design *d);
size_t design_runs(const Design *d);      /* so many were measured */
size_t design_most_runs(const Design *d); /* it ends by then */
/* Power state, depth, chunk and stream of a candidate; the rest is 0. */
Point design_point(const Design *d, size_t candidate);
/* The candidate at the place of this point; -ENOENT: it is none. */
int design_find(const Design *d, const Point *p, size_t *ret);
/* What to measure next; -ENODATA: nothing, the goal or the number of runs is reached. The same
 * until design_tell() or design_skip(). */
int design_next(Design *d, size_t *ret);
/* It was measured. -EINVAL: it gave nothing. */
int design_tell(Design *d, size_t candidate, double mb_s, double watts);
/* It cannot be measured: it counts as a run, and is not asked for again. */
void design_skip(Design *d, size_t candidate);
/* At any place, measured or not. -ENODATA: too little was measured. */
int design_guess(const Design *d, const Point *p, DesignGuess *ret);
/* The largest error that is predicted of any candidate, over its goal: 1 and less is reached;
 * INFINITY: not known yet. */
double design_distance(const Design *d);
/* Cross-validation: the root mean square relative error of what the other points tell of each. */
int design_left_out(const Design *d, double *ret_mb_s_error, double *ret_watts_error);
