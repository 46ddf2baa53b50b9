/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "ctl/calibrate-real.h"

/* As the daemon takes every sensor to be. */
#define SENSOR_ERROR 0.02

/* Columns of the property Sensors. */
enum { SENSOR_NAME, SENSOR_TYPE, SENSOR_SCOPE, SENSOR_TARGET, SENSOR_WATTS, SENSOR_WHY_NOT };

static const char *cell(json_object *sensor, size_t column)
{
	json_object *o = json_object_array_get_idx(sensor, column);

	return o ? json_object_get_string(o) : "";
}

static double watts_of(json_object *sensor)
{
	json_object *o = json_object_array_get_idx(sensor, SENSOR_WATTS);

	return o && !*cell(sensor, SENSOR_WHY_NOT) ? json_object_get_double(o) : NAN;
}

/* The sensor of this scope and target that tells watts. */
static json_object *find_sensor(json_object *state, const char *scope, const char *target)
{
	json_object *sensors = json_member(state, "Sensors");

	for (size_t i = 0; i < json_count(sensors); i++) {
		json_object *s = json_object_array_get_idx(sensors, i);

		if (streq(cell(s, SENSOR_SCOPE), scope) &&
		    (!*target || streq(cell(s, SENSOR_TARGET), target)) && !isnan(watts_of(s)))
			return s;
	}
	return NULL;
}

bool calibrate_find_meter(json_object *state, json_object *devices, json_object *device,
			  CalibrateMeter *ret)
{
	const char *name = json_text(device, "Name"), *group = json_text(device, "Group");
	json_object *sensor = NULL;

	*ret = (CalibrateMeter){};
	snprintf(ret->device, sizeof(ret->device), "%s", name);
	if (!isnan(json_number(device, "MeasuredPower"))) {
		sensor = find_sensor(state, "device", name);
		snprintf(ret->sensor, sizeof(ret->sensor), "%s",
			 sensor ? cell(sensor, SENSOR_NAME) : "the device's own");
		return true;
	}
	if (*group)
		sensor = find_sensor(state, "group", group);
	if (sensor)
		snprintf(ret->group, sizeof(ret->group), "%s", group);
	else
		sensor = find_sensor(state, "node", "");
	if (!sensor)
		return false;
	ret->shared = json_count(devices) > 1;
	snprintf(ret->sensor, sizeof(ret->sensor), "%s", cell(sensor, SENSOR_NAME));
	return true;
}

static bool is_behind(const CalibrateMeter *m, json_object *device)
{
	return !*m->group || streq(json_text(device, "Group"), m->group);
}

static double others_w(const CalibrateMeter *m, json_object *devices, const char *key)
{
	double sum = 0;

	for (size_t i = 0; m->shared && i < json_count(devices); i++) {
		json_object *d = json_object_array_get_idx(devices, i);
		double w = json_number(d, key);

		if (is_behind(m, d) && !streq(json_text(d, "Name"), m->device))
			sum += isnan(w) ? json_number(d, "EstimatedPower") : w;
	}
	return sum;
}

double calibrate_read_meter(const CalibrateMeter *m, json_object *state, json_object *devices)
{
	json_object *device = ctl_find_device(devices, m->device), *sensor;
	double own = json_number(device, "MeasuredPower");

	if (!isnan(own))
		return own;
	sensor = *m->group ? find_sensor(state, "group", m->group) : find_sensor(state, "node", "");
	return sensor ? watts_of(sensor) - others_w(m, devices, "MeasuredPower") : NAN;
}

double calibrate_meter_error(const CalibrateMeter *m, json_object *state, json_object *devices)
{
	double own = calibrate_read_meter(m, state, devices);
	double others = others_w(m, devices, "MeasuredPower");

	/* what the sensor is off by, of all that it measures, is the device's error */
	return own > 0 ? SENSOR_ERROR * (own + others) / own : SENSOR_ERROR;
}
