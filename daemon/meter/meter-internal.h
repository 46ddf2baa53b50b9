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
} Watched;

struct Meter {
	MeterBpf *bpf; /* NULL: all by their own counters */
	Watched *watched;
	size_t n_watched;
	CgroupNames *names; /* NULL until asked for */
};

Watched *meter_find(const Meter *m, dev_t devnum);
