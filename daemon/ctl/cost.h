/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a limit costs, and what is coming, for people. */

#include "ctl/ctl.h"

typedef struct Cost {
	json_object *devices;   /* their properties on the bus */
	json_object *unlimited; /* planned without a limit: Name, P99; NULL: unknown */
} Cost;

/* What all devices serve of what they would serve without a limit, MB/s; INFINITY: they are idle.
 */
double cost_share(const Cost *cost, double *ret_mb_s, double *ret_full_mb_s);
/* A table of the classes and pools, with what applications wait where it was measured, and who has
 * it worst; each line so far from the left. */
void cost_print(const Ctl *c, const Cost *cost, size_t indent);

#define CLAIMS_SHOWN 4

/* What is coming, a line each: disks that may sleep, claims that begin or end. */
void coming_print(const Ctl *c, json_object *state, json_object *devices, size_t indent);
