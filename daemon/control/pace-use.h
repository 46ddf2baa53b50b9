/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the members of a pool leave of their paces while their IO waits for them. A workload with
 * few IOs out at a time has them now at this and now at that member, and what the others could have
 * served meanwhile is lost. It is planned with: a pool is paced to more than it is to draw, by what
 * it leaves. */

#include "control/tools.h"

/* After new rates of one of its members, once workload_judge() has judged them. */
void pace_use_judge(Managed *md, Tools *t);
/* What its pool leaves, 0..1; 0: nothing, or it is of no pool, or has no IO. */
double pace_use_left(const Managed *md, const Fleet *f);
/* Is it another part than that which was planned with, by enough for a new plan? */
bool pace_use_is_news(const Managed *md, const Fleet *f);
/* What is asked of the device. While its pool is held back by its paces that is its part of what is
 * asked of the pool, by what it serves of it: what one member serves in a second is chance, and the
 * others wait for the one that is paced to too little. */
double pace_use_demand_mb_s(const Managed *md, const Fleet *f);
