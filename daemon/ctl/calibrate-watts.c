/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "ctl/calibrate-real.h"

/* As the daemon takes every sensor to be, where it does not say. */
#define SENSOR_ERROR 0.02

bool calibrate_find_meter(json_object *device, CalibrateMeter *ret)
{
	const char *of = json_text(device, "SensedOf");

	*ret = (CalibrateMeter){ .shared = *of && !streq(of, "device") };
	snprintf(ret->device, sizeof(ret->device), "%s", json_text(device, "Name"));
	snprintf(ret->sensor, sizeof(ret->sensor), "%s", json_text(device, "SensedBy"));
	return !isnan(json_number(device, "SensedPower"));
}

double calibrate_read_meter(const CalibrateMeter *m, json_object *devices)
{
	json_object *device = ctl_find_device(devices, m->device);

	return device ? json_number(device, "SensedPower") : NAN;
}

double calibrate_meter_error(const CalibrateMeter *m, json_object *devices)
{
	json_object *device = ctl_find_device(devices, m->device);
	double watts = calibrate_read_meter(m, devices);
	double error_w = device ? json_number(device, "SensedPowerError") : NAN;

	return watts > 0 && !isnan(error_w) ? error_w / watts : SENSOR_ERROR;
}
