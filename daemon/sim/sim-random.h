/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Chance repeats: every draw is a hash of what it is for, so that the same node file gives the same
 * node, whoever asks and whenever. */

#include "base/splitmix.h"

static inline uint64_t sim_hash(uint64_t a, uint64_t b)
{
	return splitmix((a + 1) * SPLITMIX_STEP + b);
}

/* Uniform in [0, 1). */
static inline double sim_uniform(uint64_t seed, uint64_t what)
{
	return (double)(sim_hash(seed, what) >> 11) * 0x1p-53;
}

/* Mean 0, variance 1. The sum of four draws is near enough to a normal distribution. */
static inline double sim_normal(uint64_t seed, uint64_t what)
{
	double sum = 0;

	for (uint64_t i = 0; i < 4; i++)
		sum += sim_uniform(seed + i, what) - 0.5;
	return sum * 1.7320508075688772; /* a uniform draw's variance is 1/12 */
}

/* FNV-1a. */
static inline uint64_t sim_hash_text(const char *s)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 0x100000001b3u;
	return h;
}
