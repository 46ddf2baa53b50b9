/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What meter.bpf.c counts, shared with user space, which includes <linux/types.h> first. */

/* Devices that can be counted at once; memory is taken only for those that are. */
#define METER_DEVICES_MAX 4096

/* Pairs of a device and a cgroup that can be counted at once; the IO of further ones is counted as
 * that of METER_CGROUP_OTHERS. */
#define METER_CGROUPS_MAX 8192

/* The ring of what the kernel tells: struct meter_overrun, and struct wake_record of wake.h. */
#define METER_RECORDS_BYTES 65536

/* dev_t as the kernel has it (include/linux/kdev_t.h). */
#define METER_DEV(major, minor) ((__u32)(major) << 20 | (__u32)(minor))

/* An IO that starts within so many of its own sizes of where the one before it ended is sequential:
 * completions overtake one another. The kernel's io.cost, which paces by the same two prices, also
 * goes by distance (block/blk-iocost.c: LCOEF_RANDIO_PAGES, 16 MiB); that one is too wide for small
 * devices. */
#define METER_NEAR_SIZES 16

/* Joules are counted in tenths of a nanojoule: fine enough for a page of flash (some microjoules),
 * and an unsigned 64-bit sum of it lasts for years at ten watts. */
#define METER_UNITS_PER_J 1e10
#define METER_PAGE_SHIFT  12 /* the page of an Energy, whatever the machine's */

/* The root cgroup's number in every hierarchy (fs/kernfs/dir.c: the first that is given out). What
 * has no cgroup is the root's. */
#define METER_CGROUP_ROOT   1
#define METER_CGROUP_OTHERS 0

#define METER_NO_LIMIT (~0ULL)

/* How long IOs waited, in powers of two: waits[0] counts those below 1024 ns, waits[i] those of
 * 2^(i - 1) to 2^i times that, and the last one all that waited longer. */
#define METER_WAITS      32
#define METER_WAIT_SHIFT 10

/* Of one device, or of one cgroup on one device, on one CPU. Arrays by direction (0 read, 1 write),
 * then pattern (0 random, 1 sequential), in the order of user space's Direction and Pattern. */
struct meter_counters {
	__u64 ios[2][2];
	__u64 bytes[2][2];
	__u64 timed_ios; /* IOs in latency_ns: the kernel takes the time of all, or of none */
	__u64 latency_ns;
	__u64 joules;
	__u64 waits[METER_WAITS]; /* of timed_ios, or of a sample, each for METER_STAMP_ONE_IN */
};

/* When a bio was submitted, for kernels that do not note it in the bio. Its address says which of
 * the stamps is its own; where two bios want the same one, the later has it. One submission in so
 * many is stamped, because the clock and a stamp that travels from CPU to CPU cost most. */
#define METER_STAMP_BITS   14
#define METER_STAMP_ONE_IN 4
struct meter_stamp {
	__u64 submitted_ns;
	__u64 bio;
};

/* Of one device on one CPU. */
struct meter_device {
	struct meter_counters counters;
	__u64 next[2]; /* sector behind the last IO, by direction */
};

/* What an IO costs, and what a window may: user space's to set. */
struct meter_terms {
	__u64 io[2][2]; /* joules of each IO, and of each 4-KiB page of it */
	__u64 page[2][2];
	__u64 window_ns;
	__u64 window_joules; /* METER_NO_LIMIT: any */
};

/* Of one device on all CPUs. What is written with every IO stays off the cache lines that are only
 * read. */
struct meter_shared {
	struct meter_terms terms;
	__u64 unused[6];
	__u64 next[2]; /* as above: for a single hardware queue */
	__u64 window_start_ns;
	__u64 window_spent; /* joules since then */
};

struct meter_cgroup_key {
	__u32 dev;
	__u32 zero;
	__u64 cgroup;
};

/* More was spent in a window than it may; once a window, at the IO that did it. */
struct meter_overrun {
	__u32 dev;
	__u32 zero;
	__u64 joules;
	__u64 window_ns; /* spent within so long at most */
};
