/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The simulated hardware's memory: a file mapped by everyone who has the node open, so that it
 * outlives the daemon and a witness in another process sees the same hardware. */

#include <pthread.h>

#include "sim/sim-truth.h"

#define SIM_FEEDS_MAX 64

/* What one disk asks of its cache, and up to which step of its history that is known. */
typedef struct SimFeed {
	uint64_t seen;
	double mb_s[_DIRECTION_MAX];
} SimFeed;

typedef struct SimRecord {
	pthread_mutex_t lock; /* of everything below; never held while sleeping */
	char name[32];
	SimTruth truth;
	SimHistory history;
	SimFeed feeds[SIM_FEEDS_MAX]; /* of the disks that it is the cache of, in their order */
} SimRecord;

typedef struct SimHeader {
	uint64_t magic, version, hash;
	uint64_t record_size, n_records;
	uint64_t epoch_us; /* time 0 of the workloads */
} SimHeader;

typedef struct SimMemory {
	int fd;     /* shared lock held while open; -EBADF: anonymous */
	bool fresh; /* records are zeroed: the caller switches the devices on and calls ..._ready()
		     */
	bool alone; /* nobody else has it open */
	size_t size;
	SimHeader *header;
	SimRecord *records;
} SimMemory;

/* -EBUSY: the file is in use for another node. A file that does not fit is made anew. */
int sim_memory_open(const char *path, uint64_t hash, size_t n_records, SimMemory *ret);
/* Others may now open the file. */
int sim_memory_ready(SimMemory *m);
void sim_memory_close(SimMemory *m);

void sim_record_lock(SimRecord *r);
void sim_record_unlock(SimRecord *r);
