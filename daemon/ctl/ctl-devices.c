/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "ctl/table.h"

static const char *why(json_object *device)
{
	const char *problem = json_text(device, "Problem");

	return *problem ? problem : json_text(device, "Reason");
}

static void print_devices(const Ctl *c, json_object *devices)
{
	static const char *const columns[] = { "DEVICE", "KIND",  ">RATED",  ">CAN DRAW",
					       ">DRAWS", ">MB/S", "SETTING", "EXACTNESS",
					       "REASON", NULL };
	_cleanup_(table_freep) Table *t = table_new(columns);

	for (size_t i = 0; i < json_count(devices); i++) {
		json_object *d = json_object_array_get_idx(devices, i);
		double measured = json_number(d, "MeasuredPower");
		char rated[32], cap[32], now[32], mb_s[32];

		table_row(
			t, json_text(d, "Name"), json_text(d, "Kind"),
			format_watts(rated, sizeof(rated), json_number(d, "RatedPower")),
			format_watts(cap, sizeof(cap), json_number(d, "CapPower")),
			format_watts(now, sizeof(now),
				     isnan(measured) ? json_number(d, "EstimatedPower") : measured),
			format_number(mb_s, sizeof(mb_s), json_number(d, "Throughput")),
			json_text(d, "Setting"), json_text(d, "Exactness"), why(d));
	}
	table_print(t, c);
}

static int list_claims(Ctl *c)
{
	_cleanup_json_ json_object *state = NULL;
	int status = ctl_get_state(c, &state);

	if (status)
		return status;
	if (c->json) {
		json_print(c, json_member(state, "Claims"));
		return STATUS_OK;
	}
	pager_open(c);
	print_claims(c, json_member(state, "Claims"));
	return STATUS_OK;
}

int verb_list(Ctl *c)
{
	_cleanup_json_ json_object *devices = NULL;
	int status;

	if (c->claims)
		return list_claims(c);
	status = ctl_get_devices(c, &devices);
	if (status)
		return status;
	if (c->json) {
		json_print(c, devices);
		return STATUS_OK;
	}
	pager_open(c);
	print_devices(c, devices);
	return STATUS_OK;
}

static const char *knob_state(json_object *k)
{
	if (!json_true(k, "Offered"))
		return json_text(k, "WhyNot");
	return *json_text(k, "Wanted") ? "held" : "as found";
}

/* Values can be long (io.cost): below the table, a line each. */
static void print_knobs(const Ctl *c, json_object *knobs)
{
	static const char *const columns[] = { "KNOB", "EXACTNESS", "STATE", NULL };
	_cleanup_(table_freep) Table *t = table_new(columns);

	for (size_t i = 0; i < json_count(knobs); i++) {
		json_object *k = json_object_array_get_idx(knobs, i);

		table_row(t, json_text(k, "Name"), json_text(k, "Exactness"), knob_state(k));
	}
	table_print(t, c);
	for (size_t i = 0; i < json_count(knobs); i++) {
		json_object *k = json_object_array_get_idx(knobs, i);

		if (*json_text(k, "Wanted"))
			printf("\n%s\n     held at  %s\n  originally  %s\n", json_text(k, "Name"),
			       json_text(k, "Wanted"), json_text(k, "Original"));
	}
}

typedef struct Row {
	const char *label, *key, *unit; /* unit NULL: text; "W": watts */
} Row;

static const Row rows[] = {
	{ "Id", "Id", NULL },
	{ "Node", "Node", NULL },
	{ "Model", "Model", NULL },
	{ "Kind", "Kind", NULL },
	{ "Group", "Group", NULL },
	{ "Profile", "Profile", NULL },
	{ "Stack", "Stack", NULL },
	{ "Protected", "ProtectedReason", NULL },
	{ "Setting", "Setting", NULL },
	{ "Exactness", "Exactness", NULL },
	{ "Reason", "Reason", NULL },
	{ "Problem", "Problem", NULL },
	{ "Rated", "RatedPower", "W" },
	{ "Idle", "IdlePower", "W" },
	{ "Can draw", "CapPower", "W" },
	{ "Estimated", "EstimatedPower", "W" },
	{ "Measured", "MeasuredPower", "W" },
	{ "Throughput", "Throughput", "MB/s" },
	{ "Expected", "ExpectedThroughput", "MB/s" },
	{ "Rate", "IOPS", "IO/s" },
	{ "Depth", "Depth", "IOs outstanding" },
	{ "Mean size", "MeanSize", "KiB" },
	{ "Latency", "Latency", "µs" },
	{ "Meter", "Meter", NULL },
};

static void print_row(json_object *d, const Row *row)
{
	char text[32];

	if (!row->unit) {
		if (*json_text(d, row->key))
			printf("%12s  %s%s\n", row->label, json_text(d, row->key),
			       streq(row->key, "Profile") && json_true(d, "ProfileEstimated")
				       ? " (estimated: nobody measured this model)"
				       : "");
	} else if (!isnan(json_number(d, row->key))) {
		if (streq(row->unit, "W"))
			printf("%12s  %s\n", row->label,
			       format_watts(text, sizeof(text), json_number(d, row->key)));
		else
			printf("%12s  %s %s\n", row->label,
			       format_number(text, sizeof(text), json_number(d, row->key)),
			       row->unit);
	}
}

static json_object *find_device(json_object *devices, const char *name)
{
	if (!strncmp(name, "/dev/", strlen("/dev/")))
		name += strlen("/dev/");
	for (size_t i = 0; i < json_count(devices); i++) {
		json_object *d = json_object_array_get_idx(devices, i);

		if (streq(json_text(d, "Name"), name) || streq(json_text(d, "Id"), name))
			return d;
	}
	return NULL;
}

int verb_show(Ctl *c)
{
	_cleanup_json_ json_object *devices = NULL;
	json_object *d;
	int status = ctl_get_devices(c, &devices);

	if (status)
		return status;
	d = find_device(devices, c->args[0]);
	if (!d)
		return complain(STATUS_REFUSED,
				"Unknown device \"%s\": storpowerctl list names those there are",
				c->args[0]);
	if (c->json) {
		json_print(c, d);
		return STATUS_OK;
	}
	pager_open(c);
	puts(json_text(d, "Name"));
	for (size_t i = 0; i < ELEMENTSOF(rows); i++)
		print_row(d, &rows[i]);
	putchar('\n');
	print_knobs(c, json_member(d, "Knobs"));
	return STATUS_OK;
}
