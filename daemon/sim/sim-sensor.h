/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The node file's [sensor NAME] sections: power sensors beside the devices, late, noisy, biased and
 * at times silent. */

#include "sim/sim-node.h"

struct SimSensor {
	const SimSensorPlan *plan;
	SimNode *node;
	uint64_t seed;
};

/* Makes them. -EINVAL, complained of: one measures a device that there is not. */
int sim_sensors_build(SimNode *n);
