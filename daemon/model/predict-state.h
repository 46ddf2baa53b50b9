/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Private to the model: prediction and cap on tables that are built already, for many settings of
 * one power state in a row. */

#include "model/predict.h"
#include "model/surface.h"

/* Deeper than idle_b: IO waits for the disk to come back. */
static inline bool condition_sleeps(Condition c)
{
	return c > CONDITION_IDLE_B && c < _CONDITION_MAX;
}

/* m must have been built for s->power_state. */
/* Does not know that shaping never speeds a device up: see predict_bounded(). */
void predict_in(const StateModel *m, const Mix *mix, const Setting *s, Prediction *ret);
/* The parts of a split IO are outstanding together, and tables read that as more depth; but a
 * device works as hard on one large IO. */
void predict_bounded(Prediction *p, double most_mb_s);
double cap_watts_in(const StateModel *m, const Setting *s);

/* A paced device can draw this, and is paced so to draw that. */
double paced_cap_watts(const Profile *p, double pace_w);
double pace_for_cap(const Profile *p, double cap_w);
