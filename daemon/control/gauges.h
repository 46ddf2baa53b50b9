/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What sensors measure: judged, summed up to the devices, the groups and the node, and held against
 * the limits. What the model got wrong is kept free. */

#include "control/job.h"
#include "control/limits.h"
#include "control/overrun.h"

typedef struct Gauge {
	Sensor *sensor;
	const SensorConfig *config;
	SensorHealth health;
	bool reading;
	uint64_t begun_us;      /* the reading under way */
	uint64_t taken_us;      /* the last one came */
	double watts;           /* of storage, believed; NAN: set aside or not read yet */
	double guard_w;         /* of a group: kept free below its limit because it was exceeded */
	double planned_guard_w; /* as of the plan in force */
	Correction correction;  /* correct.c: of what it measures */
	uint64_t corrected_us;  /* correct.c: by the reading that came then */
} Gauge;

/* overload.c: how much of what is tolerated has been spent. */
typedef struct Overload {
	double spent_s;   /* the integral of draw over budget less one; it is regained */
	double episode_s; /* of that, since the draw was last within the budget */
	uint64_t counted_us;
	uint64_t strict_until_us; /* until then nothing is tolerated; 0: no matter */
	/* when that last began, and when it ended or will; 0: never */
	uint64_t strict_from_us, strict_to_us;
	double strict_over_w; /* drawn above the budget when it began */
	double seen_s;        /* from an overrun to its being seen, at most */
	double react_s;       /* from an overrun to the last fast knob, at most, of late */
} Overload;

typedef struct Gauges {
	Gauge *gauges;
	size_t n;
	Sensor **leaving; /* not configured any more, but being read */
	size_t n_leaving;
	double measured_w; /* of all devices; NAN: not all are measured */
	double modelled_w; /* the mean of late, where that is held against a limit; 0: it never was
			    */
	uint64_t guarded_us; /* for the fallback plan that began then there is a guard */
	double guard_w;      /* kept free below the budget because measurements exceeded it */
	double planned_guard_w;
	bool overrun;   /* they exceed it */
	Overrun excess; /* so long, and by so much */
	Overload overload;
	struct DriftOf *drift; /* drift.c: behind each gauge */
} Gauges;

/* Does it measure the device, alone or among others? */
bool gauge_covers(const Gauge *s, const Managed *md);

int gauges_open(Gauges *g, const Tools *t);
void gauges_close(Gauges *g);
/* The sensors of the configuration that was read again, in their place; one that is configured as
 * before is the same, with what is known of it. *ret is swapped in by gauges_swap(). -ENOMEM. */
int gauges_renew(const Gauges *g, const ControlConfig *now, Gauges *ret);
/* Frees what it has made, as far as that is not the present one's. */
void gauges_drop(const Gauges *g, Gauges *made);
/* now: what gauges_renew() has made, which has what is to be freed afterwards. */
void gauges_swap(Gauges *g, Gauges *now);
/* The device has another profile: what corrected the old one does not correct that. */
void gauges_forget_corrections(Gauges *g, const Managed *md);
void gauges_send(Gauges *g, Tools *t); /* sets out to read them all */
void gauges_take(Gauges *g, const Job *j, const Tools *t);
/* The readings of the devices themselves, or of the sensors beside them. */
void gauges_measure_devices(Gauges *g, Tools *t);
/* Against the limits. settling: what exceeds them is being brought down already. *ret_overrun: it
 * has just begun. */
Need gauges_judge(Gauges *g, const Limits *l, bool settling, Tools *t, bool *ret_overrun);
void gauges_note_planned(Gauges *g);

/* What the node draws now: measured or, where nothing measures it, modelled. */
double gauges_draw_w(const Gauges *g, const Fleet *f);
double gauges_group_guard_w(const Gauges *g, const Managed *md);
