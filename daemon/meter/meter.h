/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What really happens on the devices: counters by eBPF where the kernel permits, else the device's
 * own. */

#include "device/device.h"

typedef struct Meter Meter;

/* bpf: try eBPF. Where it is not permitted or the kernel lacks something, *ret_why_not says so in
 * words for an operator (malloc'd; NULL when eBPF runs) and the meter works on the devices' own
 * counters. */
int meter_open(bool bpf, Meter **ret, char **ret_why_not);
Meter *meter_close(Meter *m); /* returns NULL */
DEFINE_CLEANUP(Meter *, meter_close);

/* Starts counting a device, with the energies of its profile. A device without a block device of
 * its own (devnum 0) is read through its own counters. */
int meter_add(Meter *m, const Device *d);
void meter_remove(Meter *m, const Device *d);
int meter_read(Meter *m, Device *d, DeviceCounters *ret);
/* "ebpf", "device counters": where this device's figures come from. */
const char *meter_source(const Meter *m, const Device *d);

/* Rates between two readings. */
typedef struct MeterRates {
	double seconds;
	double iops[_DIRECTION_MAX], mb_s[_DIRECTION_MAX];
	double read_share, random_share; /* of IOs; NAN when nothing was seen */
	double read_kib, write_kib;      /* mean size; NAN when none */
	double depth;                    /* time-weighted mean */
	double latency_us;               /* mean; NAN when none */
	double joules_per_s;             /* NAN when the source has none */
} MeterRates;

/* -EAGAIN when no time has passed, -ESTALE when a counter ran backwards (device came back). */
int meter_rates(const DeviceCounters *before, const DeviceCounters *after, MeterRates *ret);
