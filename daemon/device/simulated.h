/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A simulated storage node: the hardware where there is none. It obeys physics that the daemon does
 * not know (a hidden truth beside the profile) and keeps its registers in a file, so that, like
 * hardware, it remembers its settings when the daemon is killed. */

#include "device/inventory.h"

/* registers_path: file mapped as the hardware's memory, made when absent; NULL: memory only.
 * Complaints about the node file are logged with file:line. */
int sim_node_open(const char *node_path, const char *registers_path, const ProfileStore *profiles,
		  const Clock *clock, Inventory **ret);

/* What only the laws of nature know; for tests, benches and the demo's witness, never the daemon.
 */
double sim_node_true_watts(Inventory *node);  /* now */
double sim_node_true_mb_s(Inventory *node);   /* now */
double sim_node_demand_mb_s(Inventory *node); /* asked for now */
double sim_node_joules(Inventory *node);      /* since opened */
/* True draw above, since the last call; NAN when a device changed its draw more than 8192 times
 * since then, which is all that it remembers. */
double sim_node_over_seconds(Inventory *node, double budget_w);
size_t sim_node_size(Inventory *node);
const char *sim_node_policy(Inventory *node); /* the policy the node file suggests; NULL none */

typedef enum SimFault {
	SIM_HEALTHY,
	SIM_REFUSE, /* every set fails with EIO */
	SIM_LIE,    /* sets succeed and read back, and change nothing in truth... but watts */
	SIM_IGNORE, /* sets succeed and change nothing: the read-back shows the old value */
	SIM_VANISH, /* -ENODEV, then DEVICE_REMOVED */
	SIM_RESET,  /* registers back to power-on, DEVICE_RESET; then healthy */
	SIM_SLOW,   /* every set takes 50 times as long */
} SimFault;
int sim_node_inject(Inventory *node, const char *device, SimFault fault);
/* The register contents as text, one "DEVICE REGISTER VALUE" a line: what a test compares before
 * and after. */
int sim_node_dump(Inventory *node, char **ret_text);
