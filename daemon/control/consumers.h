/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Who draws the watts: the devices, and the cgroups on them. */

#include "control/control.h"

typedef struct Consumer {
	const char *device;
	const char *cgroup; /* "": the whole device; else as MeterCgroup.name */
	uint64_t cgroup_id; /* 0 with the device */
	bool gone;          /* the cgroup is there no more */
	bool uncontrolled;  /* the root cgroup: pacing does not hold it */
	double idle_w;      /* of the device; NAN with a cgroup */
	DeviceCounters counters;
} Consumer;

/* Each device, and behind it the cgroups that eBPF has seen on it. Strings live until the next
 * turn; ret is malloc'd. */
int control_consumers(const Control *c, Consumer **ret, size_t *ret_n);
