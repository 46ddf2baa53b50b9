/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "budget/claim-lowest.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static int compare(const LowestOfScope *a, ClaimScope scope, const char *target)
{
	if (a->scope != scope)
		return a->scope < scope ? -1 : 1;
	return strcmp(a->target, target);
}

/* The place where the scope is, or where it belongs. */
static size_t find_place(const LowestClaims *l, ClaimScope scope, const char *target,
			 bool *ret_found)
{
	size_t low = 0, high = l->n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (compare(&l->scopes[middle], scope, target) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*ret_found = low < l->n && compare(&l->scopes[low], scope, target) == 0;
	return low;
}

static LowestOfScope *insert(LowestClaims *l, size_t place, const Claim *claim)
{
	char *target = strdup(claim->target ?: "");

	if (!target || !ARRAY_GROW(l->scopes, l->n)) {
		free(target);
		return NULL;
	}
	memmove(&l->scopes[place + 1], &l->scopes[place], (l->n - 1 - place) * sizeof(*l->scopes));
	l->scopes[place] = (LowestOfScope){ .scope = claim->scope, .target = target };
	return &l->scopes[place];
}

/* Claims come oldest first, so that on a full tie the one that is there stays. */
static bool is_lower(const Claim *claim, const LowestClaim *than)
{
	return !than->cookie || claim->limit < than->limit ||
	       (claim->limit == than->limit && claim->class > than->class);
}

int lowest_claims_add(LowestClaims *l, const Claim *claim)
{
	bool found;
	size_t place = find_place(l, claim->scope, claim->target ?: "", &found);
	LowestOfScope *s = found ? &l->scopes[place] : insert(l, place, claim);
	LowestClaim *lowest = s ? &s->in_unit[claim->unit] : NULL;

	if (!lowest)
		return -ENOMEM;
	if (claim->pins)
		s->pin = s->pin ?: claim->cookie;
	else if (is_lower(claim, lowest))
		*lowest = (LowestClaim){ claim->limit, claim->class, claim->cookie };
	return 0;
}

int lowest_claims_find(const Claims *c, uint64_t now_us, LowestClaims *ret)
{
	LowestClaims l = { .until_us = claims_next_event(c, now_us) };
	const Claim *claim;
	int r = 0;

	for (size_t i = 0; r >= 0 && (claim = claims_get(c, i)); i++)
		if (claim_active(claim, now_us))
			r = lowest_claims_add(&l, claim);
	if (r < 0)
		lowest_claims_done(&l);
	else
		*ret = l;
	return r;
}

void lowest_claims_done(LowestClaims *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->scopes[i].target);
	free(l->scopes);
	*l = (LowestClaims){};
}

/* Of the two the lower; on a tie the more urgent one, then the older one. */
static const LowestClaim *lower_of(const LowestClaim *watts, const LowestClaim *percent,
				   double percent_w)
{
	if (!watts->cookie || !percent->cookie)
		return watts->cookie ? watts : percent;
	if (watts->limit != percent_w)
		return watts->limit < percent_w ? watts : percent;
	if (watts->class != percent->class)
		return watts->class > percent->class ? watts : percent;
	return watts->cookie < percent->cookie ? watts : percent;
}

double lowest_claims_limit_w(const LowestClaims *l, ClaimScope scope, const char *target,
			     double operating_w, uint64_t *ret_cookie)
{
	bool found;
	size_t place = find_place(l, scope, target ?: "", &found);
	const LowestClaim *units = found ? l->scopes[place].in_unit : NULL, *lowest;
	double percent_w;

	*ret_cookie = 0;
	if (!units)
		return INFINITY;
	percent_w = limit_watts(units[LIMIT_PERCENT].limit, LIMIT_PERCENT, operating_w);
	lowest = lower_of(&units[LIMIT_WATTS], &units[LIMIT_PERCENT], percent_w);
	*ret_cookie = lowest->cookie;
	if (!lowest->cookie) /* it is pinned, and not limited */
		return INFINITY;
	return lowest == &units[LIMIT_PERCENT] ? percent_w : lowest->limit;
}

uint64_t lowest_claims_pin(const LowestClaims *l, const char *device)
{
	bool found;
	size_t place = find_place(l, SCOPE_DEVICE, device, &found);

	return found ? l->scopes[place].pin : 0;
}
