/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The moments at which everybody works at once: a nightly backup, a rebuild, a cache that went
 * cold. What devices do by themselves averages out; this does not. A pure function of time. */

#include <stdint.h>

/* [burst] */
typedef struct SimBurst {
	unsigned line;
	uint64_t every_us; /* one burst somewhere in each such time; 0: there are none */
	uint64_t for_us;
	double demand; /* of what the device gives at most with nothing set */
	char *devices; /* glob of names; NULL: all that are busy at that moment */
} SimBurst;

/* What a burst is to one device. */
typedef struct SimBurstOf {
	const SimBurst *plan; /* NULL: nothing */
	uint64_t seed;        /* the node's: the bursts of all devices fall together */
	double mb_s;
} SimBurstOf;

/* MB/s asked for at t (since the node's start) by a device whose own workload asks for own_mb_s. It
 * lowers *until_us to when the burst begins or ends. */
double sim_burst_at(const SimBurstOf *b, uint64_t t_us, double own_mb_s, uint64_t *until_us);
