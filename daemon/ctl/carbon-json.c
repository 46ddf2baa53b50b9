/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* storpowerctl carbon --json. */

#include "ctl/ctl-carbon.h"

void carbon_of_life(const Inquiry *q, CarbonCase which, double ret_kg[2])
{
	double requests = q->rate * q->life_y * SECONDS_PER_YEAR;

	carbon_sides(&q->question, requests, which, &ret_kg[0], &ret_kg[1]);
}

static json_object *band_json(const Band *b)
{
	json_object *o = json_object_new_object();

	json_put_number(o, "Low", b->low);
	json_put_number(o, "Mean", b->mean);
	json_put_number(o, "High", b->high);
	return o;
}

static json_object *crossing_json(const CarbonCrossing *x)
{
	json_object *o = json_object_new_object();

	json_put_text(o, "Verdict", carbon_verdict_name(x->verdict));
	json_put_number(o, "Value", x->at);
	return o;
}

static json_object *crossings_json(const CarbonCrossings *x)
{
	json_object *o = json_object_new_object();

	json_object_object_add(o, "Mean", crossing_json(&x->mean));
	json_object_object_add(o, "Best", crossing_json(&x->best));
	json_object_object_add(o, "Worst", crossing_json(&x->worst));
	return o;
}

static json_object *side_json(const CarbonSide *side, const char *profile)
{
	json_object *o = json_object_new_object();

	json_put_text(o, "Profile", profile);
	json_object_object_add(o, "RequestEnergy", band_json(&side->request_j));
	json_object_object_add(o, "Embodied", band_json(&side->embodied_kg_gb));
	return o;
}

static void put_life(json_object *o, const Inquiry *q, const char *key, size_t side)
{
	static const struct {
		const char *key;
		CarbonCase which;
	} cases[] = { { "Mean", CARBON_MEAN }, { "Best", CARBON_BEST }, { "Worst", CARBON_WORST } };
	json_object *all = json_object_new_object();
	double kg[2];

	for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
		carbon_of_life(q, cases[i].which, kg);
		json_put_number(all, cases[i].key, kg[side]);
	}
	json_object_object_add(o, key, all);
}

json_object *carbon_json(const Inquiry *q)
{
	json_object *o = json_object_new_object();

	json_object_object_add(o, "SSD", side_json(&q->question.ssd, q->ssd));
	json_object_object_add(o, "HDD", side_json(&q->question.hdd, q->hdd));
	json_object_object_add(o, "Intensity", band_json(&q->question.g_kwh));
	json_put_number(o, "Size", q->question.size_gb);
	json_put_number(o, "Rate", q->rate);
	json_put_number(o, "HDDRate", q->hdd_rate);
	json_put_number(o, "Scaling", q->scaling);
	json_put_number(o, "LifeYears", q->life_y);
	json_put_count(o, "Disks", q->question.disks);
	json_object_object_add(o, "Requests", crossings_json(&q->requests));
	json_object_object_add(o, "Seconds", crossings_json(&q->seconds));
	json_object_object_add(o, "BreakEvenIntensity", crossings_json(&q->g_kwh));
	put_life(o, q, "SSDCarbon", 0);
	put_life(o, q, "HDDCarbon", 1);
	return o;
}
