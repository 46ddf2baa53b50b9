/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the planner chooses from for a device now. */

#include "control/control.h"

typedef struct FrontierState {
	Mix mix;       /* of its IO; what was learned belongs to control, until the next turn */
	bool mix_seen; /* else it is assumed, because the device has done nothing yet */
	PlanCandidate candidates[FRONTIER_MAX];
	size_t n;
} FrontierState;

/* -ENOENT; -EOPNOTSUPP: there is no policy to plan by; -ENOMEM. */
int control_frontier(const Control *c, const char *device, FrontierState *ret);
