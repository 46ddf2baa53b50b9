/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* For meter-bpf.c, meter-bpf-wake.c, meter-bpf-waits.c and meter-maps.c alone. */

#include "meter/meter-bpf.h"

struct ring_buffer;

struct MeterBpf {
	struct meter_bpf *skeleton;
	int devices, shared, cgroups; /* maps */
	int n_cpus;
	struct ring_buffer *records;
	MeterBpfOverrun overrun; /* while records are processed */
	MeterBpfWoken woken;
	void *userdata;
	struct submission_bpf *submission; /* NULL where it is not needed, or refused */
	bool sees_waits;
	/* the programs that watch for wake-ups: loaded when first needed */
	struct wake_bpf *wake;
	bool wake_refused;
	int n_armed; /* devices; they are attached while there are any */
};

void meter_bpf_close_wake(MeterBpf *m);

/* Sets sees_waits; where the kernel refuses, that is logged and the meter goes on without. */
void meter_bpf_open_waits(MeterBpf *m);
void meter_bpf_close_waits(MeterBpf *m);
