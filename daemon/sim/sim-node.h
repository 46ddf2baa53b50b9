/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The node: all its devices and their memory. Lives until the last device is let go. */

#include "sim/sim-device.h"

typedef struct SimSensor SimSensor;

struct SimNode {
	Inventory inventory; /* first: the face */
	atomic_uint n_ref;
	SimFile *file;
	SimMemory memory;
	const Clock *clock;
	SimDevice **devices;
	size_t n_devices;
	SimSensor *sensors; /* as many as the file plans */
	uint64_t seen_us;   /* up to where overload() looked */
};

static inline SimNode *sim_node_of(Inventory *i)
{
	return (SimNode *)i;
}

SimNode *sim_node_unref(SimNode *n);
DEFINE_CLEANUP(SimNode *, sim_node_unref);

/* sim-build.c: makes the devices that the file describes. */
int sim_node_build(SimNode *n, const ProfileStore *profiles, const char *registers_path);
SimDevice *sim_node_find(const SimNode *n, const char *name); /* NULL */
/* sim-witness.c: overload() counts from now on. */
void sim_node_watch(SimNode *n);
/* The true draw at t, as far as it is remembered. */
double sim_history_watts(const SimHistory *h, uint64_t t_us);
