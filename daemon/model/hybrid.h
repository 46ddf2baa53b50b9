/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Devices that share a workload, as a cache and the disks behind it: so many IOs go round, each is
 * sent to one device, and who waits for a disk asks nothing of the cache meanwhile. What each
 * device gives at each depth is its profile's; how response times are distributed a Petri net
 * tells, after Borba, Tavares and Maciel. Pure. */

#include "model/predict.h"
#include "petri/tier.h"

#define HYBRID_DEPTH_MAX 1024

/* Devices of a profile, which get so much of the IOs all together, in equal parts. */
typedef struct HybridMember {
	const Profile *profile;
	unsigned devices;
	double share; /* 0..1; those of all members sum up to 1 */
} HybridMember;

/* Of one device of a member. */
typedef struct HybridPart {
	double iops, mb_s, watts, error; /* of the watts, relative */
	double depth;                    /* IOs that are at it in the mean */
	double busy;                     /* share of the time in which one is */
} HybridPart;

typedef struct HybridPrediction {
	double iops, mb_s, watts, error_w;
	double mean_us, p50_us, p99_us;
	double half; /* of the times, relative: half a 95 % interval where the net was simulated */
	bool estimated;
	HybridPart of[TIER_STATIONS_MAX]; /* a device of each member */
} HybridPrediction;

/* mix->depth IOs are outstanding at all devices together. -EINVAL: shares that do not sum up to 1,
 * no device, more than TIER_STATIONS_MAX, or more IOs than HYBRID_DEPTH_MAX. Also -ENOMEM. */
int hybrid_predict(const HybridMember *members, size_t n, const Mix *mix, HybridPrediction *ret);
