/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a workload asks for over time. A pure function of time, constant in pieces, so that physics
 * can be computed exactly and only when somebody looks. */

#include "base/ini.h"
#include "model/predict.h"

typedef enum SimDemandKind {
	SIM_IDLE,
	SIM_SATURATE, /* as much as the device gives */
	SIM_STEPS,    /* MB/s from given times on, optionally repeated */
	SIM_SINE,     /* mean +- swing over a period, in steps of a 360th of it */
	SIM_BURST,    /* `high` for `on`, once somewhere in every on + off; else `low` */
} SimDemandKind;

typedef struct SimStep {
	uint64_t at_us;
	double mb_s;
} SimStep;

typedef struct SimDemand {
	SimDemandKind kind;
	SimStep *steps;
	size_t n_steps;
	uint64_t repeat_us; /* 0: the last step stays */
	double mean_mb_s, swing_mb_s;
	uint64_t period_us; /* of the sine */
	uint64_t peak_us;   /* when it is highest; 0: every device has a phase of its own */
	double high_mb_s, low_mb_s;
	uint64_t on_us, off_us;
} SimDemand;

/* "saturate", "idle", "constant 800MB/s", "0:200 10min:800 ...", "sine mean=.. swing=.. period=..",
 * "burst high=.. low=.. on=.. off=..". Complains at the line. */
int sim_demand_parse(const IniLine *l, SimDemand *d);
void sim_demand_clear(SimDemand *d);

/* MB/s asked for at t (since the node's start) by the device with this seed; INFINITY: saturates.
 * *ret_until: when that may change, UINT64_MAX never. */
double sim_demand_at(const SimDemand *d, uint64_t seed, uint64_t t_us, uint64_t *ret_until_us);
