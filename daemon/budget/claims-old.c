/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The old format of the claims, which is read once and saved in the new one:
 *
 *	storpower-claims 1
 *	# a comment
 *	next-cookie 18
 *	claim cookie=17 class=operator scope=node limit=80% source="..." reason="..." boot=ID
 *		created=US start=BOOT/WALL/LEFT expiry=BOOT/WALL/LEFT		(on one line)
 */

#include "budget/claims-file.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

typedef struct OldClaim {
	SavedClaim saved;
	char *limit, *start, *expiry;
} OldClaim;

static int read_moment(const char *text, Moment *ret)
{
	int end = 0;

	if (!text)
		return 0;
	if (sscanf(text, "%" SCNu64 "/%" SCNu64 "/%" SCNu64 "%n", &ret->boot_us, &ret->wall_us,
		   &ret->left_us, &end) < 3)
		return -EINVAL;
	return text[end] ? -EINVAL : 0;
}

static int take_claim(void *record, void *userdata)
{
	OldClaim *old = record;
	size_t number = strcspn(old->limit, "%W");
	char unit[] = { old->limit[number], '\0' };
	SavedClaim s = old->saved;
	int r = old->limit[number] && old->limit[number + 1] ? -EINVAL : 0;

	old->limit[number] = '\0';
	s.unit = unit;
	if (r >= 0)
		r = parse_double(old->limit, &s.limit);
	if (r >= 0)
		r = read_moment(old->start, &s.start);
	if (r >= 0)
		r = read_moment(old->expiry, &s.expiry);
	return r < 0 ? r : claims_take_saved(&s, userdata);
}

static const RecordKind claim_kind = {
	.name = "claim",
	.size = sizeof(OldClaim),
	.take = take_claim,
	.fields = {
		FIELD(OldClaim, saved.cookie, "cookie"),
		FIELD(OldClaim, saved.class, "class"),
		FIELD(OldClaim, saved.scope, "scope"),
		FIELD_OPTIONAL(OldClaim, saved.target, "target"),
		FIELD(OldClaim, limit, "limit"),
		FIELD(OldClaim, saved.source, "source"),
		FIELD(OldClaim, saved.reason, "reason"),
		FIELD(OldClaim, saved.boot, "boot"),
		FIELD(OldClaim, saved.created_us, "created"),
		FIELD_OPTIONAL(OldClaim, start, "start"),
		FIELD_OPTIONAL(OldClaim, expiry, "expiry"),
	},
};

const RecordsFormat claims_old_format = {
	.name = "claims",
	.kinds = (const RecordKind *const[]){ &claims_next_cookie_kind, &claim_kind, NULL },
	.loss = CLAIMS_LOSS,
	.unsealed = true,
};

bool claims_text_is_old(const char *text)
{
	static const char first[] = "storpower-claims 1\n";

	return strncmp(text, first, sizeof(first) - 1) == 0;
}
