/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "control/facts.h"

/* What every device is to be set to. */
typedef struct Verdict {
	Plan *plan;
	bool keep; /* the plan in force serves as well: only what it is expected to give is new */
	bool changes; /* any setting, beside the plan in force */
} Verdict;

/* Pure. last: the plan in force, or NULL; may_keep: the settings in force may stay where the new
 * ones are not better by the policy's hysteresis. -ENOMEM, -EINVAL. */
int decide(const Facts *f, const Plan *last, bool may_keep, Verdict *ret);
/* The same without the last plan: what a budget would come to. */
int decide_plan(const Facts *f, double budget_w, unsigned forbidden, Plan **ret);
