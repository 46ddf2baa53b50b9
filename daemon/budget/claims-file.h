/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The claims as records (base/records.h), a claim a line (here broken into four):
 *
 *	storpower-claims 2 #01234567
 *	next-cookie value=18 #01234567
 *	claim cookie=17 class="operator" scope="node" limit=80 unit="%"
 *		source="storpowerctl (root)" reason="..." boot="ID" created-us=7
 *		expiry-boot-us=100 expiry-wall-us=1763740800000000 expiry-left-us=40
 *		#01234567
 *	ended cookie=17 #01234567
 *
 * What changes is appended: a claim may be followed by what it was changed to or by its end, and
 * next-cookie by a higher one.
 */

#include "base/records.h"
#include "budget/claims-private.h"

/* A moment as it is saved: boot time, wall clock, and how far off it was when it was saved. All 0:
 * there is none. */
typedef struct Moment {
	uint64_t boot_us, wall_us, left_us;
} Moment;

typedef struct SavedClaim {
	uint64_t cookie, created_us;
	char *class, *scope, *target, *unit, *source, *reason, *boot;
	char *uid, *made_in; /* of who made it, his systemd unit; the first NULL: unknown */
	uint64_t pid;
	char *owner, *bus; /* both or neither */
	double limit, tolerance_s;
	Moment start, expiry;
} SavedClaim;

typedef struct ClaimsLoader {
	Claims *claims;
	const ClaimsClock *clock;
} ClaimsLoader;

/* Adds the claim. userdata is a ClaimsLoader. */
int claims_take_saved(void *saved_claim, void *userdata);

extern const RecordKind claims_next_cookie_kind;
#define CLAIMS_LOSS "leaving out what it held; if it was a claim, set it anew"

/* claims-old.c: files of the first version */
extern const RecordsFormat claims_old_format;
bool claims_text_is_old(const char *text);
