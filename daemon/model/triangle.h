/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Cholesky's factor of a symmetric matrix: the lower triangle alone is kept, row by row. Pure. */

#include <stdbool.h>
#include <stddef.h>

#define TRIANGLE_SIZE(n) ((n) * ((n) + 1) / 2)

static inline double *triangle_row(double *triangle, size_t i)
{
	return triangle + TRIANGLE_SIZE(i);
}

static inline const double *triangle_row_of(const double *triangle, size_t i)
{
	return triangle + TRIANGLE_SIZE(i);
}

double dot_product(const double *a, const double *b, size_t n);
/* In place. False: the matrix is not positive definite, and is destroyed. */
bool triangle_factor(double *triangle, size_t n);
/* Solves L v = v. */
void triangle_solve_lower(const double *triangle, size_t n, double *v);
/* Solves L' v = v. */
void triangle_solve_upper(const double *triangle, size_t n, double *v);
