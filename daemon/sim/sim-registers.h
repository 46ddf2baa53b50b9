/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a device and the kernel remember of its settings. Plain data: lives in the registers
 * file. */

#include "device/device.h"
#include "sim/sim-cost.h"

typedef enum SimScheduler {
	SIM_NONE,
	SIM_MQ_DEADLINE,
	SIM_KYBER,
	SIM_BFQ,
	_SIM_SCHEDULER_MAX,
} SimScheduler;

typedef enum SimLink {
	SIM_LINK_MAX_PERFORMANCE,
	SIM_LINK_MEDIUM_POWER,
	SIM_LINK_MED_POWER_WITH_DIPM,
	SIM_LINK_MIN_POWER_WITH_PARTIAL,
	SIM_LINK_MIN_POWER,
	_SIM_LINK_MAX,
} SimLink;

/* bch_cache_modes[] of drivers/md/bcache/super.c. */
typedef enum SimCacheMode {
	SIM_CACHE_WRITETHROUGH,
	SIM_CACHE_WRITEBACK,
	SIM_CACHE_WRITEAROUND,
	SIM_CACHE_NONE,
	_SIM_CACHE_MODE_MAX,
} SimCacheMode;

/* So much of a cache may be dirty; then writes go past it (CUTOFF_WRITEBACK of
 * drivers/md/bcache/writeback.h). */
#define SIM_CACHE_CUTOFF_PERCENT 40

typedef enum SimRegister {
	SIM_POWER_STATE, /* whole CDW11 of feature 02h: workload hint and state */
	SIM_POWER_LIMIT, /* whole CDW11 of feature 23h; 0 no limit */
	SIM_CONDITION,
	SIM_LINK,
	SIM_NR_REQUESTS,
	SIM_MAX_SECTORS_KB,
	SIM_SCHEDULER,
	SIM_STRICT_GUARANTEES,
	SIM_QUEUE_DEPTH,
	/* of the cache above the disk */
	SIM_CACHE_MODE,
	SIM_WRITEBACK_RUNNING,
	SIM_WRITEBACK_PERCENT,
	SIM_WRITEBACK_DELAY,
	SIM_SEQUENTIAL_CUTOFF, /* bytes; 0: sequential writes are held, too */
	SIM_CONGESTED_READ,    /* us */
	SIM_CONGESTED_WRITE,
	_SIM_REGISTER_MAX,
	SIM_COST = _SIM_REGISTER_MAX,
} SimRegister;

typedef struct SimRegisters {
	uint64_t value[_SIM_REGISTER_MAX];
	SimCost cost;
} SimRegisters;

/* A write that has been accepted and takes effect later. */
typedef struct SimChange {
	uint64_t effective_us;
	uint32_t reg;
	uint32_t reserved;
	uint64_t value;
	SimCost cost; /* when reg is SIM_COST */
} SimChange;

extern const char *const sim_scheduler_names[_SIM_SCHEDULER_MAX];
extern const char *const sim_link_names[_SIM_LINK_MAX];
extern const char *const sim_cache_mode_names[_SIM_CACHE_MODE_MAX];

/* Power-on values. */
void sim_registers_init(SimRegisters *r, DeviceKind kind);
/* Applies the write and what it drags along: a scheduler switch resets nr_requests. */
void sim_registers_apply(SimRegisters *r, const SimChange *c, DeviceKind kind);
unsigned sim_max_hw_sectors_kb(DeviceKind kind);
unsigned sim_tags(DeviceKind kind); /* of each hardware queue */

/* Are all values such that could have been written? */
bool sim_registers_valid(const SimRegisters *r);

/* Feature 23h: watts of a CDW11 (0: no limit), -EINVAL for a scale that does not exist. */
int sim_power_limit_watts(uint32_t cdw11, double *ret_w);

/* One "DEVICE REGISTER VALUE" line per register the device has. -errno */
int sim_registers_print(const SimRegisters *r, const Device *d, FILE *f);
/* The same for those of the cache above it. */
int sim_registers_print_cache(const SimRegisters *r, const Device *d, FILE *f);
