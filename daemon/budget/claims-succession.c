/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which claims end because a new one takes their place. */

#include "budget/claims-private.h"

static bool same_wish(const Claim *a, const Claim *b)
{
	return a->class == b->class && a->scope == b->scope && a->pins == b->pins &&
	       streq(a->source, b->source) && streq(a->target ?: "", b->target ?: "");
}

bool claim_yields_to(const Claim *claim, uint32_t uid)
{
	return uid == 0 || claim->maker.uid == uid;
}

static bool would_replace(const Claim *new, const Claim *old)
{
	return new->replaces &&new->cookie != old->cookie &&same_wish(new, old) &&
	       streq(new->owner ?: "", old->owner ?: "");
}

bool claim_replaces(const Claim *new, const Claim *old)
{
	return would_replace(new, old) && claim_yields_to(old, new->maker.uid);
}

const Claim *claims_unyielding(const Claims *c, const Claim *new)
{
	for (size_t i = 0; i < c->n; i++)
		if (would_replace(new, &c->claims[i]) &&
		    !claim_yields_to(&c->claims[i], new->maker.uid))
			return &c->claims[i];
	return NULL;
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

void claims_orphan(Claims *c, uint64_t until_us)
{
	for (size_t i = 0; i < c->n; i++) {
		Claim *claim = &c->claims[i];

		if (!claim->owner || claim_orphaned(claim))
			continue;
		claim->owned_expiry_us = claim->expiry_us;
		claim->expiry_us = MIN(claim->expiry_us, until_us);
	}
}

static bool left_by(const Claim *claim, const char *bus, const char *owner)
{
	return claim_orphaned(claim) && claim->bus && streq(claim->bus, bus) &&
	       streq(claim->owner, owner);
}

size_t claims_adopt(Claims *c, const char *bus, const char *owner)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++) {
		Claim *claim = &c->claims[i];

		if (!left_by(claim, bus, owner))
			continue;
		claim->expiry_us = claim->owned_expiry_us;
		claim->owned_expiry_us = 0;
		n++;
	}
	return n;
}

/* How well the new claim fits as the renewal of the old one; 0: not at all. Another limit of a
 * living owner may be a second wish beside the first. */
static int renewal_fit(const Claim *new, const Claim *old)
{
	bool same_limit = new->limit == old->limit &&new->unit == old->unit;

	if (!new->owner || !old->owner || !same_wish(new, old) ||
	    !claim_yields_to(old, new->maker.uid))
		return 0;
	if (claim_orphaned(old))
		return same_limit ? 2 : 1;
	return same_limit && streq(new->owner, old->owner) ? 3 : 0;
}

uint64_t claims_renewed_by(const Claims *c, uint64_t cookie, uint64_t since_us)
{
	const Claim *new = claims_find(c, cookie), *best = NULL;
	int best_fit = 0;

	for (size_t i = 0; i < c->n && new; i++) {
		const Claim *old = &c->claims[i];
		int fit = old->created_us < since_us ? renewal_fit(new, old) : 0;

		if (fit > best_fit) {
			best = old;
			best_fit = fit;
		}
	}
	return best ? best->cookie : 0;
}
