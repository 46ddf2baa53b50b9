/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Private to design.c and design-fill.c. */

#include "model/design.h"
#include "model/drive-model.h"

struct Design {
	DesignGrid grid;
	DesignGoal goal;
	double idle_w;
	size_t n_candidates, n_runs;
	size_t *order; /* those that fill the space, as they are measured */
	size_t n_order;
	bool *done;                          /* of each candidate: it was measured, or cannot be */
	DrivePoint points[GAUSS_POINTS_MAX]; /* that were measured */
	size_t n_points;
	DriveModel *model;
	size_t learned_at; /* points when the models were learned last; 0: never */
	double distance;
	size_t next; /* the candidate chosen; n_candidates: none yet */
};

typedef struct DesignPlace {
	size_t state, depth, chunk, stream;
} DesignPlace;

bool design_grid_valid(const DesignGrid *g);
DesignPlace design_place_of(const Design *d, size_t candidate);
size_t design_candidate_of(const Design *d, const DesignPlace *p);
DrivePlace design_drive_place(const Design *d, const Point *p);
/* Chooses what fills the space before there is a model; -ENOMEM. */
int design_begin(Design *d, uint64_t seed);
