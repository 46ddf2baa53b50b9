/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Names that a word may become. */

#include <string.h>

#include "ctl/complete.h"
#include "ctl/ctl-model.h"
#include "model/setting.h"

static json_object *get_devices(const Typed *t)
{
	json_object *devices = NULL;

	if (ctl_daemon_runs(t->ctl))
		(void)ctl_get_devices(t->ctl, &devices);
	return devices;
}

static json_object *get_state(const Typed *t)
{
	json_object *state = NULL;

	if (ctl_daemon_runs(t->ctl))
		(void)ctl_get_known_state(t->ctl, &state);
	return state;
}

void complete_devices(const Typed *t)
{
	_cleanup_json_ json_object *devices = get_devices(t);

	for (size_t i = 0; i < json_count(devices); i++) {
		json_object *d = json_object_array_get_idx(devices, i);

		complete_offer(t, json_text(d, "Name"), json_text(d, "Model"));
	}
}

void complete_groups(const Typed *t)
{
	_cleanup_json_ json_object *devices = get_devices(t), *seen = json_object_new_object();

	for (size_t i = 0; i < json_count(devices); i++) {
		const char *group = json_text(json_object_array_get_idx(devices, i), "Group");

		if (*group && !json_object_object_get_ex(seen, group, NULL))
			complete_offer(t, group, "");
		json_object_object_add(seen, group, NULL);
	}
}

void complete_claims(const Typed *t)
{
	_cleanup_json_ json_object *state = get_state(t);
	json_object *claims = json_member(state, "Claims");

	for (size_t i = 0; i < json_count(claims); i++) {
		json_object *claim = json_object_array_get_idx(claims, i);
		const char *reason = json_text(claim, "Reason"),
			   *target = json_text(claim, "Target");
		char limit[64], about[256];

		format_claim_limit(limit, sizeof(limit), claim);
		snprintf(about, sizeof(about), "%s%s%s%s%s", limit, *target ? " of " : "", target,
			 *reason ? ": " : "", reason);
		complete_offer(t, json_text(claim, "Cookie"), about);
	}
}

void complete_policies(const Typed *t)
{
	_cleanup_(strv_freep) char **names = ctl_policy_names();
	_cleanup_json_ json_object *state = get_state(t);
	const char *present = json_text(state, "Policy");
	bool told = false;

	for (char **n = names; n && *n; n++) {
		told |= streq(*n, present);
		complete_offer(t, *n, streq(*n, present) ? "in force" : "");
	}
	if (*present && !told)
		complete_offer(t, present, "in force");
}

void complete_profiles(const Typed *t)
{
	ProfileStore *store = NULL;

	if (model_read_store(t->ctl, &store))
		return;
	for (size_t i = 0; i < store->n; i++)
		complete_offer(t, store->profiles[i]->name, "");
	profile_store_free(store);
}

void complete_models(const Typed *t)
{
	if (t->n_args == 0) {
		for (size_t i = 0; model_subverb(i); i++)
			complete_offer(t, model_subverb(i), "");
	} else if (streq(t->first, "validate")) {
		puts(":file");
	} else if (!streq(t->first, "list") && !streq(t->first, "drift")) {
		complete_profiles(t);
		complete_devices(t);
	}
}

void complete_verbs(const Typed *t)
{
	for (size_t i = 0; i < json_count(t->verbs); i++) {
		const char *verb = json_text(json_object_array_get_idx(t->verbs, i), "Verb");
		_cleanup_free_ char *about = ctl_help_about_verb(verb);

		complete_offer(t, verb, about ?: "");
	}
}

json_object *complete_verb(const Typed *t)
{
	for (size_t i = 0; t->verb && i < json_count(t->verbs); i++) {
		json_object *verb = json_object_array_get_idx(t->verbs, i);

		if (streq(json_text(verb, "Verb"), t->verb))
			return verb;
	}
	return NULL;
}

void complete_mechanisms(const Typed *t)
{
	for (unsigned m = 1; m & MECHANISM_ALL; m <<= 1)
		complete_offer(t, mechanism_name((Mechanism)m), "");
}

/* A number wants a unit. */
void complete_limits(const Typed *t)
{
	size_t n = strspn(t->last, "0123456789.");
	char word[64];

	if (!n || n > 12)
		return;
	snprintf(word, sizeof(word), "%.*s%%", (int)n, t->last);
	complete_offer(t, word, "of what the devices draw at most");
	snprintf(word, sizeof(word), "%.*sW", (int)n, t->last);
	complete_offer(t, word, "watts");
	snprintf(word, sizeof(word), "%.*skW", (int)n, t->last);
	complete_offer(t, word, "kilowatts");
}

/* Metrics go into a file, tables are wide. */
void complete_output(const Typed *t)
{
	complete_words(t, t->verb && streq(t->verb, "metrics") ? ":file" : "wide");
}
