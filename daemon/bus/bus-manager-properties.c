/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/printable.h"
#include "bus/bus-internal.h"

int bus_find_methods(sd_bus *bus, const char *path, const char *interface, void *userdata,
		     void **ret_found, sd_bus_error *error)
{
	(void)bus, (void)interface, (void)error;
	if (!streq(path, BUS_PATH))
		return 0;
	*ret_found = userdata;
	return 1;
}

int bus_find_manager(sd_bus *bus, const char *path, const char *interface, void *userdata,
		     void **ret_found, sd_bus_error *error)
{
	Bus *b = userdata;

	(void)bus, (void)interface, (void)error;
	if (!streq(path, BUS_PATH))
		return 0;
	control_note_asked(b->control);
	control_state(b->control, &b->state);
	control_ledger(b->control, &b->ledger);
	*ret_found = b;
	return 1;
}

/* A bool of C is one byte, a boolean of D-Bus an int. */
int bus_get_bool(sd_bus *bus, const char *path, const char *interface, const char *property,
		 sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	(void)bus, (void)path, (void)interface, (void)property, (void)error;
	return sd_bus_message_append(reply, "b", (int)*(bool *)userdata);
}

static int get_count(sd_bus *bus, const char *path, const char *interface, const char *property,
		     sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	(void)bus, (void)path, (void)interface, (void)property, (void)error;
	return sd_bus_message_append(reply, "t", (uint64_t) * (size_t *)userdata);
}

static int get_version(sd_bus *bus, const char *path, const char *interface, const char *property,
		       sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	(void)bus, (void)path, (void)interface, (void)property, (void)userdata, (void)error;
	return sd_bus_message_append(reply, "s", STORPOWER_VERSION);
}

/* Its path may be any. */
static int get_simulated(sd_bus *bus, const char *path, const char *interface, const char *property,
			 sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	Bus *b = userdata;
	_cleanup_free_ char *shown = printable_copy(b->config.simulated ?: "");

	(void)bus, (void)path, (void)interface, (void)property, (void)error;
	return shown ? sd_bus_message_append(reply, "s", shown) : -ENOMEM;
}

/* The state directory may be any. */
static int get_ledger_path(sd_bus *bus, const char *path, const char *interface,
			   const char *property, sd_bus_message *reply, void *userdata,
			   sd_bus_error *error)
{
	Bus *b = userdata;
	_cleanup_free_ char *shown = printable_copy(b->ledger.path);

	(void)bus, (void)path, (void)interface, (void)property, (void)error;
	return shown ? sd_bus_message_append(reply, "s", shown) : -ENOMEM;
}

static int get_policy(sd_bus *bus, const char *path, const char *interface, const char *property,
		      sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	Bus *b = userdata;

	(void)bus, (void)path, (void)interface, (void)property, (void)error;
	return sd_bus_message_append(reply, "s", control_policy(b->control));
}

static int get_policy_origin(sd_bus *bus, const char *path, const char *interface,
			     const char *property, sd_bus_message *reply, void *userdata,
			     sd_bus_error *error)
{
	Bus *b = userdata;
	PolicyOrigin o;

	(void)bus, (void)path, (void)interface, (void)property, (void)error;
	control_policy_origin(b->control, &o);
	return sd_bus_message_append(reply, "a{sv}", 4, "Configured", "s", o.configured, "ChosenBy",
				     "s", o.chosen_by, "ChosenUSec", "t", o.chosen_us, "Unsaved",
				     "s", o.unsaved);
}

static int get_mode(sd_bus *bus, const char *path, const char *interface, const char *property,
		    sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	Bus *b = userdata;

	(void)bus, (void)path, (void)interface, (void)property, (void)error;
	return sd_bus_message_append(reply, "s", b->state.advice.advises ? "advise" : "enforce");
}

/* "80 % of 300.0 W: claim 3 by storpowerctl (root), grid event"; claim NULL: "" */
static char *budget_text(const Claim *c, double operating_w)
{
	char watts[32], limit[96];

	if (!c)
		return strdup("");
	if (c->unit == LIMIT_PERCENT)
		snprintf(limit, sizeof(limit), "%g %% of %s", c->limit,
			 format_watts(watts, sizeof(watts), operating_w));
	else
		format_watts(limit, sizeof(limit), c->limit);
	return text_printf("%s: claim %llu by %s%s%s", limit, (unsigned long long)c->cookie,
			   c->source, *c->reason ? ", " : "", c->reason);
}

static int get_budget(sd_bus *bus, const char *path, const char *interface, const char *property,
		      sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	Bus *b = userdata;
	_cleanup_free_ char *text = budget_text(b->state.effective, b->state.watts.operating_w);

	(void)bus, (void)path, (void)interface, (void)property, (void)error;
	return text ? sd_bus_message_append(reply, "s", text) : -ENOMEM;
}

static int get_advice(sd_bus *bus, const char *path, const char *interface, const char *property,
		      sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	Bus *b = userdata;
	const AdviceState *a = &b->state.advice;
	_cleanup_free_ char *text = budget_text(a->claim, b->state.watts.operating_w);

	(void)bus, (void)path, (void)interface, (void)property, (void)error;
	if (!a->advises || !text)
		return text ? sd_bus_message_append(reply, "a{sv}", 0) : -ENOMEM;
	return sd_bus_message_append(
		reply, "a{sv}", 14, "Budget", "s", text, "Limit", "d", a->budget_w, "CapPower", "d",
		a->cap_w, "Shortfall", "d", a->shortfall_w, "Devices", "t", (uint64_t)a->n_devices,
		"SavedPower", "d", a->saved_w, "LeastSavedPower", "d", a->least_w, "LostThroughput",
		"d", a->lost_mb_s, "Seconds", "d", a->seconds, "SavedEnergy", "d", a->joules,
		"MeanSavedPower", "d", a->seconds > 0 ? a->joules / a->seconds : NAN, "LostData",
		"d", a->lost_mb, "Changes", "t", a->changes, "Stops", "t", a->stops);
}

static int get_claims(sd_bus *bus, const char *path, const char *interface, const char *property,
		      sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	Bus *b = userdata;
	const Claim *c;
	int r = sd_bus_message_open_container(reply, 'a', "a{sv}");

	(void)bus, (void)path, (void)interface, (void)property, (void)error;
	for (size_t i = 0; r >= 0 && (c = claims_get(control_claims(b->control), i)); i++)
		r = bus_append_claim(b, reply, c);
	return r < 0 ? r : sd_bus_message_close_container(reply);
}

static int append_sensor(sd_bus_message *reply, const SensorState *s)
{
	return sd_bus_message_append(reply, "(ssssds)", s->name, s->type, s->of, s->target,
				     s->watts, s->why_aside);
}

static int get_sensors(sd_bus *bus, const char *path, const char *interface, const char *property,
		       sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	Bus *b = userdata;
	int r = sd_bus_message_open_container(reply, 'a', "(ssssds)");

	(void)bus, (void)path, (void)interface, (void)property, (void)error;
	for (size_t i = 0; r >= 0 && i < control_sensor_count(b->control); i++) {
		SensorState s;

		control_sensor(b->control, i, &s);
		r = append_sensor(reply, &s);
	}
	return r < 0 ? r : sd_bus_message_close_container(reply);
}

#define CHANGES       SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE
#define STATE(field)  offsetof(Bus, state.field)
#define LEDGER(field) offsetof(Bus, ledger.field)

const sd_bus_vtable bus_manager_properties[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_PROPERTY("Version", "s", get_version, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Policy", "s", get_policy, 0, CHANGES),
	SD_BUS_PROPERTY("PolicyOrigin", "a{sv}", get_policy_origin, 0, 0),
	SD_BUS_PROPERTY("Mode", "s", get_mode, 0, CHANGES),
	SD_BUS_PROPERTY("Advice", "a{sv}", get_advice, 0, 0),
	SD_BUS_PROPERTY("Budget", "s", get_budget, 0, CHANGES),
	SD_BUS_PROPERTY("EffectiveLimit", "d", NULL, STATE(budget_w), CHANGES),
	SD_BUS_PROPERTY("RatedPower", "d", NULL, STATE(watts.rated_w), CHANGES),
	SD_BUS_PROPERTY("OperatingPower", "d", NULL, STATE(watts.operating_w), CHANGES),
	SD_BUS_PROPERTY("FloorPower", "d", NULL, STATE(watts.floor_w), CHANGES),
	SD_BUS_PROPERTY("CapPower", "d", NULL, STATE(watts.cap_w), CHANGES),
	SD_BUS_PROPERTY("PowerError", "d", NULL, STATE(watts.error_w), 0),
	SD_BUS_PROPERTY("HeldFor", "d", NULL, STATE(held.for_s), 0),
	SD_BUS_PROPERTY("HighestPower", "d", NULL, STATE(held.highest_w), 0),
	SD_BUS_PROPERTY("EstimatedPower", "d", NULL, STATE(watts.estimated_w), 0),
	SD_BUS_PROPERTY("MeasuredPower", "d", NULL, STATE(watts.measured_w), 0),
	SD_BUS_PROPERTY("Throughput", "d", NULL, STATE(load.mb_s), 0),
	SD_BUS_PROPERTY("Demand", "d", NULL, STATE(load.demand_mb_s), 0),
	SD_BUS_PROPERTY("ExpectedThroughput", "d", NULL, STATE(load.expected_mb_s), 0),
	SD_BUS_PROPERTY("Enforcing", "b", bus_get_bool, STATE(enforcing), CHANGES),
	SD_BUS_PROPERTY("Degraded", "b", bus_get_bool, STATE(degraded), CHANGES),
	SD_BUS_PROPERTY("Shortfall", "d", NULL, STATE(shortfall_w), CHANGES),
	SD_BUS_PROPERTY("NodeShortfall", "d", NULL, STATE(held.missing_w), CHANGES),
	SD_BUS_PROPERTY("Tolerance", "d", NULL, STATE(overload.tolerance_s), 0),
	SD_BUS_PROPERTY("Overload", "d", NULL, STATE(overload.spent_s), 0),
	SD_BUS_PROPERTY("Reaction", "d", NULL, STATE(overload.react_s), 0),
	SD_BUS_PROPERTY("LastEnforceUSec", "t", NULL, STATE(last_enforce_us), 0),
	SD_BUS_PROPERTY("DeviceCount", "t", get_count, STATE(n_devices), CHANGES),
	SD_BUS_PROPERTY("Meter", "s", NULL, STATE(meter), 0),
	SD_BUS_PROPERTY("MeterWhyNot", "s", NULL, STATE(meter_why_not), 0),
	SD_BUS_PROPERTY("Simulated", "s", get_simulated, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Sensors", "a(ssssds)", get_sensors, 0, 0),
	SD_BUS_PROPERTY("Claims", "aa{sv}", get_claims, 0, CHANGES),
	SD_BUS_PROPERTY("ClaimsUnsaved", "s", NULL, STATE(claims_unsaved), CHANGES),
	SD_BUS_PROPERTY("LedgerPath", "s", get_ledger_path, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("LedgerProblem", "s", NULL, LEDGER(problem), 0),
	SD_BUS_PROPERTY("LedgerWrittenUSec", "t", NULL, LEDGER(written_us), 0),
	SD_BUS_PROPERTY("EnergyMeasured", "d", NULL, LEDGER(sum.measured_j), 0),
	SD_BUS_PROPERTY("EnergyModelled", "d", NULL, LEDGER(sum.modelled_j), 0),
	SD_BUS_PROPERTY("SecondsLimited", "d", NULL, LEDGER(sum.limited_s), 0),
	SD_BUS_PROPERTY("SecondsAbove", "d", NULL, LEDGER(sum.above_s), 0),
	SD_BUS_PROPERTY("Price", "d", NULL, LEDGER(price_kwh), 0),
	SD_BUS_PROPERTY("CarbonIntensity", "d", NULL, LEDGER(g_kwh), 0),
	SD_BUS_PROPERTY("CarbonMarginal", "b", bus_get_bool, LEDGER(marginal), 0),
	SD_BUS_VTABLE_END,
};
