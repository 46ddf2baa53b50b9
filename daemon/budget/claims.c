/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "budget/claims-private.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"

Claims *claims_new(void)
{
	Claims *c = calloc(1, sizeof(*c));

	if (c)
		c->next_cookie = 1;
	return c;
}

void claim_clear(Claim *claim)
{
	free(claim->target);
	free(claim->source);
	free(claim->reason);
	free(claim->maker.unit);
	free(claim->owner);
	free(claim->bus);
}

Claims *claims_free(Claims *c)
{
	if (!c)
		return NULL;
	for (size_t i = 0; i < c->n; i++)
		claim_clear(&c->claims[i]);
	free(c->claims);
	free(c);
	return NULL;
}

static bool given(const char *s)
{
	return s && *s;
}

static bool pin_valid(const Claim *claim)
{
	return !claim->pins || (claim->scope == SCOPE_DEVICE && claim->unit == LIMIT_PERCENT &&
				claim->limit == 100 && claim->owner);
}

bool claim_valid(const Claim *claim)
{
	if ((unsigned)claim->class >= _CLASS_MAX || (unsigned)claim->scope > SCOPE_DEVICE)
		return false;
	if (given(claim->target) != (claim->scope != SCOPE_NODE))
		return false;
	if (claim->unit != LIMIT_WATTS && claim->unit != LIMIT_PERCENT)
		return false;
	if (!isfinite(claim->limit) || signbit(claim->limit))
		return false;
	if (claim->unit == LIMIT_PERCENT && claim->limit > 100)
		return false;
	if (!(claim->tolerance_s >= 0 && claim->tolerance_s <= CLAIM_TOLERANCE_MAX_S))
		return false;
	return pin_valid(claim) && claim->expiry_us > claim->start_us;
}

static int claim_copy(Claim *to, const Claim *from)
{
	*to = *from;
	to->target = given(from->target) ? strdup(from->target) : NULL;
	to->source = strdup(from->source ?: "");
	to->reason = strdup(from->reason ?: "");
	to->maker.unit = from->maker.unit ? strdup(from->maker.unit) : NULL;
	to->owner = from->owner ? strdup(from->owner) : NULL;
	to->bus = from->bus ? strdup(from->bus) : NULL;
	if (to->source && to->reason && !to->target == !given(from->target) &&
	    !to->maker.unit == !from->maker.unit && !to->owner == !from->owner &&
	    !to->bus == !from->bus)
		return 0;
	claim_clear(to);
	return -ENOMEM;
}

/* The place where the cookie is, or where it belongs. */
static size_t find_place(const Claims *c, uint64_t cookie)
{
	size_t low = 0, high = c->n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (c->claims[middle].cookie < cookie)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

Claim *claims_find_own(Claims *c, uint64_t cookie)
{
	size_t i = find_place(c, cookie);

	return i < c->n && c->claims[i].cookie == cookie ? &c->claims[i] : NULL;
}

const Claim *claims_find(const Claims *c, uint64_t cookie)
{
	return claims_find_own((Claims *)c, cookie);
}

const Claim *claims_get(const Claims *c, size_t index)
{
	return index < c->n ? &c->claims[index] : NULL;
}

int claims_insert(Claims *c, const Claim *claim, uint64_t cookie)
{
	size_t place = find_place(c, cookie);
	Claim copy;
	int r;

	if (!claim_valid(claim))
		return -EINVAL;
	if (c->n >= CLAIMS_MAX || cookie >= COOKIE_MAX)
		return -E2BIG;
	if (claims_find(c, cookie))
		return -EEXIST;
	r = claim_copy(&copy, claim);
	if (r < 0)
		return r;
	if (!ARRAY_GROW(c->claims, c->n)) {
		claim_clear(&copy);
		return -ENOMEM;
	}
	memmove(&c->claims[place + 1], &c->claims[place], (c->n - 1 - place) * sizeof(*c->claims));
	copy.cookie = cookie;
	c->claims[place] = copy;
	c->next_cookie = MAX(c->next_cookie, cookie + 1);
	return 0;
}

int claims_add(Claims *c, const Claim *claim, uint64_t *ret_cookie)
{
	uint64_t cookie = c->next_cookie;
	int r = claims_insert(c, claim, cookie);

	if (r >= 0)
		*ret_cookie = cookie;
	return r;
}

size_t claims_drop_if(Claims *c, bool (*ends)(const Claim *claim, const void *what),
		      const void *what)
{
	size_t kept = 0, before = c->n;

	for (size_t i = 0; i < before; i++) {
		if (ends(&c->claims[i], what))
			claim_clear(&c->claims[i]);
		else
			c->claims[kept++] = c->claims[i];
	}
	c->n = kept;
	return before - kept;
}

static bool has_cookie(const Claim *claim, const void *cookie)
{
	return claim->cookie == *(const uint64_t *)cookie;
}

static bool has_owner(const Claim *claim, const void *owner)
{
	return claim->owner && !claim_orphaned(claim) && streq(claim->owner, owner);
}

static bool has_expired(const Claim *claim, const void *now_us)
{
	return claim->expiry_us != USEC_NEVER && claim->expiry_us <= *(const uint64_t *)now_us;
}

int claims_release(Claims *c, uint64_t cookie)
{
	return claims_drop_if(c, has_cookie, &cookie) ? 0 : -ENOENT;
}

size_t claims_drop_owner(Claims *c, const char *owner)
{
	return claims_drop_if(c, has_owner, owner);
}

size_t claims_expire(Claims *c, uint64_t now_us)
{
	return claims_drop_if(c, has_expired, &now_us);
}

uint64_t claims_next_event(const Claims *c, uint64_t now_us)
{
	uint64_t next = USEC_NEVER;

	for (size_t i = 0; i < c->n; i++) {
		const Claim *claim = &c->claims[i];
		uint64_t event = claim->start_us > now_us ? claim->start_us : USEC_NEVER;

		event = MIN(event, MAX(claim->expiry_us, now_us));
		next = MIN(next, event);
	}
	return next;
}

static bool concerns(const Claim *claim, ClaimScope scope, const char *target)
{
	return claim->scope == scope && !claim->pins &&
	       (scope == SCOPE_NODE || streq(claim->target, target));
}

double limit_watts(double limit, LimitUnit unit, double operating_w)
{
	if (unit != LIMIT_PERCENT)
		return limit;
	return limit < 100 ? limit / 100 * operating_w : LIMIT_MAX_W;
}

double claims_effective(const Claims *c, ClaimScope scope, const char *target, double operating_w,
			uint64_t now_us, const Claim **ret_claim)
{
	const Claim *best = NULL;
	double best_w = INFINITY;

	/* oldest first, so that on a full tie the first one found stays */
	for (size_t i = 0; i < c->n; i++) {
		const Claim *claim = &c->claims[i];
		double w = limit_watts(claim->limit, claim->unit, operating_w);

		if (!claim_active(claim, now_us) || !concerns(claim, scope, target))
			continue;
		if (w < best_w || (best && w == best_w && claim->class > best->class)) {
			best = claim;
			best_w = w;
		}
	}
	if (ret_claim)
		*ret_claim = best;
	return best_w;
}
