/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a device serves at a setting that holds it back, over what the model says: learned for that
 * setting, and planned with from then on. */

#include "control/tools.h"

/* After new rates, once workload_judge() has judged them. */
void served_judge(Managed *md, Tools *t);
/* A difference that matters asks for a better plan, once, and ever more seldom where that goes on.
 */
Need served_take_need(Managed *md, uint64_t now_us);
/* The device's mix with what was learned of it; lives as long as nothing more is judged. */
Mix served_mix(const Managed *md);
