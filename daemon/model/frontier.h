/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The Pareto set of a device's settings under a workload. Pure. */

#include "model/predict.h"

#define FRONTIER_MAX 64

/* One step of the frontier. A paced one is a continuous segment from (cap_w, mb_s) up to (cap_hi_w,
 * mb_s_hi), linear in between; setting.pace_w is that of the lower end. */
typedef struct Candidate {
	Setting setting;
	double cap_w;    /* can draw at most */
	double expect_w; /* expected to draw when saturated */
	double mb_s;     /* at saturation, before demand */
	double iops;
	double p99_us;
	double error;
	bool paced;
	double cap_hi_w, mb_s_hi;
} Candidate;

/* Lists the settings that are within the offer and use no forbidden mechanism, at most FRONTIER_MAX
 * of them. None is dominated by another (lower cap_w and higher mb_s); among equals the fewest
 * mechanisms win. They are ordered by cap_w: the first is the floor, and the last is always
 * SETTING_AS_FOUND. Sleeping conditions (deeper than CONDITION_IDLE_B) are included only up to
 * `deepest`, at 0 MB/s. */
void frontier_build(const Profile *p, const Mix *mix, const Offer *offer, unsigned forbidden,
		    Condition deepest, Candidate ret[FRONTIER_MAX], size_t *ret_n);

/* The point of a paced candidate that can draw `watts`, as a candidate of its own. */
void candidate_at(const Profile *p, const Mix *mix, const Candidate *c, double watts,
		  Candidate *ret);
