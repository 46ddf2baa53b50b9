/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* For meter-bpf.c and meter-maps.c alone. */

#include "meter/meter-bpf.h"

struct ring_buffer;

struct MeterBpf {
	struct meter_bpf *skeleton;
	int devices, shared, cgroups; /* maps */
	int n_cpus;
	struct ring_buffer *overruns;
	MeterBpfOverrun handler; /* while they are processed */
	void *userdata;
};
