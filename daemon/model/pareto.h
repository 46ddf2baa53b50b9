/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Private to the model: a set of candidates none of which dominates another, by rising cap_w and,
 * of necessity, rising mb_s. */

#include "model/frontier.h"

#define PARETO_MAX 192

typedef struct Pareto {
	Candidate c[PARETO_MAX];
	size_t n;
} Pareto;

/* Leaves the candidate out when it is dominated, else removes what it dominates. Of equals the one
 * of fewer mechanisms stays. */
void pareto_add(Pareto *p, const Candidate *c);

/* Adds a paced segment in as many pieces as the better points within it leave. Call it after all
 * points have been added. */
void pareto_add_segment(Pareto *p, const Candidate *segment, const Profile *profile,
			const Mix *mix);

/* Leaves at most `max` candidates. Those that gain least over their neighbours go; the first always
 * stays. */
void pareto_thin(Pareto *p, size_t max);
