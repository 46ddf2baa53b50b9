/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The options of a call, a{sv}: which there are, and of which types and ranges. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/printable.h"
#include "bus/bus-internal.h"

#define TEXT_MAX     256
#define POWER_STATES 32 /* of an NVMe drive */

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
	if (!(s > 0 && s <= BUS_SECONDS_MAX))
		return sd_bus_error_setf(error, BUS_ERROR_INVALID_OPTION,
					 "Option \"%s\" is out of range: more than 0 and at most "
					 "%.0f seconds (366 days) would be right",
					 name, BUS_SECONDS_MAX);
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

static const Option update_options[] = {
	{ "reason", read_text, offsetof(BusOptions, reason) },
	{ "class", read_text, offsetof(BusOptions, class) },
	{ "for_seconds", read_seconds, offsetof(BusOptions, for_seconds) },
	{ "tolerance_seconds", read_tolerance, offsetof(BusOptions, tolerance_seconds) },
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
	static const Option *const options_of[] = {
		[OPTIONS_OF_SET_BUDGET] = set_budget_options,
		[OPTIONS_OF_UPDATE] = update_options,
		[OPTIONS_OF_PLAN] = plan_options,
	};
	int r = sd_bus_message_enter_container(m, 'a', "{sv}");

	if (r < 0)
		return r;
	while ((r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
		r = read_option(m, options_of[set], options, error);
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
		if (r < 0)
			return r;
	}
	return r < 0 ? r : sd_bus_message_exit_container(m);
}
