/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Claims that end: by time, with their owner, or because another takes their place. */

#include <string.h>

#include "control/limits.h"

/* Notes the end of each claim that `ends` picks, before it is dropped. */
static void note_ends(Limits *l, bool (*ends)(const Claim *c, const void *arg), const void *arg,
		      const char *why)
{
	const Claim *c;

	for (size_t i = 0; (c = claims_get(l->claims, i)); i++)
		if (ends(c, arg))
			limits_note_end(l, c, why);
}

static bool owned_by(const Claim *c, const void *owner)
{
	return c->owner && !claim_orphaned(c) && streq(c->owner, owner);
}

/* It would have gone on with its owner. */
static bool forsaken_at(const Claim *c, const void *now_us)
{
	return c->expiry_us <= *(const uint64_t *)now_us &&
	       c->owned_expiry_us > *(const uint64_t *)now_us;
}

static bool expired_at(const Claim *c, const void *now_us)
{
	return c->expiry_us <= *(const uint64_t *)now_us && !forsaken_at(c, now_us);
}

static bool has_cookie(const Claim *c, const void *cookie)
{
	return c->cookie == *(const uint64_t *)cookie;
}

static void note_replaced(Limits *l, uint64_t old, uint64_t by)
{
	limits_add_news(l, &(ClaimNews){ .kind = CLAIM_REPLACED, .cookie = old, .by = by });
}

static void note_all_replaced(Limits *l, uint64_t by)
{
	const Claim *new = claims_find(l->claims, by), *c;

	for (size_t i = 0; (c = claims_get(l->claims, i)); i++)
		if (claim_replaces(new, c))
			note_replaced(l, c->cookie, by);
}

static bool replaced_by(const Claim *c, const void *new)
{
	return claim_replaces(new, c);
}

void limits_end_predecessors(Limits *l, uint64_t cookie, uint64_t now_us)
{
	uint64_t since_us = now_us < l->started_us + CLAIM_GRACE_US ? l->started_us : 0;
	uint64_t renewed = claims_renewed_by(l->claims, cookie, since_us);

	if (renewed) {
		note_replaced(l, renewed, cookie);
		note_ends(l, has_cookie, &renewed, "renewed by a new claim");
		(void)claims_release(l->claims, renewed);
	}
	note_all_replaced(l, cookie);
	note_ends(l, replaced_by, claims_find(l->claims, cookie), "replaced by a new claim");
	(void)claims_replace(l->claims, cookie);
}

size_t limits_adopt(Limits *l, const char *bus, const char *owner, uint64_t now_us)
{
	size_t n = claims_adopt(l->claims, bus, owner);

	l->lowest_is_old = true;
	l->due_us = claims_next_event(l->claims, now_us);
	return n;
}

size_t limits_drop_owner(Limits *l, const char *owner)
{
	note_ends(l, owned_by, owner, "its owner left the bus");
	return claims_drop_owner(l->claims, owner);
}

Need limits_take_due(Limits *l, uint64_t now_us)
{
	bool due = now_us >= l->due_us, expired;

	if (!due)
		return NOTHING_NEEDED;
	note_ends(l, expired_at, &now_us, "expired");
	note_ends(l, forsaken_at, &now_us,
		  "its owner has not come back after the daemon's restart");
	expired = claims_expire(l->claims, now_us) > 0;
	l->due_us = claims_next_event(l->claims, now_us);
	return need(NEED_TOLD_PLAN, expired ? CAUSE_CLAIM_EXPIRED : CAUSE_CLAIM_BEGAN);
}
