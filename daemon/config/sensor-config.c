/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config/sensor-config.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/text.h"

static const char *const type_names[] = {
	[SENSOR_HWMON] = "hwmon",
	[SENSOR_DCMI] = "dcmi",
	[SENSOR_RAPL] = "rapl",
};

const char *sensor_type_name(SensorType t)
{
	return type_names[t];
}

int sensor_type_from_name(const char *name)
{
	for (size_t i = 0; i < ELEMENTSOF(type_names); i++)
		if (streq(type_names[i], name))
			return (int)i;
	return -EINVAL;
}

void sensor_config_done(SensorConfig *c)
{
	free(c->name);
	free(c->chip);
	free(c->input);
	free(c->target);
	free(c->less);
}
