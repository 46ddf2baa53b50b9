/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Power sensors outside the drives: hwmon chips, the BMC's DCMI reading, RAPL, and those that come
 * with the devices. What a drive says of itself is DeviceOps.power; sensor_judge() is for all of
 * them. */

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "config/sensor-config.h"

typedef struct Sensor Sensor;

/* Opens nothing yet: a sensor that is not there is looked for at each reading. */
int sensor_new(const SensorConfig *config, const char *sysfs_root, Sensor **ret);
Sensor *sensor_free(Sensor *s); /* returns NULL */
DEFINE_CLEANUP(Sensor *, sensor_free);
/* Reads the watts that the sensor says now, which may take a second (a BMC). -ENOENT: there is no
 * such sensor; -EAGAIN: there is no reading yet (RAPL needs two); -ENODATA: it says that its
 * reading is not valid. */
int sensor_read(Sensor *s, double *ret_w);

/* What is known of a sensor's honesty. Zero at first. */
typedef struct SensorHealth {
	double last_w;
	double expected_w;                        /* a mean of late */
	double least_expected_w, most_expected_w; /* of that, since the reading last changed */
	unsigned repeated;
	char why_aside[96]; /* "": it is believed */
} SensorHealth;

/* Is the reading to be believed? r is what sensor_read() returned, expected_w what the model says
 * the same things draw now, and rated_w what they can draw at most. Errors, NaN, negative and
 * impossible values (over twice what they can draw) are set aside, and so is a reading that stays
 * the same to the last digit for half a minute while the expectation, once it has settled, moves by
 * a fifth of the rated power. The sensor is believed again as soon as none of that holds. */
bool sensor_judge(SensorHealth *h, int r, double watts, double expected_w, double rated_w);
