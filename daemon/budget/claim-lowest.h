/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The lowest active claims of every scope, found in one pass over all claims, so that asking for
 * each device, group or claim costs next to nothing. Pure. */

#include "budget/claim.h"

typedef struct LowestClaim {
	double limit;
	ClaimClass class;
	uint64_t cookie; /* 0: there is none */
} LowestClaim;

typedef struct LowestOfScope {
	ClaimScope scope;
	char *target;           /* "" for SCOPE_NODE */
	LowestClaim in_unit[2]; /* by LimitUnit, because the two compare only in watts */
	uint64_t pin;           /* the claim that pins the power state of the device; 0: none */
} LowestOfScope;

typedef struct LowestClaims {
	LowestOfScope *scopes; /* sorted */
	size_t n;
	uint64_t until_us; /* a claim begins or ends then */
} LowestClaims;

/* -ENOMEM. */
int lowest_claims_find(const Claims *c, uint64_t now_us, LowestClaims *ret);
/* One more, whether it is active or not. -ENOMEM. */
int lowest_claims_add(LowestClaims *l, const Claim *claim);
void lowest_claims_done(LowestClaims *l);
/* As claims_effective() at the time at which they were found; *ret_cookie is 0 where nothing limits
 * the scope. */
double lowest_claims_limit_w(const LowestClaims *l, ClaimScope scope, const char *target,
			     double operating_w, uint64_t *ret_cookie);
/* The cookie of the active claim that pins the device's power state; 0: there is none. */
uint64_t lowest_claims_pin(const LowestClaims *l, const char *device);
