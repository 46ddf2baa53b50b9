/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config/sensor-config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"

static const char *const type_names[] = {
	[SENSOR_HWMON] = "hwmon",
	[SENSOR_DCMI] = "dcmi",
	[SENSOR_RAPL] = "rapl",
	[SENSOR_BUILT_IN] = "built-in",
};

const char *sensor_type_name(SensorType t)
{
	return type_names[t];
}

int sensor_type_from_name(const char *name)
{
	for (size_t i = 0; i < SENSOR_BUILT_IN; i++)
		if (streq(type_names[i], name))
			return (int)i;
	return -EINVAL;
}

int sensor_target_parse(const char *text, SensorTarget *ret)
{
	static const struct {
		const char *word;
		SensorScope scope;
		bool named;
	} scopes[] = { { "node", SENSOR_OF_NODE, false },
		       { "host", SENSOR_OF_HOST, false },
		       { "group", SENSOR_OF_GROUP, true },
		       { "device", SENSOR_OF_DEVICE, true } };
	_cleanup_(strv_freep) char **words = strv_split(text);

	if (!words)
		return -ENOMEM;
	for (size_t i = 0; words[0] && i < ELEMENTSOF(scopes); i++) {
		char *name;

		if (!streq(words[0], scopes[i].word) || scopes[i].named != (words[1] != NULL) ||
		    (words[1] && words[2]))
			continue;
		name = strdup(words[1] ?: "");
		if (!name)
			return -ENOMEM;
		free(ret->name);
		ret->name = name;
		ret->scope = scopes[i].scope;
		return 0;
	}
	return -EINVAL;
}

void sensor_config_done(SensorConfig *c)
{
	free(c->name);
	free(c->at);
	free(c->chip);
	free(c->input);
	free(c->target);
	free(c->less);
}

bool sensor_config_complete(const SensorConfig *s)
{
	const char *missing = NULL;

	if (!s->target)
		missing = "of= (node, host, group NAME or device NAME)";
	else if (s->type == SENSOR_HWMON && !s->chip)
		missing = "chip= (what /sys/class/hwmon/hwmonN/name says)";
	else if (s->type == SENSOR_HWMON && !s->input)
		missing = "input= (power1, power2, ...)";
	else if (s->type == SENSOR_RAPL && !s->input)
		missing = "input= (a zone of /sys/class/powercap, such as intel-rapl:0)";
	if (missing)
		log_warning("%s: [sensor %s]: %s is missing; the sensor is not used", s->at,
			    s->name, missing);
	else if (s->type == SENSOR_RAPL && s->scope != SENSOR_OF_HOST)
		log_warning(
			"%s: [sensor %s]: RAPL measures processors, never storage: say of=host; "
			"the sensor is not used",
			s->at, s->name);
	else
		return true;
	return false;
}
