/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/printable.h"
#include "bus/bus-internal.h"

#define TEXT_MAX     256
#define SECONDS_MAX  (366.0 * 86400)
#define POWER_STATES 32 /* of an NVMe drive */

static int refuse_limit(sd_bus_error *error, const char *what)
{
	return sd_bus_error_setf(
		error, BUS_ERROR_INVALID_LIMIT,
		"The limit is %s: 0 to 100 with unit \"%%\", or 0 to 1e8 with unit "
		"\"W\", would be right",
		what);
}

int bus_read_limit(sd_bus_message *m, double *ret_value, LimitUnit *ret_unit, sd_bus_error *error)
{
	const char *unit;
	char sent[64];
	double value;
	bool percent;
	int r = sd_bus_message_read(m, "ds", &value, &unit);

	if (r < 0)
		return r;
	percent = streq(unit, "%");
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
	*ret_value = value;
	*ret_unit = percent ? LIMIT_PERCENT : LIMIT_WATTS;
	return 0;
}

typedef int (*OptionReader)(sd_bus_message *m, const char *name, char type, void *ret,
			    sd_bus_error *error);

static int wrong_type(sd_bus_error *error, const char *name, const char *right)
{
	return sd_bus_error_setf(error, BUS_ERROR_INVALID_OPTION,
				 "Option \"%s\" has the wrong type: %s would be right", name,
				 right);
}

/* Claims are shown on terminals and logged, which their texts must not steer. */
static int read_text(sd_bus_message *m, const char *name, char type, void *ret, sd_bus_error *error)
{
	const char *text;
	Unfit why;
	int r;

	if (type != 's')
		return wrong_type(error, name, "a string");
	r = sd_bus_message_read_basic(m, 's', &text);
	if (r < 0)
		return r;
	if (strlen(text) > TEXT_MAX)
		return sd_bus_error_setf(error, BUS_ERROR_INVALID_OPTION,
					 "Option \"%s\" is longer than %d bytes", name, TEXT_MAX);
	if (!is_printable(text, strlen(text), &why))
		return sd_bus_error_setf(
			error, BUS_ERROR_INVALID_OPTION,
			"Option \"%s\" has %s: one line of plain text would be right", name,
			why.what);
	*(const char **)ret = text;
	return 0;
}

/* Callers write 3600 in whatever type their language has for it. */
static int read_number(sd_bus_message *m, const char *name, char type, double *ret,
		       sd_bus_error *error)
{
	union {
		double d;
		uint8_t y;
		int16_t n;
		uint16_t q;
		int32_t i;
		uint32_t u;
		int64_t x;
		uint64_t t;
	} v;
	int r;

	if (!type || !strchr("ynqiuxtd", type))
		return wrong_type(error, name, "a number");
	r = sd_bus_message_read_basic(m, type, &v);
	if (r < 0)
		return r;
	*ret = type == 'y'   ? v.y
	       : type == 'n' ? v.n
	       : type == 'q' ? v.q
	       : type == 'i' ? v.i
	       : type == 'u' ? v.u
	       : type == 'x' ? (double)v.x
	       : type == 't' ? (double)v.t
			     : v.d;
	return 0;
}

static int read_tolerance(sd_bus_message *m, const char *name, char type, void *ret,
			  sd_bus_error *error)
{
	double s = NAN;
	int r = read_number(m, name, type, &s, error);

	if (r < 0)
		return r;
	if (!(s >= 0 && s <= CLAIM_TOLERANCE_MAX_S))
		return sd_bus_error_setf(
			error, BUS_ERROR_INVALID_OPTION,
			"Option \"%s\" is out of range: 0 (nothing is tolerated) to "
			"%d seconds would be right",
			name, CLAIM_TOLERANCE_MAX_S);
	*(double *)ret = s;
	return 0;
}

static int read_seconds(sd_bus_message *m, const char *name, char type, void *ret,
			sd_bus_error *error)
{
	double s = NAN;
	int r = read_number(m, name, type, &s, error);

	if (r < 0)
		return r;
	if (!(s > 0 && s <= SECONDS_MAX))
		return sd_bus_error_setf(error, BUS_ERROR_INVALID_OPTION,
					 "Option \"%s\" is out of range: more than 0 and at most "
					 "%.0f seconds (366 days) would be right",
					 name, SECONDS_MAX);
	*(double *)ret = s;
	return 0;
}

static int read_flag(sd_bus_message *m, const char *name, char type, void *ret, sd_bus_error *error)
{
	if (type != 'b')
		return wrong_type(error, name, "a boolean");
	return sd_bus_message_read_basic(m, 'b', ret);
}

static int read_power_state(sd_bus_message *m, const char *name, char type, void *ret,
			    sd_bus_error *error)
{
	double state = NAN;
	int r = read_number(m, name, type, &state, error);

	if (r < 0)
		return r;
	if (!(state >= 0 && state < POWER_STATES && state == floor(state)))
		return sd_bus_error_setf(error, BUS_ERROR_INVALID_OPTION,
					 "Option \"%s\" is out of range: a whole number from 0 to "
					 "%d would be right",
					 name, POWER_STATES - 1);
	*(int *)ret = (int)state;
	return 0;
}

static int read_mechanisms(sd_bus_message *m, const char *name, char type, void *ret,
			   sd_bus_error *error)
{
	const char *list = "";
	unsigned set;
	int r = read_text(m, name, type, &list, error);

	if (r < 0)
		return r;
	r = mechanisms_from_list(list, &set);
	if (r < 0 || set == 0)
		return sd_bus_error_setf(
			error, BUS_ERROR_INVALID_OPTION,
			"Option \"%s\" = \"%s\": a list of power-state, power-limit, "
			"condition, link, depth, chunk, pacing, redirect would be right",
			name, list);
	*(unsigned *)ret = set;
	return 0;
}

typedef struct Option {
	const char *name;
	OptionReader read;
	size_t offset;
} Option;

static const Option set_budget_options[] = {
	{ "reason", read_text, offsetof(BusOptions, reason) },
	{ "class", read_text, offsetof(BusOptions, class) },
	{ "source", read_text, offsetof(BusOptions, source) },
	{ "device", read_text, offsetof(BusOptions, device) },
	{ "group", read_text, offsetof(BusOptions, group) },
	{ "for_seconds", read_seconds, offsetof(BusOptions, for_seconds) },
	{ "start_in_seconds", read_seconds, offsetof(BusOptions, start_in_seconds) },
	{ "tolerance_seconds", read_tolerance, offsetof(BusOptions, tolerance_seconds) },
	{ "standing", read_flag, offsetof(BusOptions, standing) },
	{ "replace", read_flag, offsetof(BusOptions, replace) },
	{ "power-state", read_power_state, offsetof(BusOptions, power_state) },
	{},
};

static const Option plan_options[] = {
	{ "policy", read_text, offsetof(BusOptions, policy) },
	{ "device", read_text, offsetof(BusOptions, device) },
	{ "group", read_text, offsetof(BusOptions, group) },
	{ "tolerance_seconds", read_tolerance, offsetof(BusOptions, tolerance_seconds) },
	{ "forbid", read_mechanisms, offsetof(BusOptions, forbid) },
	{ "only", read_mechanisms, offsetof(BusOptions, only) },
	{},
};

static int refuse_option(sd_bus_error *error, const char *name, const Option *known)
{
	char list[256] = "", sent[64];

	for (size_t i = 0; known[i].name; i++)
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", i ? ", " : "",
			 known[i].name);
	return sd_bus_error_setf(error, BUS_ERROR_INVALID_OPTION,
				 "Unknown option \"%s\": there are %s",
				 printable_text(sent, sizeof(sent), name), list);
}

/* One entry of a{sv}; the message stands inside it. */
static int read_option(sd_bus_message *m, const Option *known, BusOptions *options,
		       sd_bus_error *error)
{
	const char *name, *contents;
	const Option *o = known;
	int r = sd_bus_message_read_basic(m, 's', &name);

	if (r < 0)
		return r;
	while (o->name && !streq(o->name, name))
		o++;
	if (!o->name)
		return refuse_option(error, name, known);
	r = sd_bus_message_peek_type(m, NULL, &contents);
	if (r < 0)
		return r;
	r = sd_bus_message_enter_container(m, 'v', contents);
	if (r < 0)
		return r;
	r = o->read(m, name, strlen(contents) == 1 ? *contents : '\0', (char *)options + o->offset,
		    error);
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

int bus_read_options(sd_bus_message *m, BusOptionSet set, BusOptions *options, sd_bus_error *error)
{
	const Option *known = set == OPTIONS_OF_PLAN ? plan_options : set_budget_options;
	int r = sd_bus_message_enter_container(m, 'a', "{sv}");

	if (r < 0)
		return r;
	while ((r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
		r = read_option(m, known, options, error);
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
		if (r < 0)
			return r;
	}
	return r < 0 ? r : sd_bus_message_exit_container(m);
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

int bus_claim_from_options(Bus *b, const BusOptions *o, Claim *claim, sd_bus_error *error)
{
	uint64_t now = clock_now_us(&b->clock);
	int class = o->class ? claim_class_from_name(o->class) : CLASS_OPERATOR;
	int r;

	if (class < 0)
		return sd_bus_error_setf(error, BUS_ERROR_INVALID_OPTION,
					 "Unknown class \"%s\": emergency, operator, signal or "
					 "schedule would be right",
					 o->class);
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
