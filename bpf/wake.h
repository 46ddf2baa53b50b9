/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What wake.bpf.c tells, shared with user space, which includes <linux/types.h> first. A device is
 * METER_DEV(), a cgroup is as in meter-counters.h. */

/* What is still to be told of a device. */
#define WAKE_IO             1 /* the first IO */
#define WAKE_PASSED_THROUGH 2 /* the first command passed through */
#define WAKE_OWN            4 /* IO of the watching process is on its way */

struct wake_record {
	__u32 dev;
	__u32 passed_through;
	__u32 is_write; /* of no meaning when passed through */
	__u32 pid;      /* thread group */
	__u64 bytes;    /* of data; 0: a flush, a discard */
	__u64 cgroup;
	__u64 time_ns; /* boot time */
	char process[16];
};
