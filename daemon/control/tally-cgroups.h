/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which cgroups have drawn and moved what the devices have, since the last look. */

#include "control/tally-device.h"

/* One cgroup on one device, at the last look. */
typedef struct CgroupSeen {
	dev_t devnum;
	uint64_t id;
	const char *name; /* the meter's */
	DeviceCounters counters;
	LedgerThing *thing; /* NULL: nothing was counted of it yet */
} CgroupSeen;

typedef struct TallyCgroups {
	CgroupSeen *seen; /* by device and id */
	size_t n;
	bool known;          /* eBPF told of them at the last look */
	LedgerThing *idle;   /* the devices without IO */
	LedgerThing *nobody; /* what no cgroup is known for */
} TallyCgroups;

int tally_cgroups_init(TallyCgroups *t);
void tally_cgroups_done(TallyCgroups *t);
/* Adds an entry for each cgroup that did IO, of what the devices' spans hold. They sum up to those:
 * what idle devices draw and what nobody is known for have entries of their own. -ENOMEM. */
int tally_cgroups_take(TallyCgroups *t, Meter *m, const TallyDevices *devices, int64_t time_s,
		       LedgerEntries *to);
/* What they do from now on counts; what they did before does not. */
int tally_cgroups_skip(TallyCgroups *t, Meter *m);
