/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Sensors correct the model, both ways: a device's own first, then its group's, then the node's,
 * each holding what is left of the error against its reading. */

#include "control/gauges.h"

/* A look. settling: what is in force is being changed. counted_w: what is expected is held against
 * so many watts; INFINITY: against none. */
Need correct_judge(Gauges *g, double counted_w, bool settling, Tools *t);
/* After both have looked: what the margin is taken from, by what the online fit tells. */
void correct_bound_by_drift(Gauges *g, const Fleet *f);
/* What all devices draw now above what their profiles say. */
double correct_excess_w(const Fleet *f);
/* What is kept free of the budget because sensors are not exact either. */
double correct_margin_w(const Gauges *g, const Fleet *f);
