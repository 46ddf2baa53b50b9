/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ctl/ctl-options.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "base/clock.h"
#include "ctl/suggest.h"
#include "model/gauss.h"

const struct option ctl_options[] = {
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

static_assert(OPT_JSON - OPT_FOR < 64, "the options of a verb are 64 bits");

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
	case 'h': c->help = true; break;
	case 'V': c->version = true; break;
	default: break;
	}
	return STATUS_OK;
}

/* The argument that getopt_long() stumbled over: it stays at one of which letters are left. */
static const char *stumbled_over(int argc, char **argv)
{
	if (optind < argc && optopt > 0 && optopt < OPT_FOR && argv[optind][0] == '-' &&
	    strchr(argv[optind], optopt))
		return argv[optind];
	return argv[optind - 1];
}

/* "--clas=x" as "clas" */
static void option_name(char *buf, size_t size, const char *text)
{
	text += strspn(text, "-");
	snprintf(buf, size, "%.*s", (int)strcspn(text, "="), text);
}

/* Two of them begin so. */
static bool is_ambiguous(const char *name)
{
	size_t n = 0;

	for (const struct option *o = ctl_options; o->name; o++)
		n += !strncmp(o->name, name, strlen(name));
	return n > 1;
}

static const char *similar_option(const char *name)
{
	const char *names[80] = {};
	size_t n = 0;

	for (const struct option *o = ctl_options; o->name && n < ELEMENTSOF(names) - 1; o++)
		names[n++] = o->name;
	return suggest(name, names);
}

static int unknown_option(const char *text)
{
	const char *similar;
	char name[64];

	option_name(name, sizeof(name), text);
	if (is_ambiguous(name))
		return complain(STATUS_USAGE,
				"--%s can be more than one option: see storpowerctl --help", name);
	similar = similar_option(name);
	return complain(STATUS_USAGE, "Unknown option --%s%s%s%s", name,
			similar ? ": did you mean --" : ": see storpowerctl --help", similar ?: "",
			similar ? "?" : "");
}

/* What getopt_long() does not take, in words of our own: "-5W" is no option to whoever types it. */
static int refuse_option(int option, const char *text)
{
	char name[64];

	option_name(name, sizeof(name), text);
	if (isdigit((unsigned char)text[1]) || text[1] == '.')
		return complain(
			STATUS_USAGE,
			"\"%s\" begins with \"-\", as options do, and no number here is below "
			"0: a limit such as 80%% or 350W would be right",
			text);
	if (option == ':')
		return complain(STATUS_USAGE, "%s wants a value: %s%s... would be right", text,
				text, text[1] == '-' ? "=" : " ");
	if (optopt >= OPT_FOR)
		return complain(STATUS_USAGE, "--%s takes no value", name);
	if (optopt)
		return complain(STATUS_USAGE, "Unknown option -%c: see storpowerctl --help",
				optopt);
	return unknown_option(text);
}

int ctl_parse_options(Ctl *c, int argc, char **argv, uint64_t *ret_given)
{
	int option, status;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":hVo:", ctl_options, NULL)) >= 0) {
		if (option == '?' || option == ':')
			return refuse_option(option, stumbled_over(argc, argv));
		if (option == 'o')
			option = OPT_OUTPUT;
		status = take_option(c, option);
		if (status)
			return status;
		if (option >= OPT_FOR && option < OPT_JSON)
			*ret_given |= BIT(option);
	}
	c->args = argv + optind;
	c->n_args = argc - optind;
	return STATUS_OK;
}
