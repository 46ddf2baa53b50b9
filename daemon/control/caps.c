/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/caps.h"

#include "control/obedience.h"
#include "control/trust.h"
#include "control/waking.h"
#include "control/workload.h"

double caps_of(const Managed *md, const Setting *s, uint64_t now_us)
{
	Setting holding = *s;

	if (!md->knobs.probed)
		return md->device->profile->rated_w;
	if (trust_is_uncontrolled(md, now_us))
		holding.pace_w = 0;
	return cap_watts(md->device->profile, &holding) * MAX(md->trust.bias, 1.0);
}

static bool is_remembered(const Cap *cap, const Managed *md, bool uncontrolled)
{
	return cap->known && cap->bias == md->trust.bias && cap->uncontrolled == uncontrolled &&
	       setting_equal(&cap->setting, &md->knobs.actual);
}

/* Of the setting in force. */
static double allowed_w(Managed *md, uint64_t now_us)
{
	bool uncontrolled = trust_is_uncontrolled(md, now_us);

	if (!is_remembered(&md->caps.cap, md, uncontrolled))
		md->caps.cap = (Cap){ .known = md->knobs.probed,
				      .setting = md->knobs.actual,
				      .bias = md->trust.bias,
				      .uncontrolled = uncontrolled,
				      .watts = caps_of(md, &md->knobs.actual, now_us) };
	return md->caps.cap.watts;
}

void caps_update(Managed *md, uint64_t now_us)
{
	double w = allowed_w(md, now_us);

	md->caps.now_w = waking_under_way(md) ? MAX(w, md->waking.watts) : w;
}

void caps_forget(Managed *md)
{
	md->caps.cap.known = md->caps.floor.known = false;
}

static bool floor_is_remembered(const Managed *md, const Offer *offer, unsigned forbidden,
				Condition condition)
{
	const Floor *f = &md->caps.floor;

	return f->known && f->forbidden == forbidden && f->condition == condition &&
	       offer_equal(&f->offer, offer) && !workload_mix_differs(&f->mix, &md->workload.mix);
}

double caps_floor_w(Managed *md, unsigned forbidden)
{
	Condition condition = managed_asleep(md) ? md->knobs.actual.condition : CONDITION_IDLE_B;
	const Offer offer = obedience_offer(md);
	Candidate frontier[FRONTIER_MAX];
	size_t n;

	if (floor_is_remembered(md, &offer, forbidden, condition))
		return md->caps.floor.watts;
	frontier_build(md->device->profile, &md->workload.mix, &offer, forbidden, condition,
		       frontier, &n);
	md->caps.floor = (Floor){ .known = true,
				  .offer = offer,
				  .forbidden = forbidden,
				  .condition = condition,
				  .mix = md->workload.mix,
				  .watts = frontier[0].cap_w };
	return md->caps.floor.watts;
}

double caps_sum_w(const Fleet *f)
{
	double w = 0;

	for_each_device(const Managed, md, f) w += md->caps.now_w;
	return w;
}
