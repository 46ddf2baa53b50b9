/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/law.h"

#include <math.h>

#define MB_OF_KIB (1024 / 1e6)

/* The logarithm of the sum of two. */
static double sum(double a, double b)
{
	return fmax(a, b) + log1p(exp(-fabs(a - b)));
}

/* The larger of two logarithms; `sharpness` (a logarithm as well) says how far from the bend the
 * smaller one counts. */
static double larger(double a, double b, double sharpness)
{
	double power = 1 + exp(sharpness);

	return fmax(a, b) + log1p(exp(-power * fabs(a - b))) / power;
}

LawAnswer law_answer(const LawPlace *p, const double c[LAW_CONSTANTS])
{
	const double kib = log(p->kib);
	const double io_j = sum(c[LAW_IO_J], c[LAW_KIB_J] + kib) + c[LAW_DEARER];
	const double capped_s = io_j - c[LAW_CAP_W];
	const double busy_s = larger(c[LAW_IO_S], c[LAW_KIB_S] + kib, c[LAW_BEND_SIZE]);
	const double served_s = larger(busy_s, capped_s + c[LAW_CAP_WITHIN], c[LAW_BEND_CAP]);
	const double alone_s = sum(c[LAW_WAIT_S], c[LAW_ALONE] + served_s);
	const double each_s = alone_s - log(p->depth);
	const double uncapped_s = larger(each_s, busy_s, c[LAW_BEND_DEPTH]) + c[LAW_SLOWER];
	const double io_s = larger(uncapped_s, capped_s, c[LAW_BEND_CAP]);

	return (LawAnswer){ kib + log(MB_OF_KIB) - io_s, io_j - io_s, busy_s - each_s };
}
