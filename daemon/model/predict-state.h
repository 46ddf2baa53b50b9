/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Private to the model: predictions and caps from tables that are built already, for many settings
 * of one power state in a row. */

#include "model/predict.h"
#include "model/surface.h"

/* Deeper than idle_b: IO waits for the disk to come back. */
static inline bool condition_sleeps(Condition c)
{
	return c > CONDITION_IDLE_B && c < _CONDITION_MAX;
}

/* m must have been built for s->power_state. */
/* Shaping never speeds a device up: the prediction is cut to most_mb_s, which is
 * predict_unshaped_mb_s() of a shaped setting, else INFINITY. The parts of a split IO are
 * outstanding together, which the tables read as more depth, but a device works as hard on one
 * large IO. */
void predict_in(const StateModel *m, const Mix *mix, const Setting *s, double most_mb_s,
		Prediction *ret);
/* What the profile says of the setting without its depth and chunk, whatever was learned. */
double predict_unshaped_mb_s(const StateModel *m, const Mix *mix, const Setting *s);
double cap_watts_in(const StateModel *m, const Setting *s);

/* The watts that a device paced to pace_w can draw, and the pace at which it can draw so many
 * watts. */
double paced_cap_watts(const Profile *p, double pace_w);
double pace_for_cap(const Profile *p, double cap_w);
