/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "ctl/ctl-model.h"
#include "ctl/table.h"
#include "ctl/words.h"

/* The names of those devices, in the order in which people count. */
static json_object *devices_with(json_object *devices, const char *profile)
{
	json_object *names = json_object_new_array();

	for (size_t i = 0; i < json_count(devices); i++) {
		json_object *d = json_object_array_get_idx(devices, i);

		if (streq(json_text(d, "Profile"), profile))
			json_object_array_add(names, json_object_get(json_member(d, "Name")));
	}
	return names;
}

/* devices NULL: nobody knows who uses them. */
static json_object *describe(const ProfileStore *s, json_object *devices)
{
	json_object *all = json_object_new_array();

	for (size_t i = 0; i < s->n; i++) {
		json_object *o = model_profile_json(s->profiles[i]);

		json_object_object_add(
			o, "Devices", devices ? devices_with(devices, s->profiles[i]->name) : NULL);
		json_object_array_add(all, o);
	}
	return all;
}

static const char *points_text(char *buf, size_t size, json_object *o)
{
	double n = json_number(o, "PointCount"), estimated = json_number(o, "EstimatedPointCount");

	if (estimated > 0)
		snprintf(buf, size, "%.0f (%.0f est.)", n, estimated);
	else
		snprintf(buf, size, "%.0f", n);
	return buf;
}

static void print_profiles(const Ctl *c, json_object *all)
{
	static const char *const columns[] = { "PROFILE", "KIND",   ">AT WORK", ">IDLE", ">ERROR",
					       "POINTS",  ">MIXES", "FILE",     NULL };
	_cleanup_(table_freep) Table *t = table_new(columns);

	for (size_t i = 0; i < json_count(all); i++) {
		json_object *o = json_object_array_get_idx(all, i);
		char operating[32], idle[32], error[32], points[64], mixes[32];

		snprintf(mixes, sizeof(mixes), json_number(o, "MixCount") > 0 ? "%.0f" : "",
			 json_number(o, "MixCount"));
		table_row(t, json_text(o, "Profile"), json_text(o, "Kind"),
			  format_watts(operating, sizeof(operating),
				       json_number(o, "OperatingPower")),
			  format_watts(idle, sizeof(idle), json_number(o, "IdlePower")),
			  model_percent(error, sizeof(error), json_number(o, "Error")),
			  points_text(points, sizeof(points), o), mixes,
			  c->wide ? json_text(o, "Path") : " ");
	}
	table_may_drop(t, c, "7 6 1 4");
	table_print(t, c);
}

static bool same_profile(json_object *first, json_object *next)
{
	return *json_text(first, "Name") == *json_text(next, "Name") &&
	       streq(json_text(first, "Profile"), json_text(next, "Profile"));
}

/* Who uses them, a line for those that follow each other. */
static void print_users(const Ctl *c, const ProfileStore *s, json_object *devices)
{
	static const char *const columns[] = { "DEVICES", "USE", NULL };
	_cleanup_(table_freep) Table *t = table_new(columns);
	Fold f = { .devices = devices };

	fold_sort(devices);
	while (fold_next(&f, same_profile)) {
		const char *profile = json_text(fold_first(&f), "Profile");
		bool here = profile_store_get(s, profile);
		char name[96], text[256];

		snprintf(text, sizeof(text), "%s%s", profile,
			 here ? ""
			      : ", which the daemon has made from what they say of themselves");
		table_row(t, fold_name(name, sizeof(name), &f, "Name"), text);
	}
	putchar('\n');
	table_print(t, c);
}

int model_list(Ctl *c)
{
	_cleanup_(profile_store_freep) ProfileStore *s = NULL;
	_cleanup_json_ json_object *devices = NULL, *all = NULL;
	int status = model_read_store(c, &s);

	if (!status && ctl_daemon_runs(c))
		status = ctl_get_devices(c, &devices);
	if (status)
		return status;
	if (!s->n)
		return complain(STATUS_FAILURE,
				"There is no profile in %s: name the directory with --profiles=DIR",
				c->model.profiles ?: STORPOWER_DATADIR "/profiles");
	all = describe(s, devices);
	if (c->json) {
		json_print(c, all);
		return STATUS_OK;
	}
	pager_open(c);
	print_profiles(c, all);
	if (json_count(devices))
		print_users(c, s, devices);
	return STATUS_OK;
}
