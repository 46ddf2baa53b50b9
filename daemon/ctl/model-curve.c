/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ctl/model-curve.h"

#include <math.h>
#include <string.h>

#define ROOM 1.05 /* above the highest */

static void add(ModelCurve *c, double watts, double mb_s, double error)
{
	if (c->n < CURVE_MAX)
		c->line[c->n++] = (CurvePoint){ watts, mb_s, error };
}

/* Between two settings there is nothing: the lesser one serves until the next one can. */
static void add_candidate(ModelCurve *c, json_object *o)
{
	double error = json_number(o, "Error"), watts = json_number(o, "ExpectedPower");

	if (c->n)
		add(c, watts, c->line[c->n - 1].mb_s, error);
	add(c, watts, json_number(o, "Throughput"), error);
	if (json_true(o, "Paced"))
		add(c, json_number(o, "ExpectedPowerHigh"), json_number(o, "ThroughputHigh"),
		    error);
}

static void reach(ModelCurve *c, const CurvePoint *p)
{
	if (isnan(p->watts) || isnan(p->mb_s))
		return;
	c->from_w = fmin(c->from_w, p->watts);
	c->to_w = fmax(c->to_w, p->watts);
	c->most_mb_s = fmax(c->most_mb_s, p->mb_s);
}

/* The error band may hang over the sides, but not over all of what is known. */
static void find_ranges(ModelCurve *c, double rated_w)
{
	c->from_w = INFINITY;
	for (size_t i = 0; i < c->n; i++) {
		const CurvePoint *p = &c->line[i];

		reach(c, p);
		reach(c, &(CurvePoint){ p->watts * (1 - p->error), p->mb_s, 0 });
		reach(c, &(CurvePoint){ fmin(p->watts * (1 + p->error), rated_w), p->mb_s, 0 });
	}
	reach(c, &c->now);
	reach(c, &c->planned);
	c->most_mb_s *= ROOM;
	if (!(c->to_w > c->from_w))
		c->to_w = c->from_w + 1;
	if (!(c->most_mb_s > 0))
		c->most_mb_s = 1;
}

/* A point says something of this workload when it is of its pattern and of a direction that it has.
 */
static bool tells(const Point *p, const Mix *mix)
{
	if ((p->pattern == RANDOM_IO) != (mix->random_share >= 0.5))
		return false;
	return p->direction == READ_IO ? mix->read_share > 0 : mix->read_share < 1;
}

static void take_points(ModelCurve *c, const Profile *p, const Mix *mix)
{
	c->points = calloc(p->n_points + 1, sizeof(*c->points));
	for (size_t i = 0; c->points && i < p->n_points; i++) {
		const Point *q = &p->points[i];

		if (!tells(q, mix))
			continue;
		if (q->mb_s > c->most_mb_s || q->watts > c->to_w || q->watts < c->from_w)
			c->n_outside++;
		else
			c->points[c->n_points++] = (CurvePoint){ q->watts, q->mb_s, q->error };
	}
}

void model_curve_make(json_object *frontier, const Profile *profile, ModelCurve *ret)
{
	json_object *candidates = json_member(frontier, "Candidates");
	json_object *present = json_member(frontier, "Present");
	Mix mix = model_mix_from_json(present);
	ModelCurve c = { .now = { json_number(present, "Power"), json_number(present, "Throughput"),
				  0 },
			 .planned = { NAN, NAN, 0 } };

	if (model_is_held_back(present))
		c.planned = (CurvePoint){ json_number(present, "PlannedPower"),
					  json_number(present, "PlannedThroughput"), 0 };
	for (size_t i = 0; i < json_count(candidates); i++)
		add_candidate(&c, json_object_array_get_idx(candidates, i));
	find_ranges(&c, json_number(present, "RatedPower"));
	if (profile)
		take_points(&c, profile, &mix);
	*ret = c;
}

void model_curve_done(ModelCurve *c)
{
	free(c->points);
}
