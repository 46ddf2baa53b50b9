/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The changes of limits that have not reached the devices and the draw yet: one for each scope,
 * with the claims whose making, changing, beginning or end it was. */

#include "budget/claim.h"

typedef struct Unsettled {
	ClaimScope scope;
	char *target; /* NULL for SCOPE_NODE */
	uint64_t *cookies;
	size_t n;
	uint64_t since_us; /* 0: the turn has not seen it yet */
} Unsettled;

typedef struct Settling {
	Unsettled *changes;
	size_t n;
} Settling;

/* The claim's limit has changed, begun or ended; it joins the change of the same scope that has not
 * settled yet. Without memory it is logged and left out. */
void settling_note(Settling *s, const Claim *claim);
void settling_remove(Settling *s, size_t index);
void settling_done(Settling *s);
