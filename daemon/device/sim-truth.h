/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The laws of nature for one simulated device: what it really draws and moves, given its registers,
 * its workload and its hidden errors. No clock, no locks. */

#include "device/sim-file.h"
#include "device/sim-registers.h"

#define SIM_PENDING_MAX 16
#define SIM_HISTORY_MAX 8192

/* What never changes while the node is open. */
typedef struct SimNature {
	const Profile *profile;
	const SimWorkload *workload;
	const SimFaultPlan *faults[16]; /* of this device only */
	unsigned n_faults;
	uint64_t seed;       /* of this device's chance */
	double watts_factor; /* hidden truth over model */
	double speed_factor;
	double ceiling_factor; /* how closely hardware keeps below its own ceilings, 0.98..1 */
	bool within_rated;     /* the node's error is no larger than the profile states */
	unsigned queues;
	uint64_t epoch_us; /* the workload's time 0 */
} SimNature;

/* The rates of a piece of time in which nothing changes. IOs are those at the device, split. */
typedef struct SimRates {
	double watts, mb_s;
	double ios[_DIRECTION_MAX], bytes[_DIRECTION_MAX]; /* a second */
	double sequential_ios, depth, io_joules;
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
	SimRates rates; /* from t_us on */
	double joules;
	double ios[_DIRECTION_MAX], bytes[_DIRECTION_MAX];
	double sequential_ios, latency_us, io_joules;
} SimTruth;

/* Where the true draw stepped to another value. */
typedef struct SimHistory {
	uint64_t n; /* ever; the last SIM_HISTORY_MAX are kept */
	struct {
		uint64_t t_us;
		double watts;
	} step[SIM_HISTORY_MAX];
} SimHistory;

/* The last prediction, which is dear, and what it was for. Zeroed: none. */
typedef struct SimForecast {
	bool valid;
	Setting setting;
	double watts, mb_s;
	double alone_us; /* latency of an IO that is alone at the device */
} SimForecast;

/* Power-on at t. */
void sim_truth_init(SimTruth *t, const SimNature *n, uint64_t now_us);
/* Could this have come about? A file may have been damaged. */
bool sim_truth_valid(const SimTruth *t);
/* Brings the truth to now_us; goes nowhere when it is there already. history may be NULL. */
void sim_truth_advance(SimTruth *t, const SimNature *n, SimForecast *cache, SimHistory *history,
		       uint64_t now_us);
/* Accepts a write. `lie`: it reads back and does nothing. */
void sim_truth_write(SimTruth *t, const SimNature *n, const SimChange *c, bool lie);
/* Makes everything pending effective. */
void sim_truth_settle(SimTruth *t, const SimNature *n);
void sim_truth_fault(SimTruth *t, const SimNature *n, SimFault fault);

double sim_nature_demand(const SimNature *n, uint64_t now_us, uint64_t *ret_until_us);
/* MB/s of a saturating workload on the registers r. */
double sim_nature_capacity(const SimNature *n, const SimRegisters *r);
/* The rates at which the registers r serve a demand, awake or in r's condition when it is 0. */
void sim_rates(const SimNature *n, const SimRegisters *r, SimForecast *cache, double demand_mb_s,
	       SimRates *ret);
