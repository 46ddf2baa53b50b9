/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The policy in force, and the one for emergencies. */

#include "budget/claim.h"
#include "control/control.h"

typedef struct Policies {
	Policy *chosen, *emergency;
} Policies;

int policies_load(Policies *p, const ControlConfig *c, const char *name);
void policies_done(Policies *p);
/* effective: the claim that the budget is of, or NULL. */
const Policy *policies_for(const Policies *p, const Claim *effective);
