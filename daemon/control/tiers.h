/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Disks and the caches that their reads go through, as the planner wants them. */

#include "control/tools.h"
#include "plan/plan.h"

/* Indices are those of the fleet. Where nobody knows what a cache serves, all reads may be the
 * disk's: there it has its promises to keep by itself, and is as good as without a cache.
 * *ret is malloc'd, *ret_n entries, also after -ENOMEM. */
int tiers_find(const Fleet *fleet, PlanTier **ret, size_t *ret_n);
