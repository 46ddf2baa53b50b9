/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
 */

#include <stdint.h>

#define SPLITMIX_STEP 0x9e3779b97f4a7c15u

/* Draw number i of a seed is that of seed + i * SPLITMIX_STEP. */
static inline uint64_t splitmix(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}
