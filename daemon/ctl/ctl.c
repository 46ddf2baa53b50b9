/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <getopt.h>
#include <locale.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "ctl/words.h"

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
	OPT_CONFIG_DIRECTORY,
	OPT_DATA_DIRECTORY,
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
	{ "config-directory", required_argument, NULL, OPT_CONFIG_DIRECTORY },
	{ "data-directory", required_argument, NULL, OPT_DATA_DIRECTORY },
	{ "json", optional_argument, NULL, OPT_JSON },
	{ "no-pager", no_argument, NULL, OPT_NO_PAGER },
	{ "no-legend", no_argument, NULL, OPT_NO_LEGEND },
	{ "bus", required_argument, NULL, OPT_BUS },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{},
};

#define BIT(option) (1u << ((option)-OPT_FOR))
#define CLAIM_OPTIONS                                                                              \
	(BIT(OPT_FOR) | BIT(OPT_START_IN) | BIT(OPT_REASON) | BIT(OPT_CLASS) | BIT(OPT_DEVICE) |   \
	 BIT(OPT_GROUP) | BIT(OPT_TOLERANCE))

static const struct Verb {
	const char *name;
	int min_args, max_args; /* -1: any number */
	unsigned options;       /* besides those for every verb */
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
	  BIT(OPT_TOLERANCE) | BIT(OPT_FORBID) | BIT(OPT_ONLY) | BIT(OPT_POLICY) | BIT(OPT_OUTPUT),
	  "LIMIT", verb_plan },
	{ "explain", 0, 1, 0, "[DEVICE]", verb_explain },
	{ "verify", 0, 0, BIT(OPT_WITNESS), "", verb_verify },
	{ "monitor", 0, 0, 0, "", verb_monitor },
	{ "hold", 2, -1, CLAIM_OPTIONS, "LIMIT -- COMMAND [ARGUMENT...]", verb_hold },
	{ "wake", 0, 1, BIT(OPT_ALL), "DEVICE | --all", verb_wake },
	{ "wake-test", 1, 1, 0, "DEVICE", verb_wake_test },
	{ "policy", 0, 1, 0, "[NAME]", verb_policy },
	{ "mode", 0, 1, 0, "[advise | enforce]", verb_mode },
	{ "model", 1, -1,
	  BIT(OPT_WORKLOAD) | BIT(OPT_DEPTH) | BIT(OPT_PLOT) | BIT(OPT_CONFIG_DIRECTORY) |
		  BIT(OPT_DATA_DIRECTORY) | BIT(OPT_OUTPUT),
	  "list | show | frontier | predict | compare | validate [ARGUMENT...]", verb_model },
	{ "version", 0, 0, 0, "", verb_version },
};

static void print_help(void)
{
	puts("storpowerctl [OPTION...] VERB ...\n"
	     "\n"
	     "Limit what the storage of this node may draw, and see what is done about it.\n"
	     "\n"
	     "  status               show budget, watts, throughput and claims (the default)\n"
	     "  set LIMIT            limit the node (or --device, --group) until cleared\n"
	     "  clear [COOKIE...]    end what \"set\" set; with --all every claim; or these claims\n"
	     "  list                 list the devices; with --claims the claims, with --wakeups the disks\n"
	     "                       that woke and who woke them\n"
	     "  show DEVICE          show one device, its wear account and its knobs\n"
	     "  top                  show which devices and cgroups spend the joules\n"
	     "  plan LIMIT           show what would be done; change nothing\n"
	     "  explain [DEVICE]     say why devices are set as they are; list the last decisions\n"
	     "  verify               read every setting back and tell what differs\n"
	     "  monitor              print what happens as it happens\n"
	     "  hold LIMIT -- CMD    limit while CMD runs\n"
	     "  wake DEVICE          wake a disk; with --all every disk that sleeps\n"
	     "  wake-test DEVICE     test whether a read alone wakes this disk: SAS disks need it to sleep\n"
	     "  policy [NAME]        show or choose the policy\n"
	     "  mode [MODE]          show the mode or choose it: enforce limits, or advise and set nothing\n"
	     "  model list           list the models of power and throughput, and who uses them\n"
	     "  model show MODEL     show what is in one: a profile, that of a device, or a file\n"
	     "  model frontier MODEL show the settings of which none gives more for fewer watts\n"
	     "  model predict [MODEL[xN]]...\n"
	     "                       predict throughput, response times and watts of a workload; of the\n"
	     "                       devices as they work now, of profiles, or of a node file\n"
	     "  model compare A B    compare two models point by point\n"
	     "  model validate FILE  check profile files\n"
	     "  version              print the version of this command and of the daemon\n"
	     "\n"
	     "LIMIT is a share of the operating power (80%) or a power (350W, 0.35kW).\n"
	     "\n"
	     "  --for=DURATION       set, hold: end by itself (90s, 2h, 1h30min)\n"
	     "  --start-in=DURATION  set, hold: begin later\n"
	     "  --reason=TEXT        set, hold: say why, for those who look\n"
	     "  --class=CLASS        set, hold: emergency, operator (default), signal, schedule\n"
	     "  --device=NAME        set, hold: limit one device\n"
	     "  --group=NAME         set, hold: limit one group\n"
	     "  --tolerance=SECONDS  set, hold, plan: the limit may be exceeded for a moment: twice the limit for\n"
	     "                       so long, or by less for longer (3s); none: never\n"
	     "  --replace            set: end your earlier claims on the same target; each \"set\" is a claim\n"
	     "                       of its own otherwise, and the lowest holds\n"
	     "  --dry-run            set: print what it would cost; change nothing\n"
	     "  --yes                set: do not ask, however much it costs\n"
	     "  --forbid=LIST        plan: do without these mechanisms: power-state, power-limit,\n"
	     "                       condition, link, depth, chunk, pacing, redirect\n"
	     "  --only=LIST          plan: use these mechanisms alone\n"
	     "  --policy=NAME        plan: use another policy\n"
	     "  --all                clear: end the claims of others too; wake: wake every disk that sleeps\n"
	     "  --wake               clear: wake what sleeps as well; nothing is woken otherwise\n"
	     "  --claims, --wakeups  list: list these instead of devices\n"
	     "  --workload=WORDS     model frontier, predict: \"read=70% random=100% chunk=16K depth=32\"\n"
	     "  --depth=N            model predict: no more than N IOs outstanding at each device\n"
	     "  --plot=FILE          model frontier: draw it to FILE.svg or FILE.png, by gnuplot\n"
	     "  --config-directory=DIR, --data-directory=DIR\n"
	     "                       model: read profiles below these, as storpowerd would\n"
	     "  -o wide              list, plan, model: a line for each device, with every column\n"
	     "  --witness            verify: ask nvme, hdparm and sg_requests as well\n"
	     "  --once               top: print one table, and end\n"
	     "  --lines=N            top: print no more rows than this\n"
	     "  --json[=short|pretty]\n"
	     "  --no-pager, --no-legend\n"
	     "  --bus=BUS            system (default), session or an address; or $STORPOWER_BUS\n"
	     "  -h, --help           -V, --version\n"
	     "\n"
	     "Exit status: 0 done; 1 failure; 2 wrong usage; 3 storpowerd not running;\n"
	     "4 refused: not authorized, unknown name, invalid value, not confirmed; 5 verify: settings differ;\n"
	     "6 set: in force, but the devices cannot get down to it; hold: that of CMD, 128+N when\n"
	     "signal N killed it, 126 or 127 when it cannot be run or found, 125 when the limit was lost\n"
	     "and not in force when CMD ended.");
}

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

static int parse_output(Ctl *c, const char *text)
{
	c->wide = streq(text, "wide");
	return c->wide ? STATUS_OK
		       : complain(STATUS_USAGE, "--output=%s: wide would be right", text);
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
	case OPT_CONFIG_DIRECTORY: return &c->model.config_directory;
	case OPT_DATA_DIRECTORY: return &c->model.data_directory;
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
	case OPT_OUTPUT: return parse_output(c, optarg);
	case OPT_NO_PAGER: c->pager = false; break;
	case OPT_NO_LEGEND: c->legend = false; break;
	default: /* getopt has said what is wrong */ return STATUS_USAGE;
	}
	return STATUS_OK;
}

/* -1: go on. */
static int parse_options(Ctl *c, int argc, char **argv, unsigned *ret_given)
{
	int option, status;

	while ((option = getopt_long(argc, argv, "hVo:", long_options, NULL)) >= 0) {
		if (option == 'h') {
			print_help();
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

static int check_usage(const Ctl *c, const struct Verb *v, unsigned given)
{
	for (const struct option *o = long_options; o->val < OPT_JSON; o++)
		if (given & BIT(o->val) & ~v->options)
			return complain(STATUS_USAGE, "%s takes no --%s: see storpowerctl --help",
					v->name, o->name);
	if (c->n_args < v->min_args || (v->max_args >= 0 && c->n_args > v->max_args))
		return complain(STATUS_USAGE, "Usage: storpowerctl %s%s%s", v->name,
				*v->usage ? " " : "", v->usage);
	return STATUS_OK;
}

int main(int argc, char **argv)
{
	Ctl c = { .address = getenv("STORPOWER_BUS") ?: "system",
		  .tolerance_s = NAN,
		  .pager = true,
		  .legend = true,
		  .bold = isatty(STDOUT_FILENO),
		  .width = words_terminal_width() };
	const struct Verb *verb = &verbs[0];
	unsigned given = 0;
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
	status = check_usage(&c, verb, given);
	if (!status)
		status = verb->run(&c);
	pager_close();
	sd_bus_flush_close_unref(c.bus);
	return status;
}
