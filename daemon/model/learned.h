/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What one device was found to serve at some of its settings, over what its profile says. Pure. */

#include "model/profile.h"

#define LEARNED_MAX 16

typedef struct LearnedFactor {
	Setting setting; /* power state, power limit, depth and chunk; the rest is as found */
	double factor;   /* served over predicted throughput; above 0 */
	double mb_s;     /* served */
} LearnedFactor;

typedef struct Learned {
	LearnedFactor of[LEARNED_MAX];
	size_t n;
} Learned;

/* The part of a setting for which a throughput is learned. */
Setting learned_part(const Setting *s);
/* What was measured at this very setting; NULL: nothing was. */
const LearnedFactor *learned_at(const Learned *l, const Setting *s);
/* What the predicted throughput of a setting is to be multiplied by. A setting that was not
 * measured misses at least what a looser one misses. l NULL: 1. */
double learned_factor(const Learned *l, const Profile *p, const Setting *s);
/* A setting that was not measured serves at most so many MB/s, of IOs of so many KiB: with twice
 * the depth or twice the chunk of one that was, twice as much, because no IO is done sooner for
 * being larger or one of more. INFINITY: nothing is known; of SETTING_AS_FOUND nothing ever is. */
double learned_most_mb_s(const Learned *l, const Profile *p, const Setting *s, double kib);
