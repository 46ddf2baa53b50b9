/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A simulated device: DeviceOps over its part of the node's memory. */

#include "sim/sim-memory.h"

typedef struct SimNode SimNode;

typedef struct SimDevice SimDevice;
struct SimDevice {
	Device *device;
	const char *prefix; /* of its name */
	const SimGroup *group;
	SimNode *node; /* counted */
	const Clock *clock;
	SimNature nature;
	SimForecast cache; /* under the record's lock */
	SimRecord *record;
	DeviceOps ops; /* those this device has */
	bool power_limit;
	double noise;
	SimDevice **disks; /* that it is the cache of */
	size_t n_disks;

	/* for process(): what has been reported */
	bool present;
	uint32_t seen_resets, seen_departures;
	/* for over_seconds(): up to where it looked, and the draw there */
	uint64_t seen_steps;
	double seen_watts;
	double joules_at_open;
};

/* Fills in ops by kind; profile, nature and record must be set. */
void sim_device_init_ops(SimDevice *s, bool sensor);
uint32_t sim_device_power_states(const Profile *p);
unsigned sim_device_conditions(const Profile *p);

/* A copy of the device's truth as it will be at the caller's now: jobs that overlap run ahead of
 * each other in virtual time, so looking must not move the device itself. -ENODEV when it is gone.
 */
int sim_device_peek(SimDevice *s, SimTruth *ret);
/* The same before a set, with -EIO from a device that refuses. */
int sim_device_ready(SimDevice *s, SimTruth *ret);
/* Carries out a write that takes `us`, as the device's present fault has it. */
int sim_device_write(SimDevice *s, const SimTruth *now, SimChange *c, uint64_t us);
/* Moves the device to its clock's now; the record stays locked. */
void sim_device_advance_locked(SimDevice *s);

/* sim-attr.c */
int sim_attr_read(Device *d, const char *attr, char *buf, size_t size);
int sim_attr_write(Device *d, const char *attr, const char *value);

/* sim-bcache.c: the attributes of the cache above a disk. -ENOENT: there is no cache, or it has no
 * such attribute; -EACCES: it cannot be written. */
bool sim_bcache_has(const char *attr);
int sim_bcache_read(const SimDevice *s, const SimTruth *t, const char *attr, char *buf,
		    size_t size);
int sim_bcache_parse(const SimDevice *s, const char *attr, const char *value, SimChange *ret);

/* sim-sleep.c */
int sim_condition_get(Device *d, Condition *ret);
int sim_condition_set(Device *d, Condition c);
int sim_may_sleep(Device *d, char **ret_why_not);
int sim_wake_test(Device *d, double *ret_seconds, char **ret_text);

/* A write to sysfs or cgroupfs. */
#define SIM_SYSFS_US 50ULL
