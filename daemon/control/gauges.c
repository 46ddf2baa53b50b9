/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/gauges.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "control/errands.h"
#include "control/trust.h"

#define ANSWER_US    (5 * USEC_PER_SEC)
#define GUARD_DECAY  0.95
#define GUARD_MARGIN 1.1  /* of the excess */
#define GUARD_NEWS   0.01 /* of the limit: worth a new plan when it is given back */
#define GUARD_MOST   0.2  /* of the limit */
#define MODELLED     0.3  /* weight of the newest look */
#define NOISE        3.0  /* standard deviations of a reading */

int gauges_open(Gauges *g, const Tools *t)
{
	g->measured_w = NAN;
	return gauges_renew(&(Gauges){}, t->config, g);
}

void gauges_close(Gauges *g)
{
	for (size_t i = 0; i < g->n; i++)
		sensor_free(g->gauges[i].sensor);
	for (size_t i = 0; i < g->n_leaving; i++)
		sensor_free(g->leaving[i]);
	free(g->gauges);
	free(g->leaving);
}

bool gauge_covers(const Gauge *s, const Managed *md)
{
	const SensorConfig *c = s->config;

	return c->scope == SENSOR_OF_NODE ||
	       (c->scope == SENSOR_OF_GROUP && streq(c->target, md->device->group)) ||
	       (c->scope == SENSOR_OF_DEVICE &&
		(streq(c->target, md->device->name) || streq(c->target, md->device->id)));
}

/* md NULL: any of that scope. NULL: none. */
static const Gauge *gauge_of(const Gauges *g, SensorScope scope, const Managed *md)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->gauges[i].config->scope == scope && (!md || gauge_covers(&g->gauges[i], md)))
			return &g->gauges[i];
	return NULL;
}

/* What it said long ago is no measurement of now. */
static void forget_if_late(Gauge *s, uint64_t now_us)
{
	if (now_us < s->begun_us + ANSWER_US || isnan(s->watts))
		return;
	s->watts = NAN;
	snprintf(s->health.why_aside, sizeof(s->health.why_aside), "it does not answer");
	trust_note_aside(s->config->name, true, &s->health);
}

void gauges_send(Gauges *g, Tools *t)
{
	for (size_t i = 0; i < g->n; i++) {
		Gauge *s = &g->gauges[i];
		Job *j = s->reading ? NULL : job_new_sensor(s->sensor);

		if (s->reading)
			forget_if_late(s, t->now_us);
		if (!j)
			continue;
		s->begun_us = t->now_us;
		s->reading = true;
		outbox_put(t->outbox, j);
	}
}

/* What the things that it measures are expected to draw, and can at most. Of the host nothing is
 * known: any watts are possible. */
static void expectation(const Gauge *s, const Fleet *f, double *ret_w, double *ret_rated_w)
{
	*ret_w = *ret_rated_w = s->config->scope == SENSOR_OF_HOST ? INFINITY : 0;
	for_each_device(const Managed, md, f) if (gauge_covers(s, md))
	{
		*ret_w += md->trust.estimated_w;
		*ret_rated_w += md->device->profile->rated_w;
	}
}

static const Gauge *gauge_by_name(const Gauges *g, const char *name)
{
	for (size_t i = 0; i < g->n; i++)
		if (streq(g->gauges[i].config->name, name))
			return &g->gauges[i];
	return NULL;
}

/* What it measures besides storage. */
static double besides_w(const Gauges *g, const Gauge *s)
{
	const Gauge *other = s->config->less ? gauge_by_name(g, s->config->less) : NULL;

	return s->config->subtract_w + (other ? other->watts : s->config->less ? NAN : 0);
}

static Gauge *gauge_read_by(Gauges *g, const Sensor *sensor)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->gauges[i].sensor == sensor)
			return &g->gauges[i];
	return NULL;
}

/* It was not configured any more when it was read last. */
static void let_go(Gauges *g, Sensor *sensor)
{
	for (size_t i = 0; i < g->n_leaving; i++)
		if (g->leaving[i] == sensor)
			g->leaving[i] = g->leaving[--g->n_leaving];
	sensor_free(sensor);
}

void gauges_take(Gauges *g, const Job *j, const Tools *t)
{
	Gauge *s = gauge_read_by(g, j->sensor);
	double expected_w, rated_w, watts;
	bool was_believed;

	if (!s) {
		let_go(g, j->sensor);
		return;
	}
	was_believed = !*s->health.why_aside;
	watts = j->watts - besides_w(g, s);
	s->reading = false;
	s->taken_us = t->now_us;
	if (j->result == -EAGAIN)
		return;
	expectation(s, t->fleet, &expected_w, &rated_w);
	s->watts = sensor_judge(&s->health, j->result, watts, expected_w, rated_w) ? watts : NAN;
	trust_note_aside(s->config->name, was_believed, &s->health);
}

void gauges_measure_devices(Gauges *g, Tools *t)
{
	for_each_device(Managed, md, t->fleet)
	{
		const Gauge *s = gauge_of(g, SENSOR_OF_DEVICE, md);

		/* a device's own sensor, outside it, is nearer the truth than what the drive says
		 */
		if (s)
			trust_set_measured(md, s->watts);
		else if (managed_asleep(md))
			trust_set_measured(md, NAN); /* asking would wake it */
		else
			errands_send_power(md, t);
	}
}

/* Is it the first device of those that the sensor measures? So that each sensor counts once. */
static bool is_first(const Gauge *s, const Fleet *f, const Managed *md)
{
	for_each_device(const Managed, other, f)
	{
		if (other == md)
			return true;
		if (gauge_covers(s, other))
			return false;
	}
	return true;
}

static double measure(const Gauges *g, const Fleet *f)
{
	const Gauge *s = gauge_of(g, SENSOR_OF_NODE, NULL);
	double total = 0;

	if (s && !isnan(s->watts))
		return s->watts;
	for_each_device(const Managed, md, f)
	{
		s = gauge_of(g, SENSOR_OF_GROUP, md);
		if (!s || isnan(s->watts))
			total += md->trust.measured_w;
		else if (is_first(s, f, md))
			total += s->watts;
	}
	return f->n ? total : NAN;
}

/* What the model got wrong is kept free, and slowly given back. */
static double next_guard(double guard_w, double over_w, double limit_w)
{
	if (over_w > 0)
		return MIN(guard_w + GUARD_MARGIN * over_w, GUARD_MOST * limit_w);
	return guard_w < 0.1 ? 0 : guard_w * GUARD_DECAY;
}

/* Enough that the devices should have it. */
static bool is_given_back(double planned_w, double now_w, double limit_w)
{
	return planned_w > now_w && (now_w <= 0 || planned_w - now_w > GUARD_NEWS * limit_w);
}

static Need judge_group(Gauge *s, const Limits *l, bool settling, const Tools *t)
{
	const char *group = s->config->target;
	double limit_w = limits_of_group_w(l, t->fleet, group);
	double over = s->watts - limit_w;

	if (over > 0 && settling)
		return NOTHING_NEEDED;
	if (isnan(over))
		over = 0; /* nobody says any longer that it is exceeded */
	s->guard_w = isinf(limit_w) ? 0 : next_guard(s->guard_w, over, limit_w);
	if (over > 0) {
		log_about(LOG_WARNING, 0,
			  &(LogAbout){ .id = MESSAGE_GROUP_OVERRUN,
				       .sensor = s->config->name,
				       .limit_w = limit_w,
				       .drawn_w = s->watts },
			  "Group %s draws %.1f W of %.1f W by sensor %s: keeping %.1f W free",
			  group, s->watts, limit_w, s->config->name, s->guard_w);
		return need(NEED_PLAN, CAUSE_DEMAND);
	}
	return is_given_back(s->planned_guard_w, s->guard_w, limit_w)
		       ? need(NEED_BETTER_PLAN, CAUSE_DEMAND)
		       : NOTHING_NEEDED;
}

static double modelled_w(const Fleet *f)
{
	double sum_w = 0;

	for_each_device(const Managed, md, f) sum_w += md->trust.estimated_w;
	return sum_w;
}

double gauges_draw_w(const Gauges *g, const Fleet *f)
{
	return isnan(g->measured_w) ? modelled_w(f) : g->measured_w;
}

static bool tolerates(const Limits *l)
{
	const Claim *claim = limits_effective(l);

	return claim && claim->tolerance_s > 0;
}

/* Where a moment above the budget is tolerated, one reading above it may be the sensor's noise:
 * what the mean of several is above it is seen by the correction. */
static double noise_w(const Gauges *g, const Limits *l)
{
	const Gauge *s = gauge_of(g, SENSOR_OF_NODE, NULL);

	if (!tolerates(l) || !s || !s->correction.known)
		return 0;
	return NOISE * s->correction.spread * g->measured_w;
}

/* One look may be chance, and is what the limit tolerates. */
static double settled_w(Gauges *g, const Limits *l, double now_w)
{
	if (isinf(l->budget_w) || !(g->modelled_w > 0))
		g->modelled_w = now_w;
	g->modelled_w += MODELLED * (now_w - g->modelled_w);
	return MIN(now_w, g->modelled_w);
}

/* What made the fallback plan necessary is kept free afterwards, or the next plan would be as the
 * last one. Where it is measured the readings say so. */
static double fallback_over_w(Gauges *g)
{
	const Overload *o = &g->overload;

	if (g->guarded_us == o->strict_from_us)
		return 0;
	g->guarded_us = o->strict_from_us;
	return isnan(g->measured_w) ? o->strict_over_w : 0;
}

/* Sensors of all devices together against the budget. */
static Need judge_node(Gauges *g, const Limits *l, bool settling, const Tools *t)
{
	double over;

	g->measured_w = measure(g, t->fleet);
	over = g->measured_w - l->budget_w - noise_w(g, l);
	/* where caps do not hold it within the budget, what is counted has to */
	if (isnan(over) && tolerates(l))
		over = settled_w(g, l, modelled_w(t->fleet)) - l->budget_w;
	if (over > 0 && settling)
		return NOTHING_NEEDED;
	g->overrun = over > 0 && !isnan(g->measured_w);
	over = MAX(over, fallback_over_w(g));
	g->guard_w = next_guard(g->guard_w, over > 0 ? over : 0, l->budget_w);
	if (over > 0 || is_given_back(g->planned_guard_w, g->guard_w, l->budget_w))
		return need(NEED_BETTER_PLAN, CAUSE_DEMAND);
	return NOTHING_NEEDED;
}

Need gauges_judge(Gauges *g, const Limits *l, bool settling, Tools *t, bool *ret_overrun)
{
	bool was = g->overrun;
	Need n = judge_node(g, l, settling, t);

	overrun_count(&g->excess, g->overrun, g->measured_w, l->budget_w, t->now_us);
	*ret_overrun = g->overrun && !was;
	if (*ret_overrun)
		log_about(LOG_WARNING, 0,
			  &(LogAbout){ .id = MESSAGE_OVERRUN_BEGAN,
				       .limit_w = l->budget_w,
				       .drawn_w = g->measured_w },
			  "Measured %.1f W exceed the budget of %.1f W: keeping %.1f W more free",
			  g->measured_w, l->budget_w, g->guard_w);
	for (size_t i = 0; i < g->n; i++)
		if (g->gauges[i].config->scope == SENSOR_OF_GROUP)
			n = need_more(n, judge_group(&g->gauges[i], l, settling, t));
	return n;
}

void gauges_note_planned(Gauges *g)
{
	g->planned_guard_w = g->guard_w;
	for (size_t i = 0; i < g->n; i++)
		g->gauges[i].planned_guard_w = g->gauges[i].guard_w;
}

double gauges_group_guard_w(const Gauges *g, const Managed *md)
{
	const Gauge *s = gauge_of(g, SENSOR_OF_GROUP, md);

	return s ? s->guard_w : 0;
}

void gauges_forget_corrections(Gauges *g, const Managed *md)
{
	for (size_t i = 0; i < g->n; i++)
		if (gauge_covers(&g->gauges[i], md))
			g->gauges[i].correction = (Correction){};
}
