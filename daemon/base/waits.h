/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How long IOs waited, counted in powers of two: [0] is below 1.024 us, [i] is 2^(i - 1) to 2^i
 * times that, and the last one is all that waited longer. */

#include <stdint.h>

#define WAITS_MAX 32

/* The time in us within which the share (0 to 1) of the IOs was done that came between two counts.
 * It is right to a factor of two: within a power of two they are taken for evenly spread. NAN:
 * there were none. */
double waits_percentile_us(const uint64_t before[WAITS_MAX], const uint64_t after[WAITS_MAX],
			   double share);
