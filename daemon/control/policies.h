/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The policy in force, and the one for emergencies. */

#include "budget/claim.h"
#include "control/control.h"
#include "journal/policy-file.h"

typedef struct Policies {
	Policy *chosen, *emergency;
	PolicyChoice choice; /* while the daemon ran; without a name: the configured one counts */
	int unsaved;         /* the errno for which that could not be saved; 0: it is */
} Policies;

/* What was chosen in an earlier run, unless the configuration was changed since then; else what is
 * configured. Without a configured policy there is none. */
int policies_open(Policies *p, const PolicyConfig *c);
/* The files and the configuration are read again. What fails leaves the policy as it is. */
int policies_reread(Policies *p, const PolicyConfig *c);
/* Somebody chooses. It holds over restarts; where it cannot be saved, for this run. */
int policies_choose(Policies *p, const PolicyConfig *c, const char *name, const char *by);
void policies_done(Policies *p);
/* effective: the claim that the budget is of, or NULL. */
const Policy *policies_for(const Policies *p, const Claim *effective);
