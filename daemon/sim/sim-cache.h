/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The cache above a disk, as bcache keeps one: what of the disk's IO it takes, what it writes back
 * and when. It has no clock and no locks. */

#include "sim/sim-truth.h"

/* How a disk's workload divides between the disk and the cache above it. */
typedef struct SimSplit {
	SimStream direct, writeback; /* reach the disk */
	double held_mb_s;            /* writes that the cache takes */
	double cached_mb_s, cached_reads;
} SimSplit;

/* Without a cache everything is direct. */
void sim_cache_split(const SimTruth *t, const SimNature *n, double demand_mb_s, SimSplit *ret);
/* Notes how full the cache is by now. */
void sim_cache_notice(SimTruth *t, const SimNature *n);
/* Writes the disk's superblock and returns true when the cache begins to hold data for the disk, or
 * holds none any more. */
bool sim_cache_mark(SimTruth *t, const SimSplit *split);
/* When, at t->rates, it will do something else; UINT64_MAX never. */
uint64_t sim_cache_next_us(const SimTruth *t, const SimNature *n);
/* Seconds pass at t->rates. */
void sim_cache_pass(SimTruth *t, double s);
