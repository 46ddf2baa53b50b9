/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What meter.bpf.c counts, shared with user space, which includes <linux/types.h> first. */

/* Devices that can be counted at once; memory is taken only for those that are. */
#define METER_DEVICES_MAX 4096

/* dev_t as the kernel has it (include/linux/kdev_t.h). */
#define METER_DEV(major, minor) ((__u32)(major) << 20 | (__u32)(minor))

/* An IO that starts within so many of its own sizes of where the one before it ended is sequential:
 * completions overtake one another. The kernel's io.cost, which paces by the same two prices, also
 * goes by distance (block/blk-iocost.c: LCOEF_RANDIO_PAGES, 16 MiB); that one is too wide for small
 * devices. */
#define METER_NEAR_SIZES 16

/* Of one device on one CPU. Arrays by direction (0 read, 1 write), then pattern (0 random, 1
 * sequential), in the order of user space's Direction and Pattern. */
struct meter_counters {
	__u64 ios[2][2];
	__u64 bytes[2][2];
	__u64 timed_ios; /* IOs in latency_ns: the kernel takes the time of all, or of none */
	__u64 latency_ns;
	__u64 next[2]; /* sector behind the last IO, by direction */
};

/* The same of one device on all CPUs: for those with a single hardware queue. */
struct meter_next {
	__u64 sector[2];
};
