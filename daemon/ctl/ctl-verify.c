/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ctl/table.h"
#include "ctl/witness.h"

static void print_differences(const Ctl *c, json_object *differences)
{
	static const char *const columns[] = { "DEVICE", "KNOB", "WANTED", "FOUND", NULL };
	_cleanup_(table_freep) Table *t = table_new(columns);

	for (size_t i = 0; i < json_count(differences); i++) {
		json_object *d = json_object_array_get_idx(differences, i);

		table_row(t, json_text(d, "Device"), json_text(d, "Knob"), json_text(d, "Wanted"),
			  json_text(d, "Found"));
	}
	table_print(t, c);
}

static void print_testimonies(const Ctl *c, json_object *rows)
{
	static const char *const columns[] = {
		"DEVICE", "WITNESS", "OURS", "THEIRS", "AGREES", NULL
	};
	_cleanup_(table_freep) Table *t = table_new(columns);

	for (size_t i = 0; i < json_count(rows); i++) {
		json_object *row = json_object_array_get_idx(rows, i);
		const char *agrees = !json_member(row, "Agrees") ? "unknown"
				     : json_true(row, "Agrees")  ? "yes"
								 : "no";

		table_row(t, json_text(row, "Device"), json_text(row, "Witness"),
			  json_text(row, "Ours"), json_text(row, "Theirs"), agrees);
	}
	table_print(t, c);
}

static int add_testimonies(Ctl *c, json_object *all, size_t *n_differ)
{
	_cleanup_json_ json_object *devices = NULL;
	int status = ctl_get_devices(c, &devices);

	if (status)
		return status;
	json_object_object_add(all, "Witnesses", witness_devices(devices, n_differ));
	return 0;
}

int verb_verify(Ctl *c)
{
	static const char *const keys[] = { "Device", "Knob", "Wanted", "Found", NULL };
	_cleanup_message_ sd_bus_message *reply = NULL;
	_cleanup_json_ json_object *all = NULL;
	json_object *differences;
	size_t n, n_disagree = 0;
	int status = ctl_simple_call(c, &reply, "Verify", "");

	if (status)
		return status;
	all = json_object_new_object();
	differences = json_with_keys(json_from_message(reply), keys);
	json_object_object_add(all, "Differences", differences);
	json_object_object_add(all, "Checked", json_from_message(reply));
	n = json_count(differences);
	status = c->witness ? add_testimonies(c, all, &n_disagree) : 0;
	if (status)
		return status;
	if (c->json) {
		json_print(c, all);
	} else {
		if (n > 0)
			print_differences(c, differences);
		printf("%s values read back, %zu differ\n", json_text(all, "Checked"), n);
		if (c->witness)
			print_testimonies(c, json_member(all, "Witnesses"));
	}
	return n + n_disagree > 0 ? STATUS_DIFFERENT : STATUS_OK;
}
