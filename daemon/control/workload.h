/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What is asked of a device, by its counters. */

#include "control/tools.h"

void workload_init(Managed *md, uint64_t now_us);
/* Two readings that are too near each other tell nothing; true: rates are new. */
bool workload_take_counters(Managed *md, const DeviceCounters *c, Tools *t);
/* IOs that wait in the device now. */
void workload_take_waiting(Managed *md, double waiting, const Tools *t);
/* What rates tell of the mix and of the demand, after workload_take_counters() was true. */
void workload_judge(Managed *md, const Policy *policy, const Tools *t);
/* IO before now says nothing: it slept, was reset, or was tested. */
void workload_forget_counters(Managed *md);
/* Until then a knob of ours writes to the disk itself; USEC_NEVER: until told otherwise. */
void workload_note_own_io(Managed *md, uint64_t until_us);

static inline double workload_mb_s(const Workload *w)
{
	return w->rates.mb_s[READ_IO] + w->rates.mb_s[WRITE_IO];
}

static inline double workload_iops(const Workload *w)
{
	return w->rates.iops[READ_IO] + w->rates.iops[WRITE_IO];
}

/* Is it the depth that its setting lets it have that holds it back? It keeps that outstanding, or
 * waits for it, or keeps some and asks for more than it gets. false: no depth is set. */
bool workload_held_by_depth(const Managed *md);
/* Is it the device itself that holds it back? Nothing is set, and many are outstanding all the
 * time.
 */
bool workload_fills_device(const Managed *md);
/* Does it spend the joules that it is paced to, up to that part? false: it is not paced. */
bool workload_spends_pace(const Managed *md, double near);

/* Enough for another plan? */
bool workload_demand_differs(double a, double b);
bool workload_mix_differs(const Mix *a, const Mix *b);
