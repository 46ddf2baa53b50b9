/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the configuration says of power sensors; sensor/ reads them. */

#include <stdbool.h>

typedef enum SensorType {
	SENSOR_HWMON,
	SENSOR_DCMI,
	SENSOR_RAPL,
	SENSOR_BUILT_IN, /* comes with the devices; no configuration can name it */
	_SENSOR_TYPE_MAX
} SensorType;

/* What the reading is of. RAPL measures processors and memory, never storage: the host alone. */
typedef enum SensorScope {
	SENSOR_OF_NODE,
	SENSOR_OF_GROUP,
	SENSOR_OF_DEVICE,
	SENSOR_OF_HOST, /* what is not storage; to be taken off others by "less" */
	_SENSOR_SCOPE_MAX,
} SensorScope;

/* What follows "of =". */
typedef struct SensorTarget {
	SensorScope scope;
	char *name; /* of the device or group; "" where there is nothing to name */
} SensorTarget;

/* One [sensor NAME] section of the configuration, or a sensor that comes with the devices. */
typedef struct SensorConfig {
	char *name;
	char *at; /* "FILE:LINE" of the first section; NULL: it comes with the devices */
	SensorType type;
	char *chip;  /* hwmon: its name, or NAME@DEVICE where several are alike (ltc4215@2-0044) */
	char *input; /* hwmon: "power1"; RAPL: the zone, "intel-rapl:0"; DCMI: "/dev/ipmi0" */
	SensorScope scope;
	char *target;      /* name of the device or group */
	double subtract_w; /* fans, boards: what it measures besides, always */
	char *less;        /* name of the sensor whose reading is taken off this one; NULL: none */
	/* SENSOR_BUILT_IN: what sensor_read() calls, from any thread, with the source */
	int (*read)(void *source, double *ret_w);
	void *source;
} SensorConfig;

const char *sensor_type_name(SensorType t); /* "hwmon", "dcmi", "rapl" */
int sensor_type_from_name(const char *name);
/* "node", "host", "group NAME" or "device NAME"; ret->name is freed and set. -EINVAL: none of them.
 */
int sensor_target_parse(const char *text, SensorTarget *ret);
/* Is all there that a sensor of its type needs? Else complains, once for the section. */
bool sensor_config_complete(const SensorConfig *c);
void sensor_config_done(SensorConfig *c);
