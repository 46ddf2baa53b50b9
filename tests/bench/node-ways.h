/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The ways in which a simulated node is held to a budget. Each ends the program with a message
 * where it cannot be tried. */

#include "node-outcome.h"

/* How storpower is set: by the node's policy where that is NULL. */
typedef struct Way {
	const char *policy;
	double tolerance_s;
	bool blind;   /* without a power sensor */
	bool pooled;  /* the disks of [devices bulk] are one pool */
	double hours; /* 0: one */
} Way;

Outcome run_free(const char *node, double *ret_rated_w);
/* How far the last plan may be from the optimum; the watts that it misses the budget by. */
Outcome run_storpower(const char *node, Way way, const Limit *l, double *ret_gap,
		      double *ret_shortfall_w);
/* Every device to the same share of its own rated power. */
Outcome run_alike(const char *node, const Limit *l);
/* Every device's bandwidth to the same share of its full one. Its mean is held against the budget,
 * though it goes above at times: what storpower may not do. */
Outcome throttle_to(const char *node, double budget_w, double *ret_share);
