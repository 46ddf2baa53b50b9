/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "ctl/table.h"
#include "ctl/words.h"

static const char *why(char *buf, size_t size, json_object *device)
{
	const char *problem = json_text(device, "Problem"), *advised = json_text(device, "Advised");

	snprintf(buf, size, "advised, not set: %s", advised);
	return *problem ? problem : *advised ? buf : json_text(device, "Reason");
}

static void print_wide(const Ctl *c, json_object *devices)
{
	static const char *const columns[] = { "DEVICE", "KIND",  ">RATED",  ">AT MOST",
					       ">DRAWS", ">MB/S", "SETTING", "EXACTNESS",
					       "REASON", NULL };
	_cleanup_(table_freep) Table *t = table_new(columns);

	for (size_t i = 0; i < json_count(devices); i++) {
		json_object *d = json_object_array_get_idx(devices, i);
		double measured = json_number(d, "MeasuredPower");
		char rated[32], cap[32], now[32], mb_s[32], text[288];

		table_row(
			t, json_text(d, "Name"), json_text(d, "Kind"),
			format_watts(rated, sizeof(rated), json_number(d, "RatedPower")),
			format_watts(cap, sizeof(cap), json_number(d, "CapPower")),
			format_watts(now, sizeof(now),
				     isnan(measured) ? json_number(d, "EstimatedPower") : measured),
			format_number(mb_s, sizeof(mb_s), json_number(d, "Throughput")),
			json_text(d, "Setting"), json_text(d, "Exactness"),
			why(text, sizeof(text), d));
	}
	table_print(t, c);
}

/* The mean of what draws so many watts: those of the sensors, where they all have one. */
static double draws_w(const Fold *f)
{
	double measured = fold_mean(f, "MeasuredPower");

	return isnan(measured) ? fold_mean(f, "EstimatedPower") : measured;
}

static void print_folded(const Ctl *c, json_object *devices)
{
	static const char *const columns[] = { "DEVICE", ">AT MOST", ">DRAWS", "SETTING", NULL };
	_cleanup_(table_freep) Table *t = table_new(columns);
	Fold f = { .devices = devices };
	bool folded = false;

	fold_sort(devices);
	while (fold_next(&f, fold_alike)) {
		char name[96], cap[32], now[32], setting[WORDS_SIZE];

		folded |= f.n > 1;
		table_row(t, fold_name(name, sizeof(name), &f, "Name"),
			  format_watts(cap, sizeof(cap), fold_mean(&f, "CapPower")),
			  format_watts(now, sizeof(now), draws_w(&f)),
			  words_setting(setting, fold_first(&f), fold_mean(&f, "Pace"),
					fold_mean(&f, "ExpectedThroughput")));
	}
	table_print(t, c);
	if (folded && c->legend)
		fold_explain(c);
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

/* Leaves those of --group alone; an exit status. */
static int keep_group(const Ctl *c, json_object **devices)
{
	json_object *kept = json_object_new_array();

	for (size_t i = 0; i < json_count(*devices); i++) {
		json_object *d = json_object_array_get_idx(*devices, i);

		if (streq(json_text(d, "Group"), c->group))
			json_object_array_add(kept, json_object_get(d));
	}
	if (!json_count(kept)) {
		complain(0, "No device is of group \"%s\": storpowerctl list --json tells groups",
			 c->group);
		ctl_suggest_device(*devices, c->group, "Group");
	}
	json_object_put(*devices);
	*devices = kept;
	return json_count(kept) ? STATUS_OK : STATUS_REFUSED;
}

int verb_list(Ctl *c)
{
	_cleanup_json_ json_object *devices = NULL;
	int status;

	if (c->claims + c->wakeups + !!c->group > 1)
		return complain(STATUS_USAGE,
				"list takes one of --claims, --wakeups and --group=, no more");
	if (c->claims)
		return list_claims(c);
	if (c->wakeups)
		return ctl_list_wakeups(c);
	status = ctl_get_devices(c, &devices);
	if (!status && c->group)
		status = keep_group(c, &devices);
	if (status)
		return status;
	if (c->json) {
		json_print(c, devices);
		return STATUS_OK;
	}
	pager_open(c);
	(c->wide ? print_wide : print_folded)(c, devices);
	return STATUS_OK;
}

static const char *knob_state(json_object *k)
{
	if (!json_true(k, "Offered"))
		return json_text(k, "WhyNot");
	return *json_text(k, "Wanted") ? "held" : "as found";
}

/* Values can be long (io.cost), so they come below the table, a line each. */
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
	{ "Pool", "Pool", NULL },
	{ "HBA", "Hba", NULL },
	{ "Protected", "ProtectedReason", NULL },
	{ "Setting", "Setting", NULL },
	{ "Exactness", "Exactness", NULL },
	{ "Reason", "Reason", NULL },
	{ "Advised", "Advised", NULL },
	{ "Problem", "Problem", NULL },
	{ "Rated", "RatedPower", "W" },
	{ "Operating", "OperatingPower", "W" },
	{ "Idle", "IdlePower", "W" },
	{ "At most", "CapPower", "W" },
	{ "Estimated", "EstimatedPower", "W" },
	{ "Measured", "MeasuredPower", "W" },
	{ "Throughput", "Throughput", "MB/s" },
	{ "Expected", "ExpectedThroughput", "MB/s" },
	{ "Rate", "IOPS", "IO/s" },
	{ "Depth", "Depth", "IOs outstanding" },
	{ "Mean size", "MeanSize", "KiB" },
	{ "Latency", "Latency", "µs in the device" },
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

static double tenths(json_object *d, const char *key)
{
	return round(10 * json_number(d, key)) / 10;
}

/* This is for disks alone: nothing else sleeps or has an account. */
static void print_sleep(json_object *d)
{
	if (streq(json_text(d, "Kind"), "hdd") && *json_text(d, "AwakeReason"))
		printf("%12s  %s\n", "Stays awake", json_text(d, "AwakeReason"));
	if (json_true(d, "WakeUntested"))
		printf("%12s  not yet: standby waits for \"storpowerctl wake-test %s\"\n",
		       "Wake test", json_text(d, "Name"));
	if (json_number(d, "StartsPerDay") > 0 || json_number(d, "LoadsPerDay") > 0)
		printf("%12s  %g of %g start/stop cycles left today, %g of %g load/unload; %s used\n",
		       "Wear", tenths(d, "StartsLeft"), tenths(d, "StartsPerDay"),
		       tenths(d, "LoadsLeft"), tenths(d, "LoadsPerDay"),
		       json_text(d, "StartsUsed"));
}

static void print_misses(json_object *d)
{
	double misses = json_number(d, "CacheMisses");

	if (!isnan(misses))
		printf("%12s  %.3g %% of the reads reach the disk, of late\n", "Cache",
		       100 * misses);
}

/* This is for disks that have something above them that holds their writes, or could. */
static void print_redirect(json_object *d)
{
	bool cache = json_member(d, "CacheRoom");
	char dirty[32], room[32];

	if (!cache && streq(json_text(d, "Redirect"), "as found"))
		return;
	printf("%12s  %s", "Redirect", json_text(d, "Redirect"));
	if (cache)
		printf("; %s to be written back, room for %s more",
		       format_bytes(dirty, sizeof(dirty), json_number(d, "CacheDirty")),
		       format_bytes(room, sizeof(room), json_number(d, "CacheRoom")));
	putchar('\n');
}

json_object *ctl_find_device(json_object *devices, const char *name)
{
	name = ctl_device_name(name);
	for (size_t i = 0; i < json_count(devices); i++) {
		json_object *d = json_object_array_get_idx(devices, i);

		if (streq(json_text(d, "Name"), name) || streq(json_text(d, "Id"), name))
			return d;
	}
	return NULL;
}

int ctl_need_device(json_object *devices, const char *name, json_object **ret)
{
	json_object *d = ctl_find_device(devices, name);

	if (!d) {
		complain(0, "Unknown device \"%s\": storpowerctl list names those there are", name);
		ctl_suggest_device(devices, ctl_device_name(name), "Name");
		return STATUS_REFUSED;
	}
	*ret = d;
	return STATUS_OK;
}

int verb_show(Ctl *c)
{
	_cleanup_json_ json_object *devices = NULL;
	json_object *d = NULL;
	int status = ctl_get_devices(c, &devices);

	if (!status)
		status = ctl_need_device(devices, c->args[0], &d);
	if (status)
		return status;
	if (c->json) {
		json_print(c, d);
		return STATUS_OK;
	}
	pager_open(c);
	puts(json_text(d, "Name"));
	for (size_t i = 0; i < ELEMENTSOF(rows); i++)
		print_row(d, &rows[i]);
	print_wait(c, d);
	print_sleep(d);
	print_redirect(d);
	print_misses(d);
	print_learned(d);
	putchar('\n');
	print_knobs(c, json_member(d, "Knobs"));
	return STATUS_OK;
}
