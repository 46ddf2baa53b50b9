/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Meters what really happens on the devices: by eBPF where the kernel permits it, else by the
 * devices' own counters. */

#include "device/device.h"

typedef struct Meter Meter;

/* bpf: try eBPF. Where it is not permitted or the kernel lacks something, *ret_why_not says so in
 * words for an operator (malloc'd; NULL when eBPF runs) and the meter works on the devices' own
 * counters. */
int meter_open(bool bpf, Meter **ret, char **ret_why_not);
Meter *meter_close(Meter *m); /* returns NULL */
DEFINE_CLEANUP(Meter *, meter_close);

/* Starts counting a device from zero, with the energies of its profile and without a cap. A device
 * without a block device of its own (devnum 0) is read through its own counters. */
int meter_add(Meter *m, const Device *d);
void meter_remove(Meter *m, const Device *d);
int meter_read(Meter *m, Device *d, DeviceCounters *ret);
/* Does eBPF count its IO? Reading that never waits for the device. */
bool meter_counts(const Meter *m, const Device *d);
/* "ebpf", "device counters": where this device's figures come from. */
const char *meter_source(const Meter *m, const Device *d);

/* An overrun: the kernel tells when a device spends more joules (above idle, by its profile's
 * energies) in a window than it may. Nothing is polled, and a device is told of once a window at
 * most. */

/* INFINITY: any. -EOPNOTSUPP: eBPF does not count this device, or no energies of it are known. */
int meter_set_cap_window(Meter *m, const Device *d, double joules_per_s, uint64_t window_us);
/* Readable when an overrun or a wake-up waits. -EOPNOTSUPP without eBPF. Lives as long as the
 * meter.
 */
int meter_fd(const Meter *m);
/* So many joules were spent within `seconds` at most. */
typedef void (*MeterOverrun)(dev_t devnum, double joules, double seconds, void *userdata);

/* The first IO to a device that was asleep, and whose it is. */
typedef struct MeterWake {
	dev_t devnum;
	bool passed_through; /* a command of its own (SG_IO): may wake the disk or not */
	Direction direction; /* of no meaning when passed through */
	uint64_t bytes;
	uint64_t cgroup;  /* id */
	const char *name; /* of the cgroup, as MeterCgroup.name; lives as long as the meter */
	char process[16]; /* that submitted it; of buffered writes a kernel thread */
	int pid;          /* its thread group */
	uint64_t time_us; /* boot time */
} MeterWake;
typedef void (*MeterWoken)(const MeterWake *w, void *userdata);

/* While it is on, the first IO and the first command passed through to the device are reported, but
 * not those of this process; each is reported once until it is switched on again. The hooks are
 * attached only while any device is watched, so that they cost nothing otherwise. -EOPNOTSUPP: eBPF
 * does not count this device. */
int meter_watch_wake(Meter *m, const Device *d, bool on);

/* Calls the handlers for all that waits and never blocks; either may be NULL. Returns how many
 * there were, or -errno. */
int meter_process(Meter *m, MeterOverrun overrun, MeterWoken woken, void *userdata);

/* The id of those that are not told apart. */
#define METER_OTHERS 0

/* One cgroup's part in the IO of one device. */
typedef struct MeterCgroup {
	dev_t devnum;
	uint64_t id;
	const char *name; /* "system.slice/db.service"; "/": root; "(others)", "(unknown)" */
	bool gone;        /* the cgroup no longer exists; its name may still be known */
	DeviceCounters counters;
} MeterCgroup;

/* Every cgroup that has done IO on a device that eBPF counts; their sum is the device's own. ret is
 * malloc'd; the names live as long as the meter. -EOPNOTSUPP without eBPF. */
int meter_cgroups(Meter *m, MeterCgroup **ret, size_t *ret_n);

/* Why the waits of what eBPF counts are not known; NULL: they are. */
const char *meter_waits_why_not(const Meter *m);
/* Instead of them: the percentage of the last ten seconds in which some task of a cgroup waited for
 * IO, and the cgroup of which that is highest, of those just below the root; "/": of the whole
 * node, where no cgroup tells. *ret_cgroup is malloc'd. -EOPNOTSUPP: the kernel has no PSI. */
int meter_worst_pressure(Meter *m, char **ret_cgroup, double *ret_percent);

/* Rates between two readings. */
typedef struct MeterRates {
	double seconds;
	double iops[_DIRECTION_MAX], mb_s[_DIRECTION_MAX];
	double read_share, random_share; /* of IOs; NAN when nothing was seen */
	double read_kib, write_kib;      /* mean size; NAN when none */
	double depth;                    /* time-weighted mean */
	double latency_us;               /* mean, in the device; NAN when none */
	double wait_p50_us, wait_p99_us; /* from submission on; NAN when none, or not known */
	double joules_per_s;             /* NAN when the source has none */
	double uncontrolled_share;       /* of the bytes: the root cgroup's; NAN when not known */
} MeterRates;

/* -EAGAIN when no time has passed, -ESTALE when a counter ran backwards (device came back). */
int meter_rates(const DeviceCounters *before, const DeviceCounters *after, MeterRates *ret);
