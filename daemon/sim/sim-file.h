/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A node file, policies/nodes/NAME.node. */

#include "config/sensor-config.h"
#include "sim/sim-burst.h"
#include "sim/sim-demand.h"
#include "sim/sim-family.h"
#include "sim/simulated.h"

typedef struct SimWorkload {
	char *name;
	Mix mix;
	SimDemand demand;
} SimWorkload;

/* One [devices NAME] section. */
typedef struct SimGroup {
	char *name;
	unsigned line;
	unsigned count;
	char *profile, *prefix, *group, *workload;
	SimWorkload own; /* what the section says of a workload itself */
	bool own_used;
	bool power_limit;
	unsigned queues; /* hardware queues of NVMe */
	char *pool;      /* NULL: every device by itself */
	unsigned pools;  /* so many of that name, numbered from 0; 0: one, not numbered */
	char *hba;
	char *cache; /* the section whose devices may hold their writes; NULL none */
	uint64_t cache_bytes;
	double cached_reads;
	uint64_t io_longer_us; /* each IO takes so much longer than its profile says */
	uint64_t io_serial_us; /* so much longer again for each that is outstanding with it */
	SimFamily family;      /* of its profile; error or drift.most NAN: the node's */
} SimGroup;

/* One fault that happens by itself. */
typedef struct SimFaultPlan {
	char *device;
	unsigned line;
	SimFault kind;
	uint64_t at_us;
	uint64_t for_us; /* 0: for good */
} SimFaultPlan;

/* How the profiles are wrong. */
typedef struct SimErrors {
	double model;     /* each device's own watts and speed are off by up to so much */
	SimFamily family; /* of every profile for which no section says another */
} SimErrors;

/* [sensor NAME]: a power sensor beside the devices. */
typedef struct SimSensorPlan {
	char *name;
	unsigned line;
	SensorTarget of;
	double noise; /* standard deviation, as a share of the reading */
	double bias;
	uint64_t delay_us;
	double dropout;     /* share of the time in which there is no reading */
	uint64_t outage_us; /* length of each such time */
} SimSensorPlan;

typedef struct SimSensing {
	unsigned kinds; /* bit per DeviceKind: these devices measure themselves... */
	double noise;   /* ...with this standard deviation */
	SimSensorPlan *plans;
	size_t n_plans;
} SimSensing;

typedef struct SimFile {
	char *path;
	uint64_t hash; /* of the text */
	char *name, *policy;
	uint64_t seed;
	SimErrors errors;
	SimSensing sensing;
	SimBurst burst;
	SimWorkload *workloads;
	size_t n_workloads;
	SimGroup *groups;
	size_t n_groups;
	SimFaultPlan *faults;
	size_t n_faults;
} SimFile;

/* Every complaint is logged with file:line; -EINVAL when there is any. */
int sim_file_read(const char *path, SimFile **ret);
SimFile *sim_file_free(SimFile *f);
DEFINE_CLEANUP(SimFile *, sim_file_free);
const SimWorkload *sim_file_workload(const SimFile *f, const SimGroup *g);
/* Of the group's profile; seed 0. */
SimFamily sim_file_family(const SimFile *f, const SimGroup *g);
/* sim-file-check.c: does the whole fit together? Complaints as above. */
int sim_file_check(const SimFile *f);

/* "nvme0"; disks as the kernel counts: sda ... sdz, sdaa. */
char *sim_device_name(const char *prefix, unsigned index);
