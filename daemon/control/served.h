/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a device serves at a setting that holds it back, over what the model says: learned for that
 * setting, and planned with from then on. */

#include "control/tools.h"

/* After new rates, once workload_judge() has judged them. */
void served_judge(Managed *md, Tools *t);
/* It has another profile, and what it serves over that is not known yet. */
void served_forget(Managed *md);
/* A difference that matters asks for a better plan, once, and ever more seldom where that goes on.
 */
Need served_take_need(Managed *md, uint64_t now_us);
/* Do they serve less, nothing being set, than their profile says, because something that they share
 * serves both, as the host of loop devices does? What one of them leaves the other takes: they
 * are planned as one, and what each serves is what they serve on average. */
bool served_in_common(const Managed *a, const Managed *b);
/* Of those that serve in common with it the first, for which is learned what all serve; or itself.
 */
const Managed *served_first(const Managed *md, const Fleet *f);
/* What is asked of the device, or on average of those that serve in common with it. */
double served_demand_mb_s(const Managed *md, const Fleet *f);
/* The device's mix, or that of the first with which it serves in common, with what was learned of
 * it; lives as long as nothing more is judged. */
Mix served_mix(const Managed *md, const Fleet *f);
