/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How a word that is being typed may go on, for the shells (packaging/completions): a line for each
 * way, and behind a tab what it is. What the shell itself knows is ":file", ":directory" or
 * ":command". */

#include <string.h>

#include "base/clock.h"
#include "ctl/complete.h"
#include "ctl/ctl-model.h"
#include "ctl/ctl-options.h"

#define PATIENCE_US USEC_PER_SEC
#define ANY         1000 /* arguments */

/* What may be the value of an option, or the arguments of a verb. */
static const struct Values {
	const char *name; /* "--class", or "clear" */
	int max_args;     /* of a verb */
	const char *words;
	void (*offer)(const Typed *t);
} values[] = {
	{ "--device", 0, NULL, complete_devices },
	{ "--group", 0, NULL, complete_groups },
	{ "--policy", 0, NULL, complete_policies },
	{ "--claim", 0, NULL, complete_claims },
	{ "--ssd", 0, NULL, complete_profiles },
	{ "--hdd", 0, NULL, complete_profiles },
	{ "--class", 0, "emergency operator signal schedule", NULL },
	{ "--forbid", 0, NULL, complete_mechanisms },
	{ "--only", 0, NULL, complete_mechanisms },
	{ "--tolerance", 0, "none 3s", NULL },
	{ "--for", 0, "15min 1h 2h 1d", NULL },
	{ "--start-in", 0, "15min 1h 2h 1d", NULL },
	{ "--since", 0, "today yesterday -2h -7d", NULL },
	{ "--until", 0, "now today yesterday -2h", NULL },
	{ "--by", 0, "device pool group cgroup day hour node", NULL },
	{ "--format", 0, "prometheus openmetrics", NULL },
	{ "--json", 0, "short pretty", NULL },
	{ "--bus", 0, "system session", NULL },
	{ "--html", 0, ":file", NULL },
	{ "--plot", 0, ":file", NULL },
	{ "--export", 0, ":file", NULL },
	{ "--import", 0, ":file", NULL },
	{ "--ledger", 0, ":file", NULL },
	{ "--profiles", 0, ":directory", NULL },
	{ "--output", 0, NULL, complete_output },
	{ "status", 1, NULL, complete_devices },
	{ "show", 1, NULL, complete_devices },
	{ "explain", 1, NULL, complete_devices },
	{ "wake", 1, NULL, complete_devices },
	{ "wake-test", 1, NULL, complete_devices },
	{ "calibrate", 1, NULL, complete_devices },
	{ "clear", ANY, NULL, complete_claims },
	{ "policy", 1, NULL, complete_policies },
	{ "mode", 1, "advise enforce", NULL },
	{ "help", 1, NULL, complete_verbs },
	{ "model", ANY, NULL, complete_models },
	{ "efficiency", ANY, NULL, complete_profiles },
	{ "set", 1, NULL, complete_limits },
	{ "plan", 1, NULL, complete_limits },
	{ "hold", 1, NULL, complete_limits },
};

void complete_offer(const Typed *t, const char *word, const char *about)
{
	if (*word == ':')
		puts(word);
	else if (!strncmp(word, t->last, strlen(t->last)))
		printf("%.*s%s\t%s\n", (int)t->n_before, t->before, word, about);
}

void complete_words(const Typed *t, const char *words)
{
	_cleanup_(strv_freep) char **all = strv_split(words);

	for (char **w = all; w && *w; w++)
		complete_offer(t, *w, "");
}

static void offer_values(const Typed *t, const char *of)
{
	for (size_t i = 0; i < ELEMENTSOF(values); i++) {
		if (!streq(values[i].name, of) || (*of != '-' && t->n_args >= values[i].max_args))
			continue;
		if (values[i].offer)
			values[i].offer(t);
		else
			complete_words(t, values[i].words);
		return;
	}
}

static const struct option *find_option(const char *word)
{
	const char *name = streq(word, "-o") ? "--output" : word;

	for (const struct option *o = ctl_options; o->name && !strncmp(name, "--", 2); o++)
		if (streq(o->name, name + 2))
			return o;
	return NULL;
}

/* Those of the verb, or all where none is typed yet. "--json" is offered without its value. */
static void offer_options(const Typed *t)
{
	json_object *options = json_member(complete_verb(t), "Options");

	for (const struct option *o = ctl_options; o->name; o++) {
		_cleanup_free_ char *about = ctl_help_about_option(o->name, t->verb);
		char word[64];
		bool taken = !options;

		for (size_t i = 0; i < json_count(options); i++)
			taken |=
				streq(json_object_get_string(json_object_array_get_idx(options, i)),
				      o->name);
		snprintf(word, sizeof(word), "--%s%s", o->name,
			 o->has_arg == required_argument ? "=" : "");
		if (taken)
			complete_offer(t, word, about ?: "");
	}
}

/* Takes a word that is complete; true: its value is the next one. */
static bool take_word(Typed *t, const char *word)
{
	const struct option *o = find_option(word);

	if (streq(word, "--"))
		t->is_command = true;
	else if (!strncmp(word, "--bus=", strlen("--bus=")))
		t->ctl->address = word + strlen("--bus=");
	else if (!strncmp(word, "--profiles=", strlen("--profiles=")))
		t->ctl->model.profiles = word + strlen("--profiles=");
	if (o || *word == '-')
		return o && o->has_arg == required_argument;
	if (!t->verb)
		t->verb = word;
	else if (t->n_args++ == 0)
		t->first = word;
	return false;
}

/* What stands before what is completed: "--group=", or "depth," of a list. */
static void set_aside(Typed *t, size_t n)
{
	t->n_before += n;
	t->last += n;
}

static void read_last(Typed *t, char *option, size_t size)
{
	const char *equals = strchr(t->last, '='), *comma;

	t->before = t->last;
	if (!strncmp(t->last, "--", 2) && equals) {
		snprintf(option, size, "%.*s", (int)(equals - t->last), t->last);
		t->option = option;
		set_aside(t, (size_t)(equals + 1 - t->last));
	}
	comma = t->option ? strrchr(t->last, ',') : NULL;
	if (comma)
		set_aside(t, (size_t)(comma + 1 - t->last));
}

static void offer_all(const Typed *t)
{
	if (t->option)
		offer_values(t, t->option);
	else if (t->is_command)
		puts(":command");
	else if (*t->last == '-')
		offer_options(t);
	else if (!t->verb)
		complete_verbs(t);
	else if (t->n_args == 1 && streq(t->verb, "calibrate"))
		puts(":file");
	else
		offer_values(t, t->verb);
}

int ctl_complete(Ctl *c, json_object *verbs)
{
	Typed t = { .ctl = c, .verbs = verbs, .last = "" };
	char option[64];

	c->patience_us = PATIENCE_US;
	for (int i = 0; i + 1 < c->n_args; i++)
		if (take_word(&t, c->args[i]) && ++i + 1 >= c->n_args)
			t.option = streq(c->args[i - 1], "-o") ? "--output" : c->args[i - 1];
	if (c->n_args > 0)
		t.last = c->args[c->n_args - 1];
	read_last(&t, option, sizeof(option));
	offer_all(&t);
	return STATUS_OK;
}
