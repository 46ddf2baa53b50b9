/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is told of each unit: a pool, or a device of none. */

#include <math.h>
#include <string.h>

#include "ctl/ctl-metrics.h"

#define LEAST_MB_S 0.1 /* asked for: who asks for less is idle, and loses nothing that counts */

typedef struct Unit {
	const char *name, *pool;
	double served_mb_s, asked_mb_s, floor_mb_s; /* floor: NAN unknown */
	double wait_us, planned_us; /* p99, the longest of its devices; NAN unknown */
	bool limited;
} Unit;

typedef struct Units {
	Unit *units;
	size_t n;
} Units;

static double served(const Unit *u)
{
	return u->served_mb_s * BYTES_PER_MB;
}

static double asked(const Unit *u)
{
	return u->asked_mb_s * BYTES_PER_MB;
}

static double floor_of(const Unit *u)
{
	return u->floor_mb_s * BYTES_PER_MB;
}

/* As status has it: without a limit nothing is lost, whatever the plan expected. */
static double lost(const Unit *u)
{
	if (!(u->asked_mb_s > LEAST_MB_S))
		return NAN;
	return u->limited ? CLAMP(1 - u->served_mb_s / u->asked_mb_s, 0, 1) : 0;
}

static const struct UnitMetric {
	Metric metric;
	double (*value)(const Unit *u);
} unit_metrics[] = {
	{ { "unit_throughput_bytes_per_second", "bytes_per_second",
	    "What the devices of the unit serve." },
	  served },
	{ { "unit_demand_bytes_per_second", "bytes_per_second",
	    "What the devices of the unit would serve without a limit, as planned." },
	  asked },
	{ { "unit_floor_bytes_per_second", "bytes_per_second",
	    "What the policy keeps for the unit if the budget allows. It is left out while nothing "
	    "is limited." },
	  floor_of },
	{ { "unit_loss_ratio", "ratio",
	    "1 - served/demand: 0 without a limit. It is left out where next to nothing is asked "
	    "for." },
	  lost },
};

static const Metric p99_metric = {
	"unit_p99_wait_seconds", "seconds",
	"The longest 99th percentile of the wait among the devices of the unit: measured in the "
	"last second, and by the plan for those that are asked for something."
};

static double longer(double a, double b)
{
	return isnan(a) || b > a ? b : a;
}

static Unit *unit_of(Units *u, json_object *d)
{
	const char *pool = json_text(d, "Pool"), *name = *pool ? pool : json_text(d, "Name");

	for (size_t i = 0; i < u->n; i++)
		if (streq(u->units[i].name, name) && streq(u->units[i].pool, pool))
			return &u->units[i];
	u->units[u->n] = (Unit){ .name = name, .pool = pool, .wait_us = NAN, .planned_us = NAN };
	return &u->units[u->n++];
}

static void add_device(Unit *u, json_object *d, json_object *planned)
{
	u->served_mb_s += json_number(d, "Throughput");
	u->asked_mb_s += json_number(d, "FullThroughput");
	u->floor_mb_s += json_number(planned, "Floor");
	u->wait_us = longer(u->wait_us, json_number(d, "WaitP99"));
	if (json_number(d, "FullThroughput") > LEAST_MB_S)
		u->planned_us = longer(u->planned_us, json_number(d, "P99"));
}

static Units units_of(const Figures *f)
{
	size_t n = json_count(f->devices);
	Units u = { .units = calloc(n + 1, sizeof(*u.units)) };

	for (size_t i = 0; u.units && i < n; i++) {
		json_object *d = json_object_array_get_idx(f->devices, i);
		Unit *unit = unit_of(&u, d);

		unit->limited = json_true(f->state, "Enforcing");
		add_device(unit, d, ctl_find_device(f->planned, json_text(d, "Name")));
	}
	return u;
}

/* The pool's label is empty for a device of none, and tells it from a pool of that name. */
static Labels labels_of(const Unit *u)
{
	Labels labels = {};

	labels_add(&labels, "unit", u->name);
	labels_add(&labels, "pool", u->pool);
	return labels;
}

static void write_p99(Exposition *e, const Unit *u, const char *source, double us)
{
	Labels labels = labels_of(u);

	labels_add(&labels, "source", source);
	exposition_sample(e, &labels, us * SECONDS_PER_US);
}

void metrics_write_units(Exposition *e, const Figures *f)
{
	Units u = units_of(f);

	for (size_t m = 0; m < ELEMENTSOF(unit_metrics); m++) {
		exposition_begin(e, &unit_metrics[m].metric);
		for (size_t i = 0; i < u.n; i++) {
			const Labels labels = labels_of(&u.units[i]);

			exposition_sample(e, &labels, unit_metrics[m].value(&u.units[i]));
		}
	}
	exposition_begin(e, &p99_metric);
	for (size_t i = 0; i < u.n; i++) {
		write_p99(e, &u.units[i], MEASURED, u.units[i].wait_us);
		write_p99(e, &u.units[i], MODEL, u.units[i].planned_us);
	}
	free(u.units);
}
