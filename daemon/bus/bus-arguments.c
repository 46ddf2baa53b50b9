/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/printable.h"
#include "bus/bus-internal.h"

#define TEXT_MAX 256

static int refuse_limit(sd_bus_error *error, const char *what)
{
	return sd_bus_error_setf(
		error, BUS_ERROR_INVALID_LIMIT,
		"The limit is %s: 0 to 100 with unit \"%%\", or 0 to 1e8 with unit "
		"\"W\", would be right",
		what);
}

static int check_limit(double value, const char *unit, LimitUnit *ret_unit, sd_bus_error *error)
{
	bool percent = streq(unit, "%");
	char sent[64];

	if (!percent && !streq(unit, "W"))
		return sd_bus_error_setf(
			error, BUS_ERROR_INVALID_LIMIT,
			"Unknown unit \"%s\": \"W\" (watts) or \"%%\" (percent of the "
			"operating power) would be right",
			printable_text(sent, sizeof(sent), unit));
	if (!isfinite(value))
		return refuse_limit(error, "not a finite number");
	if (value < 0)
		return refuse_limit(error, "negative");
	if (value > (percent ? 100 : LIMIT_MAX_W))
		return refuse_limit(error, percent ? "over 100 %" : "over 100 MW");
	*ret_unit = percent ? LIMIT_PERCENT : LIMIT_WATTS;
	return 0;
}

int bus_read_limit(sd_bus_message *m, double *ret_value, LimitUnit *ret_unit, sd_bus_error *error)
{
	const char *unit;
	double value;
	int r = sd_bus_message_read(m, "ds", &value, &unit);

	if (r >= 0)
		r = check_limit(value, unit, ret_unit, error);
	if (r >= 0)
		*ret_value = value;
	return r;
}

int bus_read_new_limit(sd_bus_message *m, ClaimChange *ret, sd_bus_error *error)
{
	const char *unit;
	int r = sd_bus_message_read(m, "ds", &ret->limit, &unit);

	if (r < 0 || !*unit)
		return r;
	ret->sets_limit = true;
	return check_limit(ret->limit, unit, &ret->unit, error);
}

/* Lists the names that would have been right, as many as a line takes. */
static void known_names(Bus *b, bool groups, char *buf, size_t size)
{
	DeviceState d;

	*buf = '\0';
	for (size_t i = 0; i < control_device_count(b->control); i++) {
		size_t n = strlen(buf);
		const char *name;

		if (control_device(b->control, i, &d) < 0)
			continue;
		name = groups ? d.device->group : d.device->name;
		if (!*name || (groups && strstr(buf, name)))
			continue;
		if (n + strlen(name) + sizeof(", ...") > size) {
			snprintf(buf + n, size - n, ", ...");
			return;
		}
		snprintf(buf + n, size - n, "%s%s", n ? ", " : "", name);
	}
	if (!*buf)
		snprintf(buf, size, "none");
}

int bus_check_device(Bus *b, const char *name, DeviceState *ret, sd_bus_error *error)
{
	char known[200], sent[TEXT_MAX];

	if (control_device_by_name(b->control, name, ret) >= 0)
		return 0;
	known_names(b, false, known, sizeof(known));
	return sd_bus_error_setf(error, BUS_ERROR_UNKNOWN_DEVICE,
				 "Unknown device \"%s\": there are %s",
				 printable_text(sent, sizeof(sent), name), known);
}

static int check_group(Bus *b, const char *name, sd_bus_error *error)
{
	char known[200];
	DeviceState d;

	for (size_t i = 0; i < control_device_count(b->control) && *name; i++)
		if (control_device(b->control, i, &d) >= 0 && streq(d.device->group, name))
			return 0;
	known_names(b, true, known, sizeof(known));
	return sd_bus_error_setf(error, BUS_ERROR_UNKNOWN_GROUP,
				 "Unknown group \"%s\": there are %s", name, known);
}

/* The name of a policy becomes the name of a file. */
int bus_check_policy_name(const char *name, sd_bus_error *error)
{
	char sent[TEXT_MAX];
	Unfit why;

	if (*name && *name != '.' && !strchr(name, '/') && is_printable(name, strlen(name), &why))
		return 0;
	return sd_bus_error_setf(error, BUS_ERROR_UNKNOWN_POLICY,
				 "\"%s\" is not the name of a policy: the name of a .policy file, "
				 "without folder and suffix, would be right",
				 printable_text(sent, sizeof(sent), name));
}

int bus_target_from_options(Bus *b, const BusOptions *o, Claim *claim, sd_bus_error *error)
{
	DeviceState d;

	if (o->device && o->group)
		return sd_bus_error_setf(
			error, BUS_ERROR_INVALID_OPTION,
			"Options \"device\" and \"group\" exclude each other: make "
			"two claims");
	if (o->device) {
		claim->scope = SCOPE_DEVICE;
		claim->target = (char *)o->device;
		return bus_check_device(b, o->device, &d, error);
	}
	if (o->group) {
		claim->scope = SCOPE_GROUP;
		claim->target = (char *)o->group;
		return check_group(b, o->group, error);
	}
	return 0;
}

/* A claim that pins a power state says of itself that it limits nothing. */
static int pin_from_options(const BusOptions *o, Claim *claim, sd_bus_error *error)
{
	if (o->power_state < 0)
		return 0;
	if (!o->device || o->standing)
		return sd_bus_error_set(error, BUS_ERROR_INVALID_OPTION,
					"Option \"power-state\" is for the time of a measurement: "
					"with option \"device\", and without \"standing\", would "
					"be right");
	if (claim->unit != LIMIT_PERCENT || claim->limit != 100)
		return sd_bus_error_set(error, BUS_ERROR_INVALID_LIMIT,
					"A claim with option \"power-state\" limits nothing: 100 "
					"with unit \"%\" would be right");
	claim->pins = true;
	claim->power_state = (unsigned)o->power_state;
	return 0;
}

int bus_check_class(const char *name, int *ret, sd_bus_error *error)
{
	int class = claim_class_from_name(name);

	if (class < 0)
		return sd_bus_error_setf(error, BUS_ERROR_INVALID_OPTION,
					 "Unknown class \"%s\": emergency, operator, signal or "
					 "schedule would be right",
					 name);
	*ret = class;
	return 0;
}

int bus_claim_from_options(Bus *b, const BusOptions *o, Claim *claim, sd_bus_error *error)
{
	uint64_t now = clock_now_us(&b->config.clock);
	int class = CLASS_OPERATOR;
	int r = o->class ? bus_check_class(o->class, &class, error) : 0;

	if (r < 0)
		return r;
	if (o->replace && o->start_in_seconds > 0)
		return sd_bus_error_setf(
			error, BUS_ERROR_INVALID_OPTION,
			"Options \"replace\" and \"start_in_seconds\" exclude each "
			"other: nothing would be limited until the start");
	claim->class = (ClaimClass) class;
	claim->replaces = o->replace;
	claim->tolerance_s = o->tolerance_seconds;
	claim->reason = (char *)(o->reason ?: "");
	claim->source = (char *)o->source;
	claim->created_us = now;
	if (o->start_in_seconds > 0)
		claim->start_us = now + (uint64_t)(o->start_in_seconds * USEC_PER_SEC);
	claim->expiry_us = USEC_NEVER;
	if (o->for_seconds > 0)
		claim->expiry_us =
			(claim->start_us ?: now) + 1 + (uint64_t)(o->for_seconds * USEC_PER_SEC);
	r = pin_from_options(o, claim, error);
	return r < 0 ? r : bus_target_from_options(b, o, claim, error);
}
