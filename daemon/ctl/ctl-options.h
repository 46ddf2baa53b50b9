/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The options of storpowerctl's command line. */

#include <getopt.h>

#include "ctl/ctl.h"

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

#define BIT(option) (UINT64_C(1) << ((option)-OPT_FOR))

extern const struct option ctl_options[]; /* those of verbs first, and then those for every verb */

/* Takes the options into c, and leaves its args. ret_given: those of verbs, as BIT()s. Prints its
 * errors and returns an exit status. */
int ctl_parse_options(Ctl *c, int argc, char **argv, uint64_t *ret_given);
