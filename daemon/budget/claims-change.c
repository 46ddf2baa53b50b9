/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A claim that becomes another one while it is in force. */

#include "budget/claims-private.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"

bool claim_change_limits(const ClaimChange *change)
{
	return change->sets_limit || change->class >= 0 || !isnan(change->tolerance_s);
}

static uint64_t end_of(const Claim *claim, uint64_t for_us, uint64_t now_us)
{
	uint64_t from_us = MAX(claim->start_us, now_us) + 1;

	return for_us >= USEC_NEVER - from_us ? USEC_NEVER : from_us + for_us;
}

/* One whose owner is away ends no later than before: the new end is its owner's, if he comes back.
 */
static void set_end(Claim *claim, uint64_t end_us)
{
	if (!claim_orphaned(claim)) {
		claim->expiry_us = end_us;
		return;
	}
	claim->owned_expiry_us = end_us;
	claim->expiry_us = MIN(claim->expiry_us, end_us);
}

/* The result borrows the texts of both. */
static Claim changed(const Claim *claim, const ClaimChange *change, uint64_t now_us)
{
	Claim new = *claim;

	if (change->sets_limit) {
		new.limit = change->limit;
		new.unit = change->unit;
	}
	if (change->class >= 0)
		new.class = (ClaimClass)change->class;
	if (!isnan(change->tolerance_s))
		new.tolerance_s = change->tolerance_s;
	if (change->for_us)
		set_end(&new, end_of(claim, change->for_us, now_us));
	if (claim_change_limits(change)) {
		new.changed_us = now_us;
		new.noted = false;
	}
	return new;
}

int claims_change(Claims *c, uint64_t cookie, const ClaimChange *change, uint64_t now_us)
{
	Claim *claim = claims_find_own(c, cookie), new;
	char *reason = NULL;

	if (!claim || claim->expiry_us <= now_us)
		return -ENOENT;
	new = changed(claim, change, now_us);
	if (!claim_valid(&new))
		return -EINVAL;
	if (change->reason) {
		reason = strdup(change->reason);
		if (!reason)
			return -ENOMEM;
		free(claim->reason);
		new.reason = reason;
	}
	*claim = new;
	return 0;
}

void claims_set_noted(Claims *c, uint64_t cookie, bool noted)
{
	Claim *claim = claims_find_own(c, cookie);

	if (claim)
		claim->noted = noted;
}
