/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Private to the sensors: one file a type. */

#include "sensor/sensor.h"

struct Sensor {
	SensorConfig config;
	char *sysfs_root;
	char *path;        /* as found; NULL: to be looked for */
	int fd;            /* DCMI */
	double last_j;     /* RAPL: the counter at the last reading... */
	uint64_t last_us;  /* ...which was then; 0: none yet */
	unsigned long seq; /* DCMI: of the request that is waited for */
};

int sensor_hwmon_read(Sensor *s, double *ret_w);
int sensor_dcmi_read(Sensor *s, double *ret_w);
int sensor_rapl_read(Sensor *s, double *ret_w);
