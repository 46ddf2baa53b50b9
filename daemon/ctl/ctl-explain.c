/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ctl/alternatives.h"
#include "ctl/decisions.h"
#include "ctl/table.h"
#include "ctl/words.h"

static json_object *find_present(json_object *present, const char *name)
{
	for (size_t i = 0; i < json_count(present); i++) {
		json_object *p = json_object_array_get_idx(present, i);

		if (streq(json_text(p, "Device"), name))
			return p;
	}
	return NULL;
}

/* The devices that the answer is about. */
static json_object *pick(json_object *devices, json_object *present)
{
	json_object *picked = json_object_new_array();

	for (size_t i = 0; i < json_count(devices); i++) {
		json_object *d = json_object_array_get_idx(devices, i);

		if (find_present(present, json_text(d, "Name")))
			json_object_array_add(picked, json_object_get(d));
	}
	fold_sort(picked);
	return picked;
}

static void print_present(const Ctl *c, json_object *devices)
{
	static const char *const columns[] = { "DEVICE", "SETTING, AND WHY", NULL };
	_cleanup_(table_freep) Table *t = table_new(columns);
	Fold f = { .devices = devices };

	while (fold_next(&f, fold_alike)) {
		char name[96], setting[WORDS_SIZE];

		table_row(t, fold_name(name, sizeof(name), &f, "Name"),
			  words_explained(setting, fold_first(&f), fold_mean(&f, "Pace"),
					  fold_mean(&f, "ExpectedThroughput")));
	}
	table_print(t, c);
}

static void print_all(Ctl *c, json_object *all, json_object *devices)
{
	_cleanup_json_ json_object *picked = pick(devices, json_member(all, "Present"));
	Alternatives *alternatives = alternatives_ask(c);

	pager_open(c);
	print_present(c, picked);
	if (c->n_args) /* of all devices it would hide the rest */
		print_learned(json_object_array_get_idx(picked, 0));
	alternatives_print(c, alternatives);
	putchar('\n');
	print_decisions(c, json_member(all, "Decisions"));
	alternatives_free(alternatives);
}

int verb_explain(Ctl *c)
{
	static const char *const present_keys[] = { "Device", "Setting", "Reason", NULL };
	static const char *const decision_keys[] = { "RealtimeUSec", "Device", "What", "Why",
						     NULL };
	_cleanup_message_ sd_bus_message *reply = NULL;
	_cleanup_json_ json_object *all = NULL, *devices = NULL;
	json_object *present;
	int status = ctl_simple_call(c, &reply, "Explain", "s",
				     c->n_args ? ctl_device_name(c->args[0]) : "");

	if (status)
		return status;
	present = json_with_keys(json_from_message(reply), present_keys);
	all = json_object_new_object();
	json_object_object_add(all, "Present", present);
	json_object_object_add(all, "Decisions",
			       json_with_keys(json_from_message(reply), decision_keys));
	if (c->json) {
		json_print(c, all);
		return STATUS_OK;
	}
	status = ctl_get_devices(c, &devices);
	if (!status)
		print_all(c, all, devices);
	return status;
}
