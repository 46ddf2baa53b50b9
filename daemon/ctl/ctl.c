/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <locale.h>
#include <math.h>
#include <string.h>

#include "ctl/ctl-options.h"
#include "ctl/suggest.h"
#include "ctl/words.h"

#define MODEL_OPTIONS  (BIT(OPT_WORKLOAD) | BIT(OPT_PROFILES))
#define CARBON_OPTIONS (BIT(OPT_CARBON + CARBON_PRICE) - BIT(OPT_CARBON))
#define EFFICIENCY_OPTIONS                                                                         \
	(BIT(OPT_CARBON + CARBON_SIZE) | BIT(OPT_CARBON + CARBON_INTENSITY) |                      \
	 BIT(OPT_CARBON + CARBON_PRICE) | BIT(OPT_CARBON + CARBON_PROTECTION) |                    \
	 BIT(OPT_CARBON + CARBON_FILL))
#define REPORT_OPTIONS                                                                             \
	(BIT(OPT_SINCE) | BIT(OPT_UNTIL) | BIT(OPT_BY) | BIT(OPT_CSV) | BIT(OPT_HTML) |            \
	 BIT(OPT_CLAIM) | BIT(OPT_LEDGER))
#define CLAIM_OPTIONS                                                                              \
	(BIT(OPT_FOR) | BIT(OPT_START_IN) | BIT(OPT_REASON) | BIT(OPT_CLASS) | BIT(OPT_DEVICE) |   \
	 BIT(OPT_GROUP) | BIT(OPT_TOLERANCE))

static int verb_help(Ctl *c);
static int verb_complete(Ctl *c);

static const struct Verb {
	const char *name;
	int min_args, max_args; /* -1: any number */
	uint64_t options;       /* besides those for every verb */
	const char *usage;
	int (*run)(Ctl *c);
} verbs[] = {
	{ "status", 0, 1, 0, "[DEVICE]", verb_status },
	{ "set", 1, 1, CLAIM_OPTIONS | BIT(OPT_REPLACE) | BIT(OPT_YES) | BIT(OPT_DRY_RUN), "LIMIT",
	  verb_set },
	{ "clear", 0, -1, BIT(OPT_ALL) | BIT(OPT_WAKE), "[COOKIE...]", verb_clear },
	{ "list", 0, 0, BIT(OPT_GROUP) | BIT(OPT_CLAIMS) | BIT(OPT_WAKEUPS) | BIT(OPT_OUTPUT), "",
	  verb_list },
	{ "show", 1, 1, 0, "DEVICE", verb_show },
	{ "top", 0, 0, BIT(OPT_ONCE) | BIT(OPT_LINES), "", verb_top },
	{ "plan", 1, 1,
	  BIT(OPT_DEVICE) | BIT(OPT_GROUP) | BIT(OPT_TOLERANCE) | BIT(OPT_FORBID) | BIT(OPT_ONLY) |
		  BIT(OPT_POLICY) | BIT(OPT_OUTPUT),
	  "LIMIT", verb_plan },
	{ "explain", 0, 1, 0, "[DEVICE]", verb_explain },
	{ "verify", 0, 0, BIT(OPT_WITNESS), "", verb_verify },
	{ "doctor", 0, 0, BIT(OPT_PROFILES), "", verb_doctor },
	{ "monitor", 0, 0, 0, "", verb_monitor },
	{ "hold", 2, -1, CLAIM_OPTIONS, "LIMIT -- COMMAND [ARGUMENT...]", verb_hold },
	{ "wake", 0, 1, BIT(OPT_ALL), "DEVICE | --all", verb_wake },
	{ "wake-test", 1, 1, 0, "DEVICE", verb_wake_test },
	{ "policy", 0, 1, 0, "[NAME]", verb_policy },
	{ "mode", 0, 1, 0, "[advise | enforce]", verb_mode },
	{ "model", 1, -1,
	  BIT(OPT_WORKLOAD) | BIT(OPT_DEPTH) | BIT(OPT_PLOT) | BIT(OPT_PROFILES) | BIT(OPT_OUTPUT),
	  "list | show | frontier | predict | compare | validate | drift [ARGUMENT...]",
	  verb_model },
	{ "calibrate", 1, 2,
	  BIT(OPT_DESTRUCTIVE) | BIT(OPT_RESUME) | BIT(OPT_RUNS) | BIT(OPT_GOAL) | BIT(OPT_DEPTHS) |
		  BIT(OPT_CHUNKS) | BIT(OPT_EXPORT) | BIT(OPT_IMPORT),
	  "DEVICE [FILE] | --import=RECORD FILE", verb_calibrate },
	{ "carbon", 0, 0, CARBON_OPTIONS | MODEL_OPTIONS | BIT(OPT_LEDGER), "", verb_carbon },
	{ "efficiency", 0, -1, EFFICIENCY_OPTIONS | MODEL_OPTIONS | BIT(OPT_OUTPUT),
	  "[PROFILE | DEVICE...]", verb_efficiency },
	{ "report", 0, 0, EFFICIENCY_OPTIONS | REPORT_OPTIONS | BIT(OPT_OUTPUT), "", verb_report },
	{ "metrics", 0, 0, BIT(OPT_OUTPUT) | BIT(OPT_FORMAT), "", verb_metrics },
	{ "version", 0, 0, 0, "", verb_version },
	{ "help", 0, 1, 0, "[VERB]", verb_help },
	{ "complete", 0, -1, 0, "-- WORD...", verb_complete },
};

static const struct Verb *find_verb(const char *name)
{
	for (size_t i = 0; i < ELEMENTSOF(verbs); i++)
		if (streq(verbs[i].name, name))
			return &verbs[i];
	return NULL;
}

/* Metrics go into a file, tables are wide. */
static int check_output(Ctl *c, const struct Verb *v)
{
	if (!c->output || v->run == verb_metrics)
		return STATUS_OK;
	c->wide = streq(c->output, "wide");
	return c->wide ? STATUS_OK
		       : complain(STATUS_USAGE, "--output=%s: wide would be right", c->output);
}

static int check_usage(Ctl *c, const struct Verb *v, uint64_t given)
{
	for (const struct option *o = ctl_options; o->val < OPT_JSON; o++)
		if (given & BIT(o->val) & ~v->options)
			return complain(STATUS_USAGE, "%s takes no --%s: see storpowerctl --help",
					v->name, o->name);
	if (c->n_args < v->min_args || (v->max_args >= 0 && c->n_args > v->max_args))
		return complain(STATUS_USAGE, "Usage: storpowerctl %s%s%s", v->name,
				*v->usage ? " " : "", v->usage);
	return check_output(c, v);
}

/* "did you mean status?" */
static int unknown_verb(const char *name)
{
	const char *names[ELEMENTSOF(verbs) + 1] = {}, *similar;

	for (size_t i = 0; i < ELEMENTSOF(verbs) && verbs[i].run != verb_complete; i++)
		names[i] = verbs[i].name;
	similar = suggest(name, names);
	return complain(STATUS_USAGE, "Unknown verb \"%s\": %s%s%s", name,
			similar ? "did you mean " : "see storpowerctl --help", similar ?: "",
			similar ? "?" : "");
}

/* "set 350 W": the blank belongs to the limit. */
static int join_limit(Ctl *c, const struct Verb *v, char **ret_joined)
{
	const char *unit;
	double value;

	if (strncmp(v->usage, "LIMIT", strlen("LIMIT")) || c->n_args < 2 ||
	    parse_quantity(c->args[0], &value, &unit) < 0 || *unit || !limit_is_unit(c->args[1]))
		return STATUS_OK;
	*ret_joined = text_printf("%s%s", c->args[0], c->args[1]);
	if (!*ret_joined)
		return complain(STATUS_FAILURE, "Out of memory");
	c->args++;
	c->n_args--;
	c->args[0] = *ret_joined;
	return STATUS_OK;
}

static int help_with(const Ctl *c, const char *name)
{
	const struct Verb *v = find_verb(name);

	if (!v)
		return unknown_verb(name);
	ctl_help_verb(c, v->name, v->usage);
	return STATUS_OK;
}

static json_object *options_json(uint64_t of_verb)
{
	json_object *names = json_object_new_array();

	for (const struct option *o = ctl_options; o->name; o++)
		if (o->val < OPT_FOR || o->val >= OPT_JSON || (of_verb & BIT(o->val)))
			json_object_array_add(names, json_object_new_string(o->name));
	return names;
}

/* Every verb with the options that it takes, but for the last, which is for shells. */
static json_object *verbs_json(void)
{
	json_object *all = json_object_new_array();

	for (const struct Verb *v = verbs; v->run != verb_complete; v++) {
		json_object *o = json_object_new_object();

		json_put_text(o, "Verb", v->name);
		json_put_text(o, "Usage", v->usage);
		json_object_object_add(o, "Options", options_json(v->options));
		json_object_array_add(all, o);
	}
	return all;
}

static int verb_complete(Ctl *c)
{
	_cleanup_json_ json_object *all = verbs_json();

	return ctl_complete(c, all);
}

static int verb_help(Ctl *c)
{
	if (c->json) {
		_cleanup_json_ json_object *all = verbs_json();

		json_print(c, all);
		return STATUS_OK;
	}
	if (c->n_args)
		return help_with(c, c->args[0]);
	ctl_help(c);
	return STATUS_OK;
}

static int run_verb(Ctl *c, uint64_t given)
{
	const struct Verb *v = c->n_args > 0 ? find_verb(c->args[0]) : &verbs[0];
	_cleanup_free_ char *joined = NULL;
	int status;

	if (!v)
		return unknown_verb(c->args[0]);
	if (c->n_args > 0) {
		c->args++;
		c->n_args--;
	}
	status = join_limit(c, v, &joined) ?: check_usage(c, v, given);
	return status ?: v->run(c);
}

/* A dumb terminal shows escapes as rubbish, and whoever has set NO_COLOR (no-color.org) wants no
 * word to be marked. */
static void find_terminal(Ctl *c)
{
	const char *term = getenv("TERM"), *plain = getenv("NO_COLOR");

	c->terminal = isatty(STDOUT_FILENO);
	c->escapes = c->terminal && term && *term && !streq(term, "dumb");
	c->bold = c->escapes && !(plain && *plain);
	c->width = words_terminal_width();
}

int main(int argc, char **argv)
{
	Ctl c = { .address = getenv("STORPOWER_BUS") ?: "system",
		  .tolerance_s = NAN,
		  .pager = true,
		  .legend = true };
	uint64_t given = 0;
	int status;

	setlocale(LC_CTYPE, "");
	find_terminal(&c);
	status = ctl_parse_options(&c, argc, argv, &given);
	if (status)
		return status;
	if (c.help)
		return c.n_args > 0 ? help_with(&c, c.args[0]) : verb_help(&c);
	if (c.version) {
		puts("storpowerctl " STORPOWER_VERSION);
		return STATUS_OK;
	}
	status = run_verb(&c, given);
	pager_close();
	sd_bus_flush_close_unref(c.bus);
	return status;
}
