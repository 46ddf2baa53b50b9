/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What each device has drawn and moved since the last look, and how far that is measured. */

#include "control/gauges.h"
#include "control/tariff.h"
#include "ledger/entries.h"

/* Of one device. */
typedef struct Tallied {
	Device *device;          /* a reference */
	const Managed *md;       /* as of the last look */
	bool known;              /* its counters are those of that look */
	DeviceCounters counters; /* as they were then */
	LedgerThing *thing;      /* NULL: nothing was counted yet */
	Amounts span;            /* of that look */
	Amounts sum;             /* since the daemon's start */
	bool shared;             /* a sensor of several devices has told its part */
	double dynamic_j;        /* of that look, by its counters: what its cgroups share */
} Tallied;

/* In the order of the fleet. */
typedef struct TallyDevices {
	Tallied *all;
	size_t n;
} TallyDevices;

/* From the last look to this one. */
typedef struct TallySpan {
	double seconds;
	const Gauges *gauges;
	const Fleet *fleet;
	Rate rate;
} TallySpan;

#define for_each_tallied(type, td, devices)                                                        \
	for (type *td = (devices)->all; (td) < (devices)->all + (devices)->n; (td)++)

/* What was moved between two readings of counters, into *to. 0 where one ran backwards: the device
 * has come back, and counts from zero. */
void tally_count_io(const DeviceCounters *then, const DeviceCounters *now, Amounts *to);
/* Takes in devices that have come, and forgets those that went. -ENOMEM: all are as they were. */
int tally_devices_follow(TallyDevices *t, const Fleet *f);
void tally_devices_done(TallyDevices *t);
/* What they have drawn and moved in that time: by sensors, or by model and counters. What sensors
 * of several devices measured is shared among those that have none of their own, as model and
 * counters share it. -ENOMEM. */
int tally_devices_count(TallyDevices *t, const TallySpan *span);
/* What they do from now on counts; what they did before does not. */
void tally_devices_skip(TallyDevices *t);
const Tallied *tally_devices_find(const TallyDevices *t, const Device *d); /* NULL */
