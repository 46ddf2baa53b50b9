/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The physics of one simulated device: what it really draws and moves, given its registers, its
 * workload and its hidden errors. It has no clock and no locks. */

#include "sim/sim-file.h"
#include "sim/sim-registers.h"

#define SIM_PENDING_MAX 16
#define SIM_HISTORY_MAX 8192

/* What a device has to do, in the order in which it comes first. */
typedef enum SimWork {
	SIM_FED, /* for the disks that it is the cache of */
	SIM_OWN, /* its own workload, as far as it gets here */
	SIM_WRITEBACK,
	SIM_REBUILD,
	_SIM_WORK_MAX,
} SimWork;

typedef struct SimStream {
	Mix mix;
	double mb_s; /* asked for; INFINITY: as much as it gives */
} SimStream;

/* The planned faults of one device. */
typedef struct SimFaultsOf {
	const SimFaultPlan *plan[16];
	unsigned n;
} SimFaultsOf;

/* What never changes while the node is open. */
typedef struct SimNature {
	const Profile *profile;
	const SimWorkload *workload;
	SimFaultsOf faults;
	SimFamily family; /* how its profile is wrong of all its devices */
	SimBurstOf burst;
	uint64_t seed;       /* of this device's chance */
	uint64_t load_seed;  /* of its workload's; one for all disks of a pool */
	double watts_factor; /* hidden truth over model, of this device alone */
	double speed_factor;
	double ceiling_factor; /* how closely hardware keeps below its own ceilings, 0.98..1 */
	bool within_rated;     /* its own error is no larger than the profile states */
	double io_longer_us;   /* each IO takes so much longer than the profile says */
	double io_serial_us; /* and so much for each that is outstanding with it, itself included */
	unsigned queues;
	uint64_t epoch_us;   /* the workload's time 0 */
	double cache_bytes;  /* of the cache above it; 0: none */
	double cached_reads; /* share of its reads that the cache can serve */
} SimNature;

/* The rates of a piece of time in which nothing changes. IOs are those at the device, split. */
typedef struct SimRates {
	double watts;
	double mb_s; /* of the workload, wherever it is served */
	double ios[_DIRECTION_MAX], bytes[_DIRECTION_MAX]; /* at the device, a second */
	double sequential_ios, depth, io_joules;
	double work_mb_s[_SIM_WORK_MAX]; /* served of each */
	double read_us;                  /* that a read of its own takes; 0 none */
	double own_reads;                /* of the workload, at the device, a second */
	/* the workload's, a second */
	double asked_mb_s, asked_ios[_DIRECTION_MAX], failed[_DIRECTION_MAX];
	double held_mb_s, cached_reads, cached_mb_s;
	double fed_mb_s[_DIRECTION_MAX]; /* what the cache above has to do for it */
} SimRates;

/* What changes. Plain data: lives in the registers file. */
typedef struct SimTruth {
	uint64_t t_us;      /* all below holds at this time */
	SimRegisters told;  /* what reads back */
	SimRegisters real;  /* what physics obeys */
	uint64_t n_pending; /* accepted, not yet effective; by effective_us */
	SimChange pending[SIM_PENDING_MAX];
	uint64_t serves_us; /* waking up: serves IO from then on */
	uint64_t awake_us;  /* ... and draws wake_w until then */
	double wake_w;
	uint64_t awake_state;                /* NVMe: the last operational state set */
	uint32_t fault;                      /* SimFault */
	uint32_t faults_begun, faults_ended; /* bits: of nature->faults */
	uint32_t n_resets, n_departures;
	uint8_t gone;
	uint8_t marked_dirty;            /* the disk's superblock says that the cache holds data */
	uint8_t bypassed;                /* the cache is too full: writes go past it */
	uint64_t waiting_since_us;       /* IO waits for the disk to come back; 0 none */
	double waiting_reads;            /* and so many of it are reads */
	double dirty_bytes;              /* in the cache and not on the disk */
	uint64_t drained_us;             /* since when there are none; 0 the superblock says so */
	double fed_mb_s[_DIRECTION_MAX]; /* asked of this one, as a cache */
	SimRates rates;                  /* from t_us on */
	double joules;
	double ios[_DIRECTION_MAX], bytes[_DIRECTION_MAX];
	double sequential_ios, latency_us, io_joules;
	SimAccount account; /* but for joules and dirty_bytes, which are above */
} SimTruth;

/* A moment at which the true draw, or what the disk asks of its cache, stepped to another value. */
typedef struct SimPoint {
	uint64_t t_us;
	double watts;
	float fed_mb_s[_DIRECTION_MAX];
} SimPoint;

typedef struct SimHistory {
	uint64_t n; /* ever; the last SIM_HISTORY_MAX are kept */
	SimPoint step[SIM_HISTORY_MAX];
} SimHistory;

/* Keeps the last prediction for each work, because a prediction is expensive, and what it was for.
 * Zeroed: none. */
typedef struct SimForecast {
	struct SimForecastOf {
		bool valid;
		Setting setting;
		Mix mix;
		double watts, mb_s;
		double alone_us; /* latency of an IO that is alone at the device */
	} of[_SIM_WORK_MAX];
} SimForecast;

/* What rates depend on besides the device's nature and its work. */
typedef struct SimMoment {
	const SimRegisters *registers;
	double family_error; /* of the dynamic watts, now */
	SimForecast *cache;
} SimMoment;

/* Power-on at t. */
void sim_truth_init(SimTruth *t, const SimNature *n, uint64_t now_us);
/* Could this state have come about? A file may have been damaged. */
bool sim_truth_valid(const SimTruth *t);
/* Brings the truth to now_us, and does nothing when it is there already. history may be NULL. */
void sim_truth_advance(SimTruth *t, const SimNature *n, SimForecast *cache, SimHistory *history,
		       uint64_t now_us);
/* Accepts a write. With `lie` the write reads back, but does nothing. */
void sim_truth_write(SimTruth *t, const SimNature *n, const SimChange *c, bool lie);
/* Does it sleep, and will it stay asleep? */
bool sim_truth_stuck(const SimTruth *t);
/* Makes everything pending effective. */
void sim_truth_settle(SimTruth *t, const SimNature *n);
void sim_truth_fault(SimTruth *t, const SimNature *n, SimFault fault);

/* MB/s asked for, bursts included. */
double sim_nature_demand(const SimNature *n, uint64_t now_us, uint64_t *ret_until_us);
double sim_nature_family_error(const SimNature *n, uint64_t now_us, uint64_t *ret_until_us);
/* MB/s of a saturating workload on the registers r, as the profile has it. */
double sim_nature_capacity(const SimNature *n, const SimRegisters *r);
/* The rates at which the registers r serve the work, awake; or in r's condition when there is none.
 */
void sim_rates(const SimNature *n, const SimMoment *m, const SimStream work[_SIM_WORK_MAX],
	       SimRates *ret);
