/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/caps.h"

#include "control/trust.h"
#include "control/waking.h"

double caps_of(const Managed *md, const Setting *s, uint64_t now_us)
{
	Setting holding = *s;

	if (!md->knobs.probed)
		return md->device->profile->rated_w;
	if (trust_is_uncontrolled(md, now_us))
		holding.pace_w = 0;
	return cap_watts(md->device->profile, &holding) * MAX(md->trust.bias, 1.0);
}

void caps_update(Managed *md, uint64_t now_us)
{
	double w = caps_of(md, &md->knobs.actual, now_us);

	md->cap_w = waking_under_way(md) ? MAX(w, md->waking.watts) : w;
}

double caps_sum_w(const Fleet *f)
{
	double w = 0;

	for_each_device(const Managed, md, f) w += md->cap_w;
	return w;
}
