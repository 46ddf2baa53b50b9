/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What one device was found to serve at some of its settings, over what its profile says. Pure. */

#include "model/profile.h"

#define LEARNED_MAX 16

typedef struct LearnedFactor {
	Setting setting; /* power state, power limit, depth and chunk; the rest is as found */
	double factor;   /* served over predicted throughput; above 0 */
	double io_us; /* that an IO takes there by the profile, the others in the queue included */
	double found_depth; /* where depth is as found: so many were outstanding */
} LearnedFactor;

typedef struct Learned {
	LearnedFactor of[LEARNED_MAX];
	size_t n;
} Learned;

/* The part of a setting for which a throughput is learned. */
Setting learned_part(const Setting *s);
/* What was measured at this very setting; NULL: nothing was. */
const LearnedFactor *learned_at(const Learned *l, const Setting *s);
/* What the predicted throughput of a setting is to be multiplied by, an IO taking io_us there by
 * the profile. A setting that was not measured is taken to miss what explains best those that were.
 * No setting is taken to serve more than the profile says but one where that was measured; where
 * depth is as found, as much. l NULL: 1. */
double learned_factor(const Learned *l, const Profile *p, const Setting *s, double io_us);
