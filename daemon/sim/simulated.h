/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A simulated storage node: the hardware where there is none. It obeys physics that the daemon does
 * not know (a hidden truth beside the profile) and keeps its registers in a file, so that, like
 * hardware, it remembers its settings when the daemon is killed. */

#include "config/sensor-config.h"
#include "device/inventory.h"

/* registers_path: file mapped as the hardware's memory, made when absent; NULL: memory only.
 * Complaints about the node file are logged with file:line. */
int sim_node_open(const char *node_path, const char *registers_path, const ProfileStore *profiles,
		  const Clock *clock, Inventory **ret);

/* The profiles were read again: devices go by those of the same name from now on, and report
 * DEVICE_DESCRIBED. What they truly are stays as it was built. */
void sim_node_reread(Inventory *node, const ProfileStore *profiles);

/* Appends the node file's sensors to *configs, whose n elements the caller owns, as it does theirs.
 * They can be read while the node is open. */
int sim_node_sensors(Inventory *node, SensorConfig **configs, size_t *n);

/* What only physics knows: for tests, benches and the demo's witness, never for the daemon. */
double sim_node_true_watts(Inventory *node);  /* now */
double sim_node_true_mb_s(Inventory *node);   /* now */
double sim_node_demand_mb_s(Inventory *node); /* asked for now */
double sim_node_joules(Inventory *node);      /* since opened */

/* How the true draw P was beside a limit B. Zeroed: nothing seen yet. */
typedef struct SimOverload {
	double seconds;     /* looked at */
	double above_s;     /* in which P was above B */
	double overload_s;  /* Z: the integral of max(0, P/B - 1) over time */
	double heat_s;      /* filled by ((P/B)^2 - 1) dt and emptied so, down to 0: a breaker's */
	double most_heat_s; /* the highest that it was */
	double unspent_j;   /* the integral of max(0, B - P) */
	double joules, most_w;
} SimOverload;

/* Adds what happened since the last call of either of these. -EOVERFLOW when a device changed its
 * draw more than 8192 times since then, which is all that it remembers: what happened is lost. */
int sim_node_overload(Inventory *node, double limit_w, SimOverload *o);
/* Its above_s since then; NAN for errors. */
double sim_node_over_seconds(Inventory *node, double budget_w);
const char *sim_node_policy(Inventory *node); /* the policy the node file suggests; NULL none */

typedef enum SimFault {
	SIM_HEALTHY,
	SIM_REFUSE,  /* every set fails with EIO */
	SIM_LIE,     /* sets succeed and read back, but physics does not obey them */
	SIM_IGNORE,  /* sets succeed and change nothing: the read-back shows the old value */
	SIM_VANISH,  /* -ENODEV, then DEVICE_REMOVED */
	SIM_RESET,   /* registers back to power-on, DEVICE_RESET; then healthy */
	SIM_SLOW,    /* every set takes 50 times as long */
	SIM_NO_WAKE, /* a disk that sleeps stays asleep: its IO waits, commands end with EIO */
	SIM_HANG,    /* every operation, of reading too, takes a minute */
	SIM_RESYNC,  /* its pool is being resynced: it is read and written all the time */
} SimFault;
int sim_node_inject(Inventory *node, const char *device, SimFault fault);

#define SIM_WAITS 128 /* four buckets to a doubling, the first ends at 1 us */

/* What has become of a device's workload, wherever it was served, and of its mechanics, since it
 * was first switched on. IOs and bytes are the applications', before the kernel splits them. */
typedef struct SimAccount {
	double joules;
	double asked_bytes, served_bytes;
	double ios[_DIRECTION_MAX];    /* asked for */
	double failed[_DIRECTION_MAX]; /* of a device that is gone, or does not wake for 3 minutes
					*/
	double held_bytes;             /* written to the cache above it instead */
	double cached_reads;           /* served by that cache */
	double late_reads;             /* that had to wait until the device came back */
	double dirty_bytes;            /* held and not on the disk by now */
	double read_waits[SIM_WAITS];  /* reads by the time they took */
	uint64_t io_wakes;             /* times that an IO met it asleep */
	uint64_t spin_ups, unloads;    /* start/stop and load/unload cycles */
} SimAccount;

size_t sim_node_size(Inventory *node);
const Device *sim_node_device(Inventory *node, size_t index); /* present or not */
/* -ENOENT: no such device. */
int sim_node_account(Inventory *node, const char *device, SimAccount *ret);
void sim_account_add(SimAccount *sum, const SimAccount *a);
/* This share of the reads took no longer than the result: 0.99 gives the 99th percentile. NAN
 * without reads. */
double sim_account_read_us(const SimAccount *a, double share);

/* The register contents as text, one "DEVICE REGISTER VALUE" a line: what a test compares before
 * and after. */
int sim_node_dump(Inventory *node, char **ret_text);
