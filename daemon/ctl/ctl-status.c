/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "base/clock.h"
#include "ctl/table.h"

void format_claim_limit(char *buf, size_t size, json_object *claim)
{
	char watts[32];

	format_watts(watts, sizeof(watts), json_number(claim, "LimitPower"));
	if (streq(json_text(claim, "Unit"), "%"))
		snprintf(buf, size, "%g %% (%s)", json_number(claim, "Limit"), watts);
	else
		snprintf(buf, size, "%s", watts);
}

/* JSON has no number for "never", so the member is absent then. */
static void format_seconds(char *buf, size_t size, double s)
{
	format_duration(buf, size, isnan(s) ? USEC_NEVER : (uint64_t)(s * USEC_PER_SEC));
}

static const char *claim_state(json_object *claim, char *buf, size_t size)
{
	char in[32];

	if (json_true(claim, "InForce"))
		return "in force";
	if (json_true(claim, "Active"))
		return "active";
	format_seconds(in, sizeof(in), json_number(claim, "StartsIn"));
	snprintf(buf, size, "in %s", in);
	return buf;
}

void print_claims(const Ctl *c, json_object *claims)
{
	static const char *const columns[] = { ">CLAIM",  "LIMIT", "OF",     "CLASS",  "STATE",
					       "ENDS IN", "KIND",  "SOURCE", "REASON", NULL };
	_cleanup_(table_freep) Table *t = table_new(columns);

	for (size_t i = 0; i < json_count(claims); i++) {
		json_object *claim = json_object_array_get_idx(claims, i);
		const char *target = json_text(claim, "Target");
		char limit[64], state[64], ends[32];

		format_claim_limit(limit, sizeof(limit), claim);
		format_seconds(ends, sizeof(ends), json_number(claim, "ExpiresIn"));
		table_row(t, json_text(claim, "Cookie"), limit,
			  *target ? target : json_text(claim, "Scope"), json_text(claim, "Class"),
			  claim_state(claim, state, sizeof(state)), ends,
			  json_true(claim, "Standing")   ? "standing"
			  : json_true(claim, "Orphaned") ? "orphaned"
							 : "held",
			  json_text(claim, "Source"), json_text(claim, "Reason"));
	}
	table_print(t, c);
}

void print_degraded(json_object *state)
{
	double shortfall = json_number(state, "Shortfall");
	char watts[32];

	if (shortfall > 0)
		complain(0,
			 "Degraded: the budget is %s below what these devices can be brought down "
			 "to; they are held at the least",
			 format_watts(watts, sizeof(watts), shortfall));
	else
		complain(0, "Degraded: a device has a problem: see storpowerctl list");
}

static void print_row(const char *name, const char *text)
{
	printf("%12s  %s\n", name, text);
}

static void print_power(json_object *s)
{
	const char *const rows[][2] = {
		{ "Rated", "RatedPower" },         { "Can draw", "CapPower" },
		{ "Estimated", "EstimatedPower" }, { "Measured", "MeasuredPower" },
		{ "Floor", "FloorPower" },
	};
	char watts[32];

	for (size_t i = 0; i < ELEMENTSOF(rows); i++)
		print_row(rows[i][0],
			  format_watts(watts, sizeof(watts), json_number(s, rows[i][1])));
}

static void print_state(json_object *s)
{
	char a[32], b[32], line[160], took[32];
	bool enforcing = json_true(s, "Enforcing"), advised = ctl_is_advised(s);
	const char *budget = json_text(advised ? json_member(s, "Advice") : s, "Budget");
	uint64_t took_us;

	printf("%12s  %s%s\n", "Budget", *budget ? budget : "none",
	       *budget && advised ? "; advised, not held" : "");
	print_power(s);
	snprintf(line, sizeof(line), "%s MB/s, asked for %s%s",
		 format_number(a, sizeof(a), json_number(s, "Throughput")),
		 isnan(json_number(s, "Demand"))
			 ? "all there is"
			 : format_number(b, sizeof(b), json_number(s, "Demand")),
		 isnan(json_number(s, "Demand")) ? "" : " MB/s");
	print_row("Throughput", line);
	took_us = json_object_get_uint64(json_member(s, "LastEnforceUSec"));
	format_duration(took, sizeof(took), took_us);
	/* nothing had to be changed: that takes no time */
	snprintf(line, sizeof(line), "%s%s%s%s",
		 enforcing ? "enforcing"
		 : advised ? "advising: no limit is held and nothing is set"
			   : "nothing to enforce",
		 json_true(s, "Degraded") ? ", degraded" : "",
		 enforcing && took_us ? "; last change took " : "",
		 enforcing && took_us ? took : "");
	print_row("State", line);
	snprintf(line, sizeof(line), "%s, policy %s, storpowerd %s", json_text(s, "DeviceCount"),
		 json_text(s, "Policy"), json_text(s, "Version"));
	print_row("Devices", line);
	printf("%12s  %s%s%s%s\n", "Meter", json_text(s, "Meter"),
	       *json_text(s, "MeterWhyNot") ? " (" : "", json_text(s, "MeterWhyNot"),
	       *json_text(s, "MeterWhyNot") ? ")" : "");
}

static void print_sensors(json_object *sensors)
{
	char watts[32];

	for (size_t i = 0; i < json_count(sensors); i++) {
		json_object *s = json_object_array_get_idx(sensors, i);
		const char *why = json_object_get_string(json_object_array_get_idx(s, 5));
		const char *target = json_object_get_string(json_object_array_get_idx(s, 3));
		json_object *value = json_object_array_get_idx(s, 4);

		printf("%12s  %s (%s of %s%s%s): %s%s%s\n", "Sensor",
		       json_object_get_string(json_object_array_get_idx(s, 0)),
		       json_object_get_string(json_object_array_get_idx(s, 1)),
		       json_object_get_string(json_object_array_get_idx(s, 2)), *target ? " " : "",
		       target,
		       format_watts(watts, sizeof(watts),
				    value ? json_object_get_double(value) : NAN),
		       *why ? ", set aside: " : "", why);
	}
}

static void print_unsaved(json_object *s)
{
	char line[256];

	if (!*json_text(s, "ClaimsUnsaved"))
		return;
	snprintf(line, sizeof(line),
		 "not saved (%s): a restart would bring back those that were saved last",
		 json_text(s, "ClaimsUnsaved"));
	print_row("Claims", line);
}

int verb_status(Ctl *c)
{
	_cleanup_json_ json_object *state = NULL;
	int status = ctl_get_state(c, &state);

	if (status)
		return status;
	if (c->json) {
		json_print(c, state);
		return STATUS_OK;
	}
	pager_open(c);
	print_state(state);
	print_advice(state);
	print_sensors(json_member(state, "Sensors"));
	print_unsaved(state);
	if (json_count(json_member(state, "Claims")) > 0) {
		putchar('\n');
		print_claims(c, json_member(state, "Claims"));
	}
	if (json_true(state, "Degraded"))
		print_degraded(state);
	return STATUS_OK;
}

int verb_version(Ctl *c)
{
	_cleanup_json_ json_object *state = NULL, *both = NULL;
	int status;

	if (!c->json)
		puts("storpowerctl " STORPOWER_VERSION);
	fflush(stdout);
	status = ctl_get_state(c, &state);
	if (c->json) {
		both = json_object_new_object();
		json_object_object_add(both, "storpowerctl",
				       json_object_new_string(STORPOWER_VERSION));
		json_object_object_add(both, "storpowerd",
				       json_object_get(json_member(state, "Version")));
		json_print(c, both);
	} else if (!status) {
		printf("storpowerd %s\n", json_text(state, "Version"));
	}
	return status;
}

int verb_policy(Ctl *c)
{
	_cleanup_json_ json_object *state = NULL;
	int status;

	if (c->n_args > 0)
		return ctl_simple_call(c, NULL, "SetPolicy", "s", c->args[0]);
	status = ctl_get_state(c, &state);
	if (status)
		return status;
	if (c->json)
		json_print(c, json_member(state, "Policy"));
	else
		puts(json_text(state, "Policy"));
	return STATUS_OK;
}
