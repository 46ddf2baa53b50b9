/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How many of the reads of what lies behind a cache reach the disk. */

#include "control/tools.h"

/* Is it time to count them again? */
bool cache_hits_are_due(const Managed *md, uint64_t now_us);
/* They have been counted, or could not be. Where the share has become known or
 * unknown, or has moved, a plan is asked for. */
Need cache_hits_take(Managed *md, int r, const CacheReads *reads, const Tools *t);
/* The share of the reads of late that the cache did not serve, 0..1. NAN: too few were seen;
 * whoever has promised how long they take is on the safe side with 1. */
double cache_hits_missed(const Managed *md);
