/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "budget/claim.h"

/* This is far above what a daemon hands out in its life, and is a whole number in every JSON
 * reader. */
#define COOKIE_MAX (1ULL << 53)
#define CLAIMS_MAX 4096

struct Claims {
	Claim *claims; /* by cookie, which is the order of creation */
	size_t n;
	uint64_t next_cookie;
};

/* claims_add() with the cookie given: -EEXIST when it is taken. */
int claims_insert(Claims *c, const Claim *claim, uint64_t cookie);
/* Ends every claim of which `ends` is true, and keeps the order of the others. Returns how many it
 * ended. */
size_t claims_drop_if(Claims *c, bool (*ends)(const Claim *claim, const void *what),
		      const void *what);
void claim_clear(Claim *claim);
bool claim_valid(const Claim *claim);
/* The one of that cookie, to be changed in place; NULL: there is none. */
Claim *claims_find_own(Claims *c, uint64_t cookie);
