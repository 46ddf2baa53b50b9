/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Claims: every wish to limit power. Pure: no clock of its own, no files; `now_us` is boot time. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/text.h"

/* Least to most urgent; ties on the limit go to the most urgent. */
typedef enum ClaimClass {
	CLASS_SCHEDULE,
	CLASS_SIGNAL,
	CLASS_OPERATOR,
	CLASS_EMERGENCY,
	_CLASS_MAX,
} ClaimClass;

typedef enum ClaimScope { SCOPE_NODE, SCOPE_GROUP, SCOPE_DEVICE } ClaimScope;

#define CLAIM_TOLERANCE_MAX_S 60

/* The process that made a claim, as the kernel knows it, where it is known. */
typedef struct ClaimMaker {
	bool known;
	uint32_t uid; /* 0 where it is not known */
	uint32_t pid; /* 0: unknown, or of an earlier boot */
	char *unit;   /* of systemd; NULL: it was in none */
} ClaimMaker;

typedef struct Claim {
	uint64_t cookie; /* never 0, never used twice */
	ClaimClass class;
	ClaimScope scope;
	char *target; /* group or device name; NULL for SCOPE_NODE */
	double limit; /* W, or percent of what the scope draws at most in operation */
	LimitUnit unit;
	/* The limit may be exceeded for so long by as much again, for longer by less: the integral
	 * of draw over limit less one, in seconds. 0: never. NAN: as is usual for its class. */
	double tolerance_s;
	char *source; /* who asked: "storpowerctl (root)", "demand-response" */
	char *reason; /* why, as given; "" when not */
	ClaimMaker maker;
	char *owner; /* unique bus name; NULL: a standing claim */
	char *bus; /* the id of the bus on which that is its name; NULL: unknown, it is not saved */
	uint64_t created_us;
	uint64_t changed_us;      /* its limit, class or tolerance was changed last; 0: never */
	uint64_t start_us;        /* 0: at once */
	uint64_t expiry_us;       /* USEC_NEVER: until released */
	uint64_t owned_expiry_us; /* not 0: its owner is away, and this is its expiry with one */
	bool noted;               /* it limits something: since it was made, changed or loaded */
	bool replaces; /* when it was made, claim_replaces() decided who makes room for it */
	/* It limits nothing: it pins the NVMe power state of its device for a measurement, while no
	 * limit is active there. It has an owner, is of 100 % and is never saved. */
	bool pins;
	unsigned power_state; /* the one that it pins */
} Claim;

typedef struct Claims Claims;

Claims *claims_new(void);
Claims *claims_free(Claims *c);
DEFINE_CLEANUP(Claims *, claims_free);

/* Copies the claim and gives it a cookie. -EINVAL (NaN, negative, over 100 %, expiry not after
 * start, group/device without a target, a tolerance above CLAIM_TOLERANCE_MAX_S, a pin of anything
 * but a device), -E2BIG over 4096 claims. */
int claims_add(Claims *c, const Claim *claim, uint64_t *ret_cookie);
/* -ENOENT. */
int claims_release(Claims *c, uint64_t cookie);
/* What is to be changed of a claim. */
typedef struct ClaimChange {
	bool sets_limit; /* false: the next two stay */
	double limit;
	LimitUnit unit;
	int class;          /* -1: it stays */
	const char *reason; /* NULL: it stays */
	double tolerance_s; /* NAN: it stays */
	/* It ends so long from now, or from its start if that is yet to come; 0: its end stays,
	 * USEC_NEVER: it has none any more. */
	uint64_t for_us;
} ClaimChange;

/* What is not named stays, its cookie and its owner too. -ENOENT, also when its time is over;
 * -EINVAL as from claims_add(). After an error nothing has changed. */
int claims_change(Claims *c, uint64_t cookie, const ClaimChange *change, uint64_t now_us);
/* It limits something, or does no longer. */
void claims_set_noted(Claims *c, uint64_t cookie, bool noted);
/* Does it change what is limited, and not only why or until when? */
bool claim_change_limits(const ClaimChange *change);
/* Ends all owner-bound claims of a bus name, but those whose owner has been away. Returns how many
 * it ended. */
size_t claims_drop_owner(Claims *c, const char *owner);
/* Ends what has expired. Returns how many it ended. */
size_t claims_expire(Claims *c, uint64_t now_us);
/* May this user change it, and make another one instead? Its maker and root may. One whose maker
 * nobody knows is root's. */
bool claim_yields_to(const Claim *claim, uint32_t uid);
/* Is this one of those that the new claim was made instead of: of the same source, class, scope and
 * target, of a user to whom it yields, and both standing or both of one owner? False unless
 * new->replaces. */
bool claim_replaces(const Claim *new, const Claim *old);
/* One that the new claim would replace if it were of the same user; NULL: there is none. */
const Claim *claims_unyielding(const Claims *c, const Claim *new);
/* Ends all that the claim replaces. Returns how many it ended. */
size_t claims_replace(Claims *c, uint64_t cookie);
/* Its owner is away: it ends by its expiry, unless it is adopted or renewed before. */
static inline bool claim_orphaned(const Claim *claim)
{
	return claim->owned_expiry_us != 0;
}
/* Whether the owners of loaded claims are still there is not known yet: they end at until_us. */
void claims_orphan(Claims *c, uint64_t until_us);
/* The owner lives: its claims have the expiry again that they were made with. Returns how many. */
size_t claims_adopt(Claims *c, const char *bus, const char *owner);
/* The claim made before since_us that the new one renews: of the same source, class, scope and
 * target, of a user to whom it yields, and either orphaned, if possible with the same limit, or of
 * the same owner and with the same limit. 0: none. */
uint64_t claims_renewed_by(const Claims *c, uint64_t cookie, uint64_t since_us);
/* When the next claim starts or expires; USEC_NEVER for never. */
uint64_t claims_next_event(const Claims *c, uint64_t now_us);

/* Claims are in the order of their creation. The pointer is valid until the next change. */
const Claim *claims_get(const Claims *c, size_t index); /* NULL at the end */
const Claim *claims_find(const Claims *c, uint64_t cookie);
bool claim_active(const Claim *claim, uint64_t now_us);

/* A limit in watts, percent being of operating_w. 100 % holds nothing back, not even a device
 * that draws above all that is known of it: it is LIMIT_MAX_W, a limit under which idle disks rest.
 */
double limit_watts(double limit, LimitUnit unit, double operating_w);

/* The lowest active limit on a scope in watts, percent being of operating_w; INFINITY and
 * *ret_claim NULL where nothing limits it. Ties: the most urgent class, then the
 * oldest. */
double claims_effective(const Claims *c, ClaimScope scope, const char *target, double operating_w,
			uint64_t now_us, const Claim **ret_claim);

/* The claims are saved as text and read back, those with an owner as well, if its bus is known.
 * Boot time does not survive a reboot, so each lease is written with the boot's id, its boot-time
 * expiry and its wall-clock expiry. Within one boot only the boot time counts, so that clock jumps
 * do nothing. After a reboot the wall clock counts, but never prolongs a lease beyond what remained
 * of it when it was saved. Save after every claims_add(): the text holds the next cookie. */
typedef struct ClaimsClock {
	const char *boot_id;
	uint64_t boottime_us, realtime_us;
} ClaimsClock;
int claims_save(const Claims *c, const ClaimsClock *clock, char **ret_text);
/* What is to be appended to such a file when the claims of these cookies have come or ended. */
int claims_save_changes(const Claims *c, const uint64_t *cookies, size_t n,
			const ClaimsClock *clock, char **ret_text);
/* Adds to `c`, with their old cookies, the claims of n bytes of text, behind which a NUL stands. A
 * line that cannot be understood is logged with its number and left out (then more than 0 is
 * returned: keep the file as found), as is (at info) a lease that has run out. Later cookies are
 * above any ever saved. -EPROTONOSUPPORT when another version wrote the file: nothing is added. */
int claims_load(Claims *c, const char *path, const char *text, size_t n, const ClaimsClock *clock);

const char *claim_class_name(ClaimClass k); /* "schedule", "signal", "operator", "emergency" */
int claim_class_from_name(const char *name);
const char *claim_scope_name(ClaimScope s); /* "node", "group", "device" */
int claim_scope_from_name(const char *name);
