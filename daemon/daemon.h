/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The daemon as it is wired: by setup.c at first, and by reload.c again. */

#include "config/config.h"
#include "config/options.h"
#include "control/control.h"
#include "hw/block.h"

/* What run, restore and check have in common. */
typedef struct Daemon {
	Options options;
	const char *config_directories[4], *policy_directories[3];
	char **profile_directories;
	char *etc_policies;
	Config *config;
	size_t warnings;
	ProfileStore *profiles;
	Inventory *inventory;
	WakeRecord *wakes;
	char *node_path, *registers_path, *journal_path, *claims_path, *wear_path, *wakes_path;
	char *operating_path, *choice_path;
	char *ledger_path;
	const char *policy;
	Control *control; /* while it runs */
} Daemon;

/* Reads the configuration and the profiles. */
int daemon_prepare(Daemon *d);
/* What the command line says comes first. */
void daemon_override_config(const Daemon *d, Config *c);
/* Makes the folders of state and the paths in them. */
int daemon_set_paths(Daemon *d);
int daemon_open_wakes(Daemon *d);
int daemon_open_inventory(Daemon *d);
/* Opens the simulated node of that name. */
int daemon_open_node(Daemon *d, const char *name);
void daemon_done(Daemon *d);

const char *daemon_state_directory(const Daemon *d);
const char *daemon_node_name(const Daemon *d); /* of a simulated one; NULL: the devices are real */
/* The policy that this configuration names, else the node, else everybody's. */
const char *daemon_policy_name(const Daemon *d, const Config *c);
ControlConfig daemon_control_config(const Daemon *d);
BlockOptions daemon_block_options(const Daemon *d);

/* reload.c: everything is read again; what is wrong is logged, and then nothing has changed. On
 * error *ret_error (malloc'd) says the first of it. */
int daemon_reload(void *daemon, char **ret_error);
