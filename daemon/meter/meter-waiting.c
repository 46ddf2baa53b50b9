/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Whether it is known how long applications wait for their IO, and what is known where it is not.
 */

#include "meter/meter-internal.h"
#include "meter/pressure.h"

#define NODE_PRESSURE "/proc/pressure/io"

const char *meter_waits_why_not(const Meter *m)
{
	if (!m->bpf)
		return "eBPF, which alone sees what holds IO up before the device, does not run";
	if (!meter_bpf_sees_waits(m->bpf))
		return "this kernel does not let eBPF watch block_bio_queue and block_split";
	return NULL;
}

int meter_worst_pressure(Meter *m, char **ret_cgroup, double *ret_percent)
{
	meter_begin_names(m);
	return pressure_worst(m->names ? cgroup_names_root(m->names) : NULL, NODE_PRESSURE,
			      ret_cgroup, ret_percent);
}
