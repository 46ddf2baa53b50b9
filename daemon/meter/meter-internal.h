/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Private to the meter. */

#include "meter/meter.h"

#include "meter/cgroup-names.h"
#include "meter/meter-bpf.h"

/* A device that eBPF counts. */
typedef struct Watched {
	dev_t devnum;
	bool has_energy;
	struct meter_terms terms;
	struct meter_counters retired; /* of cgroups that are gone and forgotten */
	bool awaited;                  /* its next wake-up is to be told */
} Watched;

struct Meter {
	MeterBpf *bpf; /* NULL: all by their own counters */
	Watched *watched;
	size_t n_watched;
	CgroupNames *names; /* NULL until asked for */
};

Watched *meter_find(const Meter *m, dev_t devnum);

/* Begins looking up names of cgroups, when the numbers are known: see cgroup-names.h. */
void meter_begin_names(Meter *m);
const char *meter_cgroup_name(Meter *m, uint64_t id, bool *ret_gone);

/* Reads a record of the kernel. False: nobody wants to know of this device any more. */
bool meter_wake_of(Meter *m, const struct wake_record *r, MeterWake *ret);
/* Wake-ups of the device are not reported from now on. */
void meter_unwatch_wake(Meter *m, Watched *w);
