/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The fit behind one sensor: whether it holds, and what it says is drawn now. */

#include "control/drift.h"

#define DRIFT_OBSERVATIONS_LEAST 60
#define DRIFT_OWN_LEAST          0.001 /* of a load, squared, that moves apart from others: 3 % */
#define DRIFT_DEVIATIONS         1.96  /* 95 % */

/* What is determined is so beside the watts without IO: where these are far from what profiles say,
 * the sensor is off, or measures more than these devices. */
bool drift_idle_agrees(const FitResult *r);
/* Why a fit tells nothing at all; "": it may tell something. */
const char *drift_why_nothing(const FitResult *r);

/* What the last half hour says of the draw at the last look. Its watts are NAN where the fit does
 * not hold, or the draw was not the same for the looks before. */
void drift_tell(DriftOf *of, uint64_t now_us);
