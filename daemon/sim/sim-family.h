/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What all devices of one profile truly draw more or less than it says, because they are alike and
 * the profile's source was not: the part of the error that no average over devices takes away. A
 * pure function of time, constant in pieces. */

#include <stdint.h>

#include "base/ini.h"

/* The error moves to another value within +-most once a period, in small steps. */
typedef struct SimDrift {
	double most;        /* 0: it stays */
	uint64_t period_us; /* at least a minute */
} SimDrift;

typedef struct SimFamily {
	double error; /* of the dynamic watts; 0.1: a tenth more than the profile says */
	SimDrift drift;
	uint64_t seed; /* of the drift; one for all devices of the profile */
} SimFamily;

/* The error at t (since the node's start), within error +- drift.most. *ret_until: when it may
 * change, UINT64_MAX never. */
double sim_family_at(const SimFamily *f, uint64_t t_us, uint64_t *ret_until_us);

#define SIM_AN_ERROR "a share with its sign from -50% to +100%, such as +10%"
#define SIM_A_DRIFT                                                                                \
	"how far the error moves to either side (up to 25%) and in what time (at least a "         \
	"minute), such as 5%/h or 3%/30min"

/* For tables of keys: "+10%" into a double, "5%/h" into a SimDrift. */
int sim_take_error(const IniLine *l, void *member);
int sim_take_drift(const IniLine *l, void *member);
