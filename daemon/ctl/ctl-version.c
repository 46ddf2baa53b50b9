/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ctl/ctl.h"
#include "ctl/report-time.h"

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

static void print_policy(json_object *state)
{
	json_object *origin = json_member(state, "PolicyOrigin");
	const char *by = json_text(origin, "ChosenBy"), *unsaved = json_text(origin, "Unsaved");
	char when[32];

	printf("%s", json_text(state, "Policy"));
	if (*by)
		printf(" (chosen by %s at %s; %s is configured)\n", by,
		       report_time_text(when, sizeof(when),
					(int64_t)(json_number(origin, "ChosenUSec") / 1e6)),
		       json_text(origin, "Configured"));
	else
		puts(" (configured)");
	if (*unsaved)
		printf("The choice could not be saved (%s): a restart would end it\n", unsaved);
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
		print_policy(state);
	return STATUS_OK;
}
