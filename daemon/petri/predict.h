/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a tier of devices does under so many requests: what a table of measured points cannot say is
 * how its response time is distributed. Pure; the service times are the caller's. */

#include "petri/simulate.h"
#include "petri/tier.h"

/* How far to go for a prediction. */
typedef struct TierEffort {
	size_t max_states; /* a net of more is simulated */
	uint64_t seed;     /* of the simulation */
	uint64_t firings;  /* of each of its PETRI_BATCHES batches */
} TierEffort;

#define TIER_EFFORT_DEFAULT ((TierEffort){ .max_states = 1000000, .seed = 1, .firings = 100000 })

typedef struct TierPrediction {
	PetriInterval iops, response_s; /* `half` is 0 where the net was solved */
	double operations_w; /* energy of the requests a second; idle power is not in it */
	double p50_s, p99_s; /* NaN where even one station has more than max_states */
	double busy[TIER_STATIONS_MAX]; /* share of the station's devices at work */
	size_t n_states;                /* 0: simulated */
} TierPrediction;

/* Solves the net, or simulates it where it is too large or converges too slowly. Fails with -EINVAL
 * (a tier that makes no sense) and -ENOMEM. */
int tier_predict(const Tier *t, const TierEffort *effort, TierPrediction *ret);
