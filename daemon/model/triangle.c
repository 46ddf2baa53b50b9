/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/triangle.h"

#include <math.h>

double dot_product(const double *a, const double *b, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

bool triangle_factor(double *triangle, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double *a = triangle_row(triangle, i), rest;

		for (size_t j = 0; j < i; j++) {
			const double *b = triangle_row_of(triangle, j);

			a[j] = (a[j] - dot_product(a, b, j)) / b[j];
		}
		rest = a[i] - dot_product(a, a, i);
		if (!(rest > 0))
			return false;
		a[i] = sqrt(rest);
	}
	return true;
}

void triangle_solve_lower(const double *triangle, size_t n, double *v)
{
	for (size_t i = 0; i < n; i++) {
		const double *l = triangle_row_of(triangle, i);

		v[i] = (v[i] - dot_product(l, v, i)) / l[i];
	}
}

void triangle_solve_upper(const double *triangle, size_t n, double *v)
{
	for (size_t i = n; i-- > 0;) {
		const double *l = triangle_row_of(triangle, i);

		v[i] /= l[i];
		for (size_t j = 0; j < i; j++)
			v[j] -= l[j] * v[i];
	}
}
