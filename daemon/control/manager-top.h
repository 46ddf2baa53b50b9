/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Who spends the joules: cumulative figures, so that nobody takes samples while nobody asks. */

#include "control/manager.h"

typedef struct Consumer {
	const char *device;
	const char *cgroup; /* "": the whole device; else as MeterCgroup.name */
	uint64_t cgroup_id; /* 0 with the device */
	bool gone;          /* the cgroup is there no more */
	bool uncontrolled;  /* the root cgroup: pacing does not hold it */
	double idle_w;      /* of the device; NAN with a cgroup */
	DeviceCounters counters;
} Consumer;

/* Each device, and behind it the cgroups that eBPF has seen on it. Strings live until the manager
 * runs again; ret is malloc'd. */
int manager_consumers(Manager *m, Consumer **ret, size_t *ret_n);
