/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which claims end because a new one takes their place. */

#include "budget/claims-private.h"

static bool same_wish(const Claim *a, const Claim *b)
{
	return a->class == b->class && a->scope == b->scope && streq(a->source, b->source) &&
	       streq(a->target ?: "", b->target ?: "");
}

bool claim_replaces(const Claim *new, const Claim *old)
{
	return new->replaces &&new->cookie != old->cookie &&same_wish(new, old) &&
	       streq(new->owner ?: "", old->owner ?: "");
}

static bool is_replaced(const Claim *old, const void *new)
{
	return claim_replaces(new, old);
}

size_t claims_replace(Claims *c, uint64_t cookie)
{
	const Claim *found = claims_find(c, cookie);
	const Claim new = found ? *found : (Claim){};

	return found ? claims_drop_if(c, is_replaced, &new) : 0;
}
