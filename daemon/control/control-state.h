/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The node's state, for the files of control/ from gather.c on; each part is written by the file
 * that is named with it. */

#include "control/bookkeeping.h"
#include "control/errands.h"
#include "control/gauges.h"
#include "control/holding.h"
#include "control/limits.h"
#include "control/overload.h"
#include "control/policies.h"
#include "control/waiters.h"

/* observe.c: when the node was looked at, and for whom. */
typedef struct Attention {
	bool started; /* until then nothing is planned */
	uint64_t looked_us, peeked_us;
	uint64_t watched_until_us; /* keep looking so long after someone asked */
	bool overrun;              /* found by a look of its own, and not told yet */
	bool overrun_ended;        /* likewise, that one is over */
	uint64_t hold_plan_us;     /* a plan waits until then for the looks that are out */
	Holding holding;           /* of the budget, by the last look */
} Attention;

/* advice.c: the plan that is made while limits are only advised, and what it would have brought. */
typedef struct Advice {
	Plan *plan; /* NULL: nothing is advised */
	uint64_t counted_us;
	AdviceState told;
} Advice;

/* enforce.c: the plan in force. */
typedef struct Enforcement {
	Plan *plan;
	uint64_t event_us;    /* what is being enforced began then; 0: done */
	uint64_t enforced_us; /* when that was done, last */
	uint64_t last_enforce_us;
	double awaited_w; /* the budget when disks were last found to await sleep */
	double floor_w;   /* the least that the devices can be brought down to */
	Advice advice;    /* in its place */
	bool short_told;  /* tell.c: that it misses the budget has been said */
} Enforcement;

struct Control {
	Tools tools;
	ControlConfig config;
	Loop *loop;
	Inventory *inventory;
	ControlEvents events;
	Fleet fleet;
	Diary diary;
	EventQueue queue;
	Outbox outbox;
	Limits limits;
	Policies policies;
	Gauges gauges;
	Waiters waiters;
	Attention attention;
	Enforcement enforcement;
};
