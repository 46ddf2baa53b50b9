/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/waits.h"

#include <math.h>

#define UNIT_US 1.024

double waits_percentile_us(const uint64_t before[WAITS_MAX], const uint64_t after[WAITS_MAX],
			   double share)
{
	double all = 0, rank, below = 0, n;

	for (int i = 0; i < WAITS_MAX; i++)
		all += (double)(after[i] - before[i]);
	rank = share * all;
	for (int i = 0; all > 0 && i < WAITS_MAX; i++) {
		double end_us = ldexp(UNIT_US, i), start_us = i ? end_us / 2 : 0;

		n = (double)(after[i] - before[i]);
		if (n > 0 && below + n >= rank)
			return start_us + (end_us - start_us) * (rank - below) / n;
		below += n;
	}
	return NAN;
}
