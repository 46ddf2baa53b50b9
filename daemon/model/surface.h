/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Private to the model: a profile's points of one power state as tables over log2 depth x log2
 * chunk. The highest depth and chunk of a table stand for all above: profiles go up to saturation.
 */

#include "model/profile.h"

/* Distinct depths, and distinct chunks, in one table; profile-check.c refuses more. */
#define AXIS_MAX 12

typedef struct Cell {
	double dynamic_w; /* above idle */
	double mb_s;
	double alone_mb_s, most_mb_s; /* of one IO at a time, and at whatever depth gives most */
	double deviation;             /* of an IO's service time, relative to its mean */
	double tail;                  /* 99th percentile over what service_tail() makes of these */
	double error;                 /* relative, of the whole watts */
	bool estimated;
} Cell;

typedef struct Surface {
	double depth[AXIS_MAX], chunk[AXIS_MAX]; /* log2, rising */
	unsigned n_depths, n_chunks;             /* 0: there are no points */
	double smallest_kib;
	Cell cell[AXIS_MAX][AXIS_MAX];
	double reach_w[AXIS_MAX][AXIS_MAX]; /* the most drawn at this depth and chunk or below */
} Surface;

typedef struct StateModel {
	const Profile *profile;
	double ceiling_w; /* what the power state allows; INFINITY: no state set, or its own points
			   */
	double exit_us;   /* of a non-operational state */
	Surface surface[_DIRECTION_MAX][_PATTERN_MAX];
} StateModel;

/* power_state -1: as found, which is state 0. */
void state_model_build(StateModel *m, const Profile *p, int power_state);
/* Interpolates: exact at the points, bilinear between, clamped and with a wider error outside. */
void surface_at(const Surface *s, double depth, double chunk_kib, Cell *ret);
/* The most that it is predicted to draw above idle; 0 without points. */
double surface_most_w(const Surface *s);
/* The most that IO up to this depth and chunk can draw, errors added; INFINITY without points. */
double state_model_reach(const StateModel *m, unsigned depth, unsigned chunk_kib);
