/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/correct.h"

#include <math.h>

#include "control/drift.h"
#include "control/trust.h"

#define SENSOR_MARGIN 0.005 /* of what it measures */
#define DEVIATIONS    2.0   /* of what the estimate may be off by */
#define NARROWED      0.1   /* of what is too wide, a look */
#define NEWS          0.004 /* of the budget: worth a new plan */
#define STALE_US      (3 * LOOK_US)

static bool corrects(const Gauge *s, SensorScope scope)
{
	return s->config->scope == scope && (scope == SENSOR_OF_NODE || scope == SENSOR_OF_GROUP);
}

/* Held against what is left of the error by sensors of less. */
static void take_look(Gauge *s, bool settling, const Tools *t)
{
	CorrectionLook look = { .measured_w = s->watts, .settling = settling, .at_us = t->now_us };

	for_each_device(const Managed, md, t->fleet) if (gauge_covers(s, md))
		correction_add(&s->correction, &look, md->device->profile, md->trust.fixed_w,
			       md->trust.dynamic_w * md->trust.correction);
	/* each reading counts once, and an old one is none */
	if (s->taken_us == s->corrected_us && t->now_us < s->taken_us + STALE_US)
		look.settling = true;
	else if (s->taken_us == s->corrected_us)
		look.measured_w = NAN;
	s->corrected_us = s->taken_us;
	correction_take(&s->correction, &look);
}

static void note_lost(const Gauge *s, bool was_known, Tools *t)
{
	if (was_known && !s->correction.known)
		diary_decide(t->diary, "", "the profiles' own errors are kept free again",
			     "sensor %s no longer corrects the model", s->config->name);
	else if (!was_known && s->correction.known)
		diary_decide(t->diary, "", "what it measures counts, not what profiles say",
			     "sensor %s corrects the model", s->config->name);
}

static void correct_by(Gauges *g, SensorScope scope, bool settling, Tools *t)
{
	for (size_t i = 0; i < g->n; i++) {
		Gauge *s = &g->gauges[i];
		bool was_known = s->correction.known;

		if (!corrects(s, scope))
			continue;
		take_look(s, settling, t);
		note_lost(s, was_known, t);
		for_each_device(Managed, md, t->fleet) if (gauge_covers(s, md))
			trust_correct_further(md, &s->correction);
	}
}

/* A change that moves less than the sensors' noise does is none. */
static bool is_news(double counted_w, const Fleet *f)
{
	double moved_w = 0;

	for_each_device(const Managed, md, f)
	{
		if (md->trust.is_measured != md->planned.was_measured && isfinite(counted_w))
			return true;
		moved_w += md->trust.dynamic_w * (md->trust.correction - md->planned.correction);
	}
	return fabs(moved_w) > NEWS * counted_w;
}

Need correct_judge(Gauges *g, double counted_w, bool settling, Tools *t)
{
	for_each_device(Managed, md, t->fleet) trust_correct(md, settling, t->now_us);
	correct_by(g, SENSOR_OF_GROUP, settling, t);
	correct_by(g, SENSOR_OF_NODE, settling, t);
	return is_news(counted_w, t->fleet) ? need(NEED_PLAN, CAUSE_DEMAND) : NOTHING_NEEDED;
}

double correct_excess_w(const Fleet *f)
{
	double w = 0;

	for_each_device(const Managed, md, f) w += md->trust.dynamic_w * (md->trust.correction - 1);
	return MAX(w, 0.0);
}

/* What all of it draws by the correction, and what it may draw above its model by the profiles. */
static double corrected_w(const Gauge *s, const Fleet *f, double *ret_doubt_w)
{
	double w = 0;

	*ret_doubt_w = 0;
	for_each_device(const Managed, md, f) if (gauge_covers(s, md))
	{
		w += md->trust.fixed_w + md->trust.dynamic_w * md->trust.correction;
		*ret_doubt_w += md->trust.dynamic_w * md->device->profile->energy_error;
	}
	return w;
}

/* Where the last half hour tells of the present draw it is known better than by some seconds, and
 * what these believe less than that is off. Where they believe more, something has changed of late,
 * and they know it best. */
static double off_by_drift_w(const Correction *c, const DriftOf *of, double believed_w,
			     double doubt_w)
{
	double apart_w = fabs(of->told_w - believed_w) / DEVIATIONS;
	double most_w = of->told_w > believed_w ? doubt_w / DEVIATIONS : 0;

	return MIN(of->told_sd_w + apart_w, MAX(MAX(c->off_w, of->told_sd_w), most_w));
}

/* It widens at once, but not beyond the profiles' own errors, and narrows slowly. */
static void bound_by_drift(Gauge *s, const DriftOf *of, const Fleet *f)
{
	Correction *c = &s->correction;
	double doubt_w, believed_w = corrected_w(s, f, &doubt_w), off_w = c->off_w;
	bool at_once = !of->fit_holds;

	if (of->told_w > 0)
		off_w = off_by_drift_w(c, of, believed_w, doubt_w);
	at_once |= off_w > c->kept_off_w;
	c->kept_off_w += (at_once ? 1 : NARROWED) * (off_w - c->kept_off_w);
}

void correct_bound_by_drift(Gauges *g, const Fleet *f)
{
	for (size_t i = 0; i < g->n; i++)
		if (corrects(&g->gauges[i], SENSOR_OF_NODE) ||
		    corrects(&g->gauges[i], SENSOR_OF_GROUP))
			bound_by_drift(&g->gauges[i], &g->drift[i], f);
}

static const Correction *known_of(const Gauges *g, SensorScope scope, const Managed *md)
{
	for (size_t i = 0; i < g->n; i++) {
		const Gauge *s = &g->gauges[i];

		if (s->config->scope == scope && s->correction.known && gauge_covers(s, md))
			return &s->correction;
	}
	return NULL;
}

/* The widest of those that correct it: that one knows the sum. */
static const Correction *widest_of(const Gauges *g, const Managed *md)
{
	const Correction *c = known_of(g, SENSOR_OF_NODE, md);

	c = c ?: known_of(g, SENSOR_OF_GROUP, md);
	return c ?: md->trust.own.known ? &md->trust.own : NULL;
}

/* Their chance errors are independent of each other; what they are off by for good is not. */
double correct_margin_w(const Gauges *g, const Fleet *f)
{
	double off_w = 0, squares = 0;

	for_each_device(const Managed, md, f)
	{
		const Correction *c = widest_of(g, md);
		double part, own_w;

		if (!c || !(c->modelled_w > 0))
			continue;
		/* a device's own sensor has no fit */
		own_w = c == &md->trust.own ? c->off_w : c->kept_off_w;
		part = (md->trust.fixed_w + md->trust.dynamic_w) / c->modelled_w;
		off_w += SENSOR_MARGIN * part * c->measured_w;
		squares += part * own_w * own_w;
	}
	return off_w + DEVIATIONS * sqrt(squares);
}
