/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How long IOs take at a device: a Petri net of it, fitted to what its profile says. A profile's
 * points tell the mean alone. Pure. */

#include "model/predict.h"

/* One station: so many servers behind one queue, and so many IOs that always wait or are served. */
typedef struct ResponseQueue {
	double depth;     /* IOs outstanding */
	unsigned servers; /* at least 1, and at most the depth */
	/* Of an IO alone at the device; only their ratio counts, because the times are scaled. */
	double service_s, deviation_s;
	double iops; /* that the device serves at this depth */
} ResponseQueue;

typedef struct Response {
	double mean_us, p50_us, p99_us;
	bool p99_measured; /* it is a point's of the profile */
	bool estimated; /* the profile's figures are, or how much service times differ is assumed */
	unsigned servers;
} Response;

/* -EINVAL: a queue that makes no sense. Also -ENOMEM. p99_measured and estimated are false. */
int response_of_queue(const ResponseQueue *q, Response *ret);

/* The device in this setting as such a queue; at: what it does under the workload. True: how much
 * the service times differ is assumed. */
bool response_queue(const Profile *p, const Mix *mix, const Setting *s, const Prediction *at,
		    ResponseQueue *ret);
/* Of a queue with so many servers, whose service has so many phases: the states of its net. */
double response_states(unsigned requests, unsigned servers, unsigned phases);

/* Of an IO at the device in this setting, under a workload that saturates it. An IO's service time
 * is what it takes alone (depth 1), the servers are as many as give the device's most throughput at
 * that time each, and all is scaled so that the net serves what predict() says (Little's law). How
 * much service times differ is told by the 99th percentile of a point of depth 1. A
 * point's own 99th percentile comes first, and it never falls with the depth. -ENODATA: the device
 * sleeps. */
int response_predict(const Profile *p, const Mix *mix, const Setting *s, Response *ret);
