/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* When a drive under a constant load has settled, and what it then gives and draws. Pure. */

#include <stdbool.h>
#include <stddef.h>

#define STEADY_WINDOW     5 /* rounds: SNIA, Solid State Storage Performance Test Specification */
#define STEADY_ROUNDS_MAX 1024

/* The last rounds are alike: none is farther from another than a fifth of their mean, and the line
 * through them does not rise or fall by more than a tenth of it. */
bool steady_window(const double *rounds, size_t n);

typedef struct SteadyMean {
	double mean;
	double half_width; /* the truth is within so much, 95 times in 100; NAN: not known */
} SteadyMean;

/* Each round resembles the one before it, so that they tell less than as many independent ones
 * would: the means of long enough batches are independent. */
SteadyMean steady_mean(const double *rounds, size_t n);
/* Of runs of the same point at other times: they differ by more than their rounds do. */
SteadyMean steady_repeats(const SteadyMean *runs, size_t n);

/* Of n points that were measured twice: by how much, relative, a run may be off beyond what its
 * rounds say, 95 times in 100; 0: by nothing that shows. */
double steady_spread(const SteadyMean *first, const SteadyMean *again, size_t n);

typedef struct Steady {
	double mb_s[STEADY_ROUNDS_MAX], watts[STEADY_ROUNDS_MAX];
	size_t n;
	bool reached;
	size_t from; /* the first round that counts */
} Steady;

/* One more round; those beyond STEADY_ROUNDS_MAX are dropped. Throughput and watts must have
 * settled together. Returns whether they have. */
bool steady_add(Steady *s, double mb_s, double watts);
SteadyMean steady_mb_s(const Steady *s);
SteadyMean steady_watts(const Steady *s);
