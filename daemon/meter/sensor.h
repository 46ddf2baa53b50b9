/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Power sensors outside the drives: hwmon chips, the BMC's DCMI reading, RAPL. What a drive says of
 * itself is DeviceOps.power; sensor_judge() is for all of them. */

#include "base/cleanup.h"
#include <stdbool.h>
#include <stdint.h>

typedef enum SensorType { SENSOR_HWMON, SENSOR_DCMI, SENSOR_RAPL, _SENSOR_TYPE_MAX } SensorType;

/* What the reading is of. RAPL measures processors and memory, never storage: the host alone. */
typedef enum SensorScope {
	SENSOR_OF_NODE,
	SENSOR_OF_GROUP,
	SENSOR_OF_DEVICE,
	SENSOR_OF_HOST, /* what is not storage; to be taken off others by "less" */
	_SENSOR_SCOPE_MAX,
} SensorScope;

/* One [sensor NAME] section of the configuration. */
typedef struct SensorConfig {
	char *name;
	SensorType type;
	char *chip;  /* hwmon: its name, or NAME@DEVICE where several are alike (ltc4215@2-0044) */
	char *input; /* hwmon: "power1"; RAPL: the zone, "intel-rapl:0"; DCMI: "/dev/ipmi0" */
	SensorScope scope;
	char *target;      /* name of the device or group */
	double subtract_w; /* fans, boards: what it measures besides, always */
	char *less;        /* name of the sensor whose reading is taken off this one; NULL: none */
} SensorConfig;

const char *sensor_type_name(SensorType t); /* "hwmon", "dcmi", "rapl" */
int sensor_type_from_name(const char *name);
void sensor_config_done(SensorConfig *c);

typedef struct Sensor Sensor;

/* Opens nothing yet: a sensor that is not there is looked for at each reading. */
int sensor_new(const SensorConfig *config, const char *sysfs_root, Sensor **ret);
Sensor *sensor_free(Sensor *s); /* returns NULL */
DEFINE_CLEANUP(Sensor *, sensor_free);
/* Watts as the sensor says, now; may take a second (a BMC). -ENOENT: no such sensor; -EAGAIN: no
 * reading yet (RAPL needs two); -ENODATA: it says that its reading is not valid. */
int sensor_read(Sensor *s, double *ret_w);

/* What is known of a sensor's honesty. Zero at first. */
typedef struct SensorHealth {
	double last_w;
	double least_expected_w, most_expected_w; /* since the reading last changed */
	unsigned repeated;
	char why_aside[96]; /* "": it is believed */
} SensorHealth;

/* Is the reading to be believed? r is what the reading call returned; expected_w what the model
 * says the same things draw now, rated_w what they can draw at most. Set aside are: errors, NaN,
 * negative and impossible values (over twice what they can draw), and a reading that stays the
 * same to the last digit for half a minute while the expectation has moved by a fifth of the rated
 * power. Believed again as soon as none of that holds. */
bool sensor_judge(SensorHealth *h, int r, double watts, double expected_w, double rated_w);
