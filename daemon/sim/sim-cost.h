/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* io.cost of one device, as block/blk-iocost.c of the kernel (6.1 to 7.2) keeps, prints and parses
 * it. */

#include "model/predict.h"

typedef enum SimCoefficient {
	SIM_BPS,
	SIM_SEQIOPS,
	SIM_RANDIOPS,
	_SIM_COEFFICIENT_MAX
} SimCoefficient;

/* Plain data: lives in the registers file. Shares and rates in parts per million. */
typedef struct SimCost {
	uint64_t model[_DIRECTION_MAX][_SIM_COEFFICIENT_MAX];
	uint64_t share_ppm[_DIRECTION_MAX];
	uint64_t latency_us[_DIRECTION_MAX];
	uint64_t min_ppm, max_ppm;
	uint8_t exists; /* the kernel has no line for a device that was never written */
	uint8_t enabled;
	uint8_t user_model, user_qos;
} SimCost;

/* The kernel's defaults for the kind of device. */
void sim_cost_init(SimCost *c, DeviceKind kind);
/* The line without MAJ:MIN; "" while there is none. -ENOENT: no such file. */
int sim_cost_print(const SimCost *c, const char *file, char *buf, size_t size);
/* Writes a line into *c. -EINVAL leaves *c alone. */
int sim_cost_parse(SimCost *c, const char *file, const char *line, DeviceKind kind);
/* IOs of this mix that are let through a second; INFINITY when not enabled. */
double sim_cost_iops(const SimCost *c, const Mix *mix);
