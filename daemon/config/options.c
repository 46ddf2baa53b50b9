/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>

#include "base/log.h"
#include "base/text.h"

enum {
	OPTION_SIMULATE = 0x100,
	OPTION_BUS,
	OPTION_STATE,
	OPTION_RUNTIME,
	OPTION_CONFIG,
	OPTION_DATA,
	OPTION_NO_BPF,
	OPTION_LOG_LEVEL,
	OPTION_CHECK,
	OPTION_RESTORE,
};

static const struct option long_options[] = {
	{ "simulate", required_argument, NULL, OPTION_SIMULATE },
	{ "bus", required_argument, NULL, OPTION_BUS },
	{ "state-directory", required_argument, NULL, OPTION_STATE },
	{ "runtime-directory", required_argument, NULL, OPTION_RUNTIME },
	{ "config-directory", required_argument, NULL, OPTION_CONFIG },
	{ "data-directory", required_argument, NULL, OPTION_DATA },
	{ "no-bpf", no_argument, NULL, OPTION_NO_BPF },
	{ "log-level", required_argument, NULL, OPTION_LOG_LEVEL },
	{ "check-config", no_argument, NULL, OPTION_CHECK },
	{ "restore", no_argument, NULL, OPTION_RESTORE },
	{ "version", no_argument, NULL, 'V' },
	{ "help", no_argument, NULL, 'h' },
	{},
};

static void print_help(void)
{
	puts("storpowerd [OPTIONS]\n"
	     "\n"
	     "Keeps the power of this node's storage within a budget.\n"
	     "\n"
	     "  --simulate=FILE           manage a simulated node: a .node file, or the name of a\n"
	     "                            shipped one (mixed, flash, archive, untrue, tiny,\n"
	     "                            case-study)\n"
	     "  --bus=system|session|ADDRESS\n"
	     "                            offer org.storpower1 there (default: system)\n"
	     "  --restore                 put back what an earlier run left changed, and end\n"
	     "  --check-config            read the configuration, policies and profiles, report what is\n"
	     "                            wrong, and end\n"
	     "  --state-directory=DIR     keep journal, claims, wear accounts and wake tests there\n"
	     "                            (/var/lib/storpower)\n"
	     "  --runtime-directory=DIR   keep a simulated node's registers there (/run/storpower)\n"
	     "  --config-directory=DIR    read the configuration from there alone, instead of\n"
	     "                            /etc/storpower, /run/storpower and " STORPOWER_VENDORDIR
	     "\n"
	     "  --data-directory=DIR      read profiles, policies and nodes from there\n"
	     "                            (" STORPOWER_DATADIR ")\n"
	     "  --no-bpf                  meter by the devices' own counters only\n"
	     "  --log-level=LEVEL         log nothing less urgent: error, warning, notice, info, debug\n"
	     "  --version, --help\n"
	     "\n"
	     "Exit status: 0 ended by a signal, or nothing left to restore or to complain of;\n"
	     "1 failure, or --check-config found something; 2 wrong usage.\n"
	     "\n"
	     "See storpowerd(8), storpower.conf(5), storpowerctl(1).");
}

static int parse_log_level(const char *name)
{
	static const struct {
		const char *name;
		int level;
	} levels[] = {
		{ "error", LOG_ERR }, { "warning", LOG_WARNING }, { "notice", LOG_NOTICE },
		{ "info", LOG_INFO }, { "debug", LOG_DEBUG },
	};

	for (size_t i = 0; i < ELEMENTSOF(levels); i++)
		if (streq(name, levels[i].name))
			return levels[i].level;
	fprintf(stderr,
		"storpowerd: --log-level is one of error, warning, notice, info, debug, not "
		"\"%s\"\n",
		name);
	return -EINVAL;
}

static int take_option(Options *o, int option)
{
	switch (option) {
	case OPTION_SIMULATE: o->simulate = optarg; break;
	case OPTION_BUS: o->bus = optarg; break;
	case OPTION_STATE: o->state_directory = optarg; break;
	case OPTION_RUNTIME: o->runtime_directory = optarg; break;
	case OPTION_CONFIG: o->config_directory = optarg; break;
	case OPTION_DATA: o->data_directory = optarg; break;
	case OPTION_NO_BPF: o->no_bpf = true; break;
	case OPTION_LOG_LEVEL: return o->log_level = parse_log_level(optarg);
	case OPTION_CHECK: o->action = ACTION_CHECK_CONFIG; break;
	case OPTION_RESTORE: o->action = ACTION_RESTORE; break;
	case 'V':
		puts("storpowerd " STORPOWER_VERSION);
		o->action = ACTION_NOTHING;
		break;
	case 'h':
		print_help();
		o->action = ACTION_NOTHING;
		break;
	default: return -EINVAL; /* getopt has complained */
	}
	return 0;
}

int options_parse(int argc, char **argv, Options *ret)
{
	Options o = { .action = ACTION_RUN, .log_level = -1 };
	int option;

	while ((option = getopt_long(argc, argv, "hV", long_options, NULL)) >= 0) {
		int r = take_option(&o, option);

		if (r < 0)
			return r;
	}
	if (optind < argc) {
		fprintf(stderr, "storpowerd: \"%s\" is not an option: see storpowerd --help\n",
			argv[optind]);
		return -EINVAL;
	}
	*ret = o;
	return 0;
}
