/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config/config-sensor.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "config/config-value.h"

static int set_text(char **to, const char *value)
{
	char *copy = strdup(value);

	if (!copy)
		return -ENOMEM;
	free(*to);
	*to = copy;
	return 0;
}

static int set_type(SensorConfig *s, const IniLine *l)
{
	int type = sensor_type_from_name(l->value);

	if (type < 0)
		return ini_complain(l, "type=%s: expected hwmon, dcmi or rapl", l->value);
	s->type = (SensorType)type;
	return 0;
}

/* Parts of a path below /sys, which must not lead out of it; DCMI's is a device file. */
static int set_part(const IniLine *l, char **to)
{
	if (!*l->value || (strchr(l->value, '/') && strncmp(l->value, "/dev/ipmi", 9) != 0) ||
	    strstr(l->value, ".."))
		return ini_complain(l, "%s=%s: expected a name such as power1, or /dev/ipmi0",
				    l->key, l->value);
	return set_text(to, l->value);
}

static int set_chip(SensorConfig *s, const IniLine *l)
{
	return set_part(l, &s->chip);
}

static int set_input(SensorConfig *s, const IniLine *l)
{
	return set_part(l, &s->input);
}

static int set_less(SensorConfig *s, const IniLine *l)
{
	return set_text(&s->less, l->value);
}

static int set_of(SensorConfig *s, const IniLine *l)
{
	static const struct {
		const char *word;
		SensorScope scope;
		bool named;
	} scopes[] = { { "node", SENSOR_OF_NODE, false },
		       { "host", SENSOR_OF_HOST, false },
		       { "group", SENSOR_OF_GROUP, true },
		       { "device", SENSOR_OF_DEVICE, true } };
	_cleanup_(strv_freep) char **words = strv_split(l->value);

	if (!words)
		return -ENOMEM;
	for (size_t i = 0; words[0] && i < ELEMENTSOF(scopes); i++) {
		if (!streq(words[0], scopes[i].word) || scopes[i].named != (words[1] != NULL) ||
		    (words[1] && words[2]))
			continue;
		s->scope = scopes[i].scope;
		return set_text(&s->target, words[1] ?: "");
	}
	return ini_complain(l, "of=%s: expected node, host, group NAME or device NAME", l->value);
}

static int set_subtract(SensorConfig *s, const IniLine *l)
{
	return config_set_watts(l, &s->subtract_w);
}

int config_sensor_key(SensorConfig *s, const IniLine *l)
{
	static const struct {
		const char *name;
		int (*set)(SensorConfig *s, const IniLine *l);
	} keys[] = {
		{ "type", set_type }, { "chip", set_chip }, { "input", set_input },
		{ "of", set_of },     { "less", set_less }, { "subtract", set_subtract },
	};

	for (size_t i = 0; i < ELEMENTSOF(keys); i++)
		if (streq(keys[i].name, l->key))
			return keys[i].set(s, l);
	return ini_complain(l,
			    "unknown key \"%s\" in [%s]: type, chip, input, of, less and "
			    "subtract are known",
			    l->key, l->section);
}

bool config_sensor_complete(const SensorConfig *s)
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
		log_warning("[sensor %s]: %s is missing; the sensor is not used", s->name, missing);
	else if (s->type == SENSOR_RAPL && s->scope != SENSOR_OF_HOST)
		log_warning("[sensor %s]: RAPL measures processors, never storage: say of=host; "
			    "the sensor is not used",
			    s->name);
	else
		return true;
	return false;
}
