/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One device as control/ sees it: a struct for each concern. Each is written by the one file that
 * is named with it; everybody else reads. */

#include "control/concerns.h"

typedef struct Managed {
	Device *device;
	KnobSet knobs;             /* knob-set.c: what is set, and what ought to be */
	Obedience *obedience;      /* obedience.c: of each knob, in registry order */
	Workload workload;         /* workload.c: what is asked of it */
	Trust trust;               /* trust.c: how far the model is believed */
	Served served;             /* served.c: what it serves over what the model says */
	Rest rest;                 /* rest.c: how deep it may sleep */
	Waking waking;             /* waking.c: whether it is on its way back */
	CacheWatch cache;          /* cache-watch.c: what is held back above it */
	Wear wear;                 /* wear-account.c: its cycles */
	Planned planned;           /* enforce.c: what the plan in force gives it */
	Advised advised;           /* advice.c: what is advised, not done */
	Errands errands;           /* errands.c: the jobs that are out on it */
	RememberedCaps remembered; /* caps.c */
	double cap_w;              /* caps.c: what it can draw now, whatever is under way */
} Managed;

static inline bool managed_asleep(const Managed *md)
{
	return md->knobs.actual.condition > CONDITION_IDLE_B;
}

/* Do they sleep and wake together? */
static inline bool managed_in_one_pool(const Managed *a, const Managed *b)
{
	return *a->device->pool && streq(a->device->pool, b->device->pool);
}

/* The devices, in the order in which they came. */
typedef struct Fleet {
	Managed **devices;
	size_t n;
	Managed **leaving; /* gone, but with jobs out */
	size_t n_leaving;
	unsigned *n_held; /* pools.c: by the pool's number, so many of it are held back */
} Fleet;

#define for_each_device(type, md, fleet)                                                           \
	for (type **_at_##md = (type **)(fleet)->devices, *md;                                     \
	     _at_##md < (type **)(fleet)->devices + (fleet)->n && ((md) = *_at_##md, true);        \
	     _at_##md++)

#define for_each_knob(type, hk, set)                                                               \
	for (type *hk = (set)->knobs; (hk) < (set)->knobs + knob_count(); (hk)++)
