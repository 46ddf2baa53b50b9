/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Storage as a net: so many requests go round; each is sent to one of several stations, waits there
 * until one of the station's devices is free, is served by it, and comes again. After Borba,
 * Tavares and Maciel, "Analytical models for performance and energy consumption evaluation of
 * storage devices". The class of a request is drawn when its service begins, not while it waits:
 * the same law, because each request's class is independent of all others, with far fewer states.
 */

#include "petri/net.h"
#include "petri/phase.h"

#define TIER_STATIONS_MAX   8
#define STATION_CLASSES_MAX 8

/* Requests of one kind. */
typedef struct ServiceClass {
	double share;    /* of the station's requests; the shares of a station sum up to 1 */
	double energy_j; /* of one request */
	PhaseType service;
} ServiceClass;

/* Devices that share one queue, first come, first served. Devices with a queue each are a station
 * each. */
typedef struct Station {
	unsigned devices;
	double share; /* of the tier's requests; the shares of a tier sum up to 1 */
	ServiceClass classes[STATION_CLASSES_MAX];
	unsigned n_classes;
} Station;

typedef struct Tier {
	unsigned requests; /* how many go round: the depth */
	double think_s;    /* mean time between an answer and the next request, above 0 */
	double transfer_s; /* mean time in which the answer is handed over by the device; may be 0
			    */
	Station stations[TIER_STATIONS_MAX];
	unsigned n_stations;
} Tier;

typedef struct StationPlaces {
	unsigned first, n; /* all of the station's places */
	unsigned idle;     /* one token for each idle device */
	unsigned transfer; /* requests in their transfer */
} StationPlaces;

typedef struct TierNet {
	PetriNet net;
	unsigned thinking;   /* place: requests that nobody serves or keeps waiting */
	unsigned requesting; /* transition: a request sets out */
	StationPlaces stations[TIER_STATIONS_MAX];
} TierNet;

/* -EINVAL: shares that do not sum up to 1, no request or device, or too many of anything. */
int tier_net_build(const Tier *t, TierNet *ret);
void tier_net_done(TierNet *n);

/* What one more request goes through at a station, alone, until it has been answered; then nothing
 * fires any more. First come, first served: whoever comes later makes no difference. Its places
 * from PASSAGE_STATION on are those of the station in the tier's net, in the same order. */
enum { PASSAGE_ANSWERED, PASSAGE_WAITING, PASSAGE_STATION };
int station_passage_build(const Tier *t, const Station *s, PetriNet *ret);
