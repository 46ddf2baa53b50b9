/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <assert.h>
#include <getopt.h>
#include <locale.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "ctl/words.h"
#include "model/gauss.h"

typedef enum Option {
	OPT_FOR = 256,
	OPT_START_IN,
	OPT_REASON,
	OPT_CLASS,
	OPT_DEVICE,
	OPT_GROUP,
	OPT_FORBID,
	OPT_ONLY,
	OPT_POLICY,
	OPT_ALL,
	OPT_CLAIMS,
	OPT_WAKEUPS,
	OPT_WAKE,
	OPT_REPLACE,
	OPT_TOLERANCE,
	OPT_ONCE,
	OPT_WITNESS,
	OPT_LINES,
	OPT_OUTPUT,
	OPT_YES,
	OPT_DRY_RUN,
	OPT_WORKLOAD,
	OPT_DEPTH,
	OPT_PLOT,
	OPT_PROFILES,
	OPT_DESTRUCTIVE,
	OPT_RESUME,
	OPT_RUNS,
	OPT_GOAL,
	OPT_DEPTHS,
	OPT_CHUNKS,
	OPT_EXPORT,
	OPT_IMPORT,
	OPT_FORMAT,
	OPT_CARBON, /* and those that follow it in CarbonOption */
	OPT_CARBON_LAST = OPT_CARBON + _CARBON_OPTION_MAX - 1,
	OPT_SINCE,
	OPT_UNTIL,
	OPT_BY,
	OPT_CSV,
	OPT_HTML,
	OPT_CLAIM,
	OPT_LEDGER,
	OPT_JSON, /* from here on: for every verb */
	OPT_NO_PAGER,
	OPT_NO_LEGEND,
	OPT_BUS,
} Option;

static const struct option long_options[] = {
	{ "for", required_argument, NULL, OPT_FOR },
	{ "start-in", required_argument, NULL, OPT_START_IN },
	{ "reason", required_argument, NULL, OPT_REASON },
	{ "class", required_argument, NULL, OPT_CLASS },
	{ "device", required_argument, NULL, OPT_DEVICE },
	{ "group", required_argument, NULL, OPT_GROUP },
	{ "forbid", required_argument, NULL, OPT_FORBID },
	{ "only", required_argument, NULL, OPT_ONLY },
	{ "policy", required_argument, NULL, OPT_POLICY },
	{ "all", no_argument, NULL, OPT_ALL },
	{ "claims", no_argument, NULL, OPT_CLAIMS },
	{ "wakeups", no_argument, NULL, OPT_WAKEUPS },
	{ "wake", no_argument, NULL, OPT_WAKE },
	{ "replace", no_argument, NULL, OPT_REPLACE },
	{ "tolerance", required_argument, NULL, OPT_TOLERANCE },
	{ "once", no_argument, NULL, OPT_ONCE },
	{ "witness", no_argument, NULL, OPT_WITNESS },
	{ "lines", required_argument, NULL, OPT_LINES },
	{ "output", required_argument, NULL, OPT_OUTPUT },
	{ "yes", no_argument, NULL, OPT_YES },
	{ "dry-run", no_argument, NULL, OPT_DRY_RUN },
	{ "workload", required_argument, NULL, OPT_WORKLOAD },
	{ "depth", required_argument, NULL, OPT_DEPTH },
	{ "plot", required_argument, NULL, OPT_PLOT },
	{ "profiles", required_argument, NULL, OPT_PROFILES },
	{ "destructive", required_argument, NULL, OPT_DESTRUCTIVE },
	{ "resume", no_argument, NULL, OPT_RESUME },
	{ "runs", required_argument, NULL, OPT_RUNS },
	{ "goal", required_argument, NULL, OPT_GOAL },
	{ "depths", required_argument, NULL, OPT_DEPTHS },
	{ "chunks", required_argument, NULL, OPT_CHUNKS },
	{ "export", required_argument, NULL, OPT_EXPORT },
	{ "import", required_argument, NULL, OPT_IMPORT },
	{ "format", required_argument, NULL, OPT_FORMAT },
	{ "ssd", required_argument, NULL, OPT_CARBON + CARBON_SSD },
	{ "hdd", required_argument, NULL, OPT_CARBON + CARBON_HDD },
	{ "ssd-energy", required_argument, NULL, OPT_CARBON + CARBON_SSD_ENERGY },
	{ "hdd-energy", required_argument, NULL, OPT_CARBON + CARBON_HDD_ENERGY },
	{ "ssd-embodied", required_argument, NULL, OPT_CARBON + CARBON_SSD_EMBODIED },
	{ "hdd-embodied", required_argument, NULL, OPT_CARBON + CARBON_HDD_EMBODIED },
	{ "size", required_argument, NULL, OPT_CARBON + CARBON_SIZE },
	{ "rate", required_argument, NULL, OPT_CARBON + CARBON_RATE },
	{ "hdd-rate", required_argument, NULL, OPT_CARBON + CARBON_HDD_RATE },
	{ "scaling", required_argument, NULL, OPT_CARBON + CARBON_SCALING },
	{ "life", required_argument, NULL, OPT_CARBON + CARBON_LIFE },
	{ "intensity", required_argument, NULL, OPT_CARBON + CARBON_INTENSITY },
	{ "price", required_argument, NULL, OPT_CARBON + CARBON_PRICE },
	{ "protection", required_argument, NULL, OPT_CARBON + CARBON_PROTECTION },
	{ "fill", required_argument, NULL, OPT_CARBON + CARBON_FILL },
	{ "since", required_argument, NULL, OPT_SINCE },
	{ "until", required_argument, NULL, OPT_UNTIL },
	{ "by", required_argument, NULL, OPT_BY },
	{ "csv", no_argument, NULL, OPT_CSV },
	{ "html", required_argument, NULL, OPT_HTML },
	{ "claim", required_argument, NULL, OPT_CLAIM },
	{ "ledger", required_argument, NULL, OPT_LEDGER },
	{ "json", optional_argument, NULL, OPT_JSON },
	{ "no-pager", no_argument, NULL, OPT_NO_PAGER },
	{ "no-legend", no_argument, NULL, OPT_NO_LEGEND },
	{ "bus", required_argument, NULL, OPT_BUS },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{},
};

#define BIT(option) (UINT64_C(1) << ((option)-OPT_FOR))
static_assert(OPT_JSON - OPT_FOR < 64, "the options of a verb are 64 bits");
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

static const struct Verb {
	const char *name;
	int min_args, max_args; /* -1: any number */
	uint64_t options;       /* besides those for every verb */
	const char *usage;
	int (*run)(Ctl *c);
} verbs[] = {
	{ "status", 0, 0, 0, "", verb_status },
	{ "set", 1, 1, CLAIM_OPTIONS | BIT(OPT_REPLACE) | BIT(OPT_YES) | BIT(OPT_DRY_RUN), "LIMIT",
	  verb_set },
	{ "clear", 0, -1, BIT(OPT_ALL) | BIT(OPT_WAKE), "[COOKIE...]", verb_clear },
	{ "list", 0, 0, BIT(OPT_CLAIMS) | BIT(OPT_WAKEUPS) | BIT(OPT_OUTPUT), "", verb_list },
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
};

static int parse_json(Ctl *c, const char *format)
{
	c->json = true;
	c->json_pretty = !format || streq(format, "pretty");
	if (!c->json_pretty && !streq(format, "short"))
		return complain(STATUS_USAGE, "--json=%s: short or pretty would be right", format);
	return STATUS_OK;
}

static int parse_lines(Ctl *c, const char *text)
{
	if (parse_unsigned(text, UINT32_MAX, &c->lines) >= 0 && c->lines)
		return STATUS_OK;
	return complain(STATUS_USAGE, "--lines=%s: a number of rows, at least 1, would be right",
			text);
}

static int parse_depth(Ctl *c, const char *text)
{
	if (parse_unsigned(text, 65536, &c->model.depth) >= 0 && c->model.depth)
		return STATUS_OK;
	return complain(STATUS_USAGE, "--depth=%s: a number of IOs, 1 to 65536, would be right",
			text);
}

static int parse_runs(Ctl *c, const char *text)
{
	if (parse_unsigned(text, GAUSS_POINTS_MAX, &c->calibrate.runs) >= 0 &&
	    c->calibrate.runs >= 8)
		return STATUS_OK;
	return complain(STATUS_USAGE, "--runs=%s: a number of points, 8 to %d, would be right",
			text, GAUSS_POINTS_MAX);
}

static int parse_goal(Ctl *c, const char *text)
{
	const char *unit = "";

	if (parse_quantity(text, &c->calibrate.goal, &unit) < 0 || !streq(unit, "%") ||
	    c->calibrate.goal < 1 || c->calibrate.goal > 50)
		return complain(STATUS_USAGE,
				"--goal=%s: a percentage such as 8%%, 1 to 50, would be right",
				text);
	c->calibrate.goal /= 100;
	return STATUS_OK;
}

static int parse_duration(const char *option, const char *text, uint64_t *ret_us)
{
	if (parse_duration_us(text, ret_us) >= 0)
		return STATUS_OK;
	return complain(
		STATUS_USAGE,
		"--%s=%s: a duration such as 90s, 2h or 1h30min, at most 366d, would be right",
		option, text);
}

static int parse_tolerance(Ctl *c, const char *text)
{
	uint64_t us = 0;

	if (!streq(text, "none") && parse_duration_us(text, &us) < 0)
		return complain(STATUS_USAGE,
				"--tolerance=%s: none or a time such as 3s would be right", text);
	c->tolerance_s = (double)us / USEC_PER_SEC;
	return STATUS_OK;
}

static const char **text_option(Ctl *c, int option)
{
	if (option >= OPT_CARBON && option <= OPT_CARBON_LAST)
		return &c->carbon.text[option - OPT_CARBON];
	switch (option) {
	case OPT_REASON: return &c->reason;
	case OPT_CLASS: return &c->class;
	case OPT_DEVICE: return &c->device;
	case OPT_GROUP: return &c->group;
	case OPT_FORBID: return &c->forbid;
	case OPT_ONLY: return &c->only;
	case OPT_POLICY: return &c->policy;
	case OPT_WORKLOAD: return &c->model.workload;
	case OPT_PLOT: return &c->model.plot;
	case OPT_PROFILES: return &c->model.profiles;
	case OPT_DESTRUCTIVE: return &c->calibrate.destructive;
	case OPT_DEPTHS: return &c->calibrate.depths;
	case OPT_CHUNKS: return &c->calibrate.chunks;
	case OPT_EXPORT: return &c->calibrate.export;
	case OPT_IMPORT: return &c->calibrate.import;
	case OPT_SINCE: return &c->report.since;
	case OPT_UNTIL: return &c->report.until;
	case OPT_BY: return &c->report.by;
	case OPT_HTML: return &c->report.html;
	case OPT_CLAIM: return &c->report.claim;
	case OPT_LEDGER: return &c->report.ledger;
	case OPT_OUTPUT: return &c->output;
	case OPT_FORMAT: return &c->format;
	case OPT_BUS: return &c->address;
	default: return NULL;
	}
}

static int take_option(Ctl *c, int option)
{
	const char **text = text_option(c, option);

	if (text) {
		*text = optarg;
		return STATUS_OK;
	}
	switch (option) {
	case OPT_FOR: return parse_duration("for", optarg, &c->for_us);
	case OPT_START_IN: return parse_duration("start-in", optarg, &c->start_in_us);
	case OPT_TOLERANCE: return parse_tolerance(c, optarg);
	case OPT_JSON: return parse_json(c, optarg);
	case OPT_ALL: c->all = true; break;
	case OPT_CLAIMS: c->claims = true; break;
	case OPT_WAKEUPS: c->wakeups = true; break;
	case OPT_WAKE: c->wake = true; break;
	case OPT_YES: c->yes = true; break;
	case OPT_DRY_RUN: c->dry_run = true; break;
	case OPT_REPLACE: c->replace = true; break;
	case OPT_ONCE: c->once = true; break;
	case OPT_WITNESS: c->witness = true; break;
	case OPT_LINES: return parse_lines(c, optarg);
	case OPT_DEPTH: return parse_depth(c, optarg);
	case OPT_RUNS: return parse_runs(c, optarg);
	case OPT_GOAL: return parse_goal(c, optarg);
	case OPT_CSV: c->report.csv = true; break;
	case OPT_RESUME: c->calibrate.resume = true; break;
	case OPT_NO_PAGER: c->pager = false; break;
	case OPT_NO_LEGEND: c->legend = false; break;
	default: /* getopt has said what is wrong */ return STATUS_USAGE;
	}
	return STATUS_OK;
}

/* -1: go on. */
static int parse_options(Ctl *c, int argc, char **argv, uint64_t *ret_given)
{
	int option, status;

	while ((option = getopt_long(argc, argv, "hVo:", long_options, NULL)) >= 0) {
		if (option == 'h') {
			ctl_help();
			return STATUS_OK;
		}
		if (option == 'V') {
			puts("storpowerctl " STORPOWER_VERSION);
			return STATUS_OK;
		}
		if (option == 'o')
			option = OPT_OUTPUT;
		status = take_option(c, option);
		if (status)
			return status;
		if (option < OPT_JSON)
			*ret_given |= BIT(option);
	}
	c->args = argv + optind;
	c->n_args = argc - optind;
	return -1;
}

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
	for (const struct option *o = long_options; o->val < OPT_JSON; o++)
		if (given & BIT(o->val) & ~v->options)
			return complain(STATUS_USAGE, "%s takes no --%s: see storpowerctl --help",
					v->name, o->name);
	if (c->n_args < v->min_args || (v->max_args >= 0 && c->n_args > v->max_args))
		return complain(STATUS_USAGE, "Usage: storpowerctl %s%s%s", v->name,
				*v->usage ? " " : "", v->usage);
	return check_output(c, v);
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

int main(int argc, char **argv)
{
	_cleanup_free_ char *joined = NULL;
	Ctl c = { .address = getenv("STORPOWER_BUS") ?: "system",
		  .tolerance_s = NAN,
		  .pager = true,
		  .legend = true,
		  .bold = isatty(STDOUT_FILENO),
		  .width = words_terminal_width() };
	const struct Verb *verb = &verbs[0];
	uint64_t given = 0;
	int status;

	setlocale(LC_CTYPE, "");
	status = parse_options(&c, argc, argv, &given);
	if (status >= 0)
		return status;
	if (c.n_args > 0) {
		verb = find_verb(c.args[0]);
		if (!verb)
			return complain(STATUS_USAGE,
					"Unknown verb \"%s\": see storpowerctl --help", c.args[0]);
		c.args++;
		c.n_args--;
	}
	status = join_limit(&c, verb, &joined) ?: check_usage(&c, verb, given);
	if (!status)
		status = verb->run(&c);
	pager_close();
	sd_bus_flush_close_unref(c.bus);
	return status;
}
