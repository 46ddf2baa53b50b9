/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Private to the solution: what the last steps of an iteration together say about its end. (D. G.
 * Anderson, "Iterative procedures for nonlinear integral equations", 1965.) */

#include <stddef.h>

#define ANDERSON_MEMORY 5

typedef struct Anderson {
	size_t n;
	double *room;
	double *step, *point; /* of the step before: where it led, and how far that is */
	double *steps[ANDERSON_MEMORY], *points[ANDERSON_MEMORY]; /* by how much these changed */
	double products[ANDERSON_MEMORY][ANDERSON_MEMORY];        /* of the changes of steps */
	unsigned seen;
} Anderson;

int anderson_new(size_t n, Anderson *ret);
void anderson_done(Anderson *a);

/* x, above 0, is where a step led from `from`. Takes it to where the step would be the smallest, if
 * steps changed by as much as they did; no lower than to an eighth of what it is. */
void anderson_leap(Anderson *a, const double *from, double *x);
