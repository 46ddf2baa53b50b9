/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* storpowerd's command line. */

#include <stdbool.h>

typedef enum Action { ACTION_RUN, ACTION_RESTORE, ACTION_CHECK_CONFIG, ACTION_NOTHING } Action;

/* Strings point into argv; NULL: as configured. */
typedef struct Options {
	Action action;
	const char *simulate, *bus;
	const char *state_directory, *runtime_directory;
	const char *config_directory, *data_directory;
	int log_level; /* -1: as configured */
	bool no_bpf;
} Options;

/* Prints help or version itself (ACTION_NOTHING). -EINVAL after a message on stderr. */
int options_parse(int argc, char **argv, Options *ret);
