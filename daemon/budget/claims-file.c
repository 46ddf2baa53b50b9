/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "budget/claims-file.h"

#include <errno.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/printable.h"

static int take_claim(void *saved_claim, void *userdata);

static const RecordKind claim_kind = {
	.name = "claim",
	.size = sizeof(SavedClaim),
	.take = take_claim,
	.fields = {
		FIELD(SavedClaim, cookie, "cookie"),
		FIELD(SavedClaim, class, "class"),
		FIELD(SavedClaim, scope, "scope"),
		FIELD_OPTIONAL(SavedClaim, target, "target"),
		FIELD(SavedClaim, limit, "limit"),
		FIELD(SavedClaim, unit, "unit"),
		FIELD_OPTIONAL(SavedClaim, tolerance_s, "tolerance"),
		FIELD(SavedClaim, source, "source"),
		FIELD(SavedClaim, reason, "reason"),
		FIELD_OPTIONAL(SavedClaim, uid, "maker-uid"),
		FIELD_OPTIONAL(SavedClaim, pid, "maker-pid"),
		FIELD_OPTIONAL(SavedClaim, made_in, "maker-unit"),
		FIELD_OPTIONAL(SavedClaim, owner, "owner"),
		FIELD_OPTIONAL(SavedClaim, bus, "bus"),
		FIELD(SavedClaim, boot, "boot"),
		FIELD(SavedClaim, created_us, "created-us"),
		FIELD_OPTIONAL(SavedClaim, start.boot_us, "start-boot-us"),
		FIELD_OPTIONAL(SavedClaim, start.wall_us, "start-wall-us"),
		FIELD_OPTIONAL(SavedClaim, start.left_us, "start-left-us"),
		FIELD_OPTIONAL(SavedClaim, expiry.boot_us, "expiry-boot-us"),
		FIELD_OPTIONAL(SavedClaim, expiry.wall_us, "expiry-wall-us"),
		FIELD_OPTIONAL(SavedClaim, expiry.left_us, "expiry-left-us"),
	},
};

static int take_next_cookie(void *cookie, void *userdata)
{
	Claims *c = ((const ClaimsLoader *)userdata)->claims;
	uint64_t next = *(const uint64_t *)cookie;

	if (next >= COOKIE_MAX)
		return -ERANGE;
	c->next_cookie = MAX(c->next_cookie, next);
	return 0;
}

const RecordKind claims_next_cookie_kind = {
	.name = "next-cookie",
	.size = sizeof(uint64_t),
	.take = take_next_cookie,
	.fields = { { "value", FIELD_COUNT, 0 } },
};

/* It may have run out already, or never have been saved. */
static int take_ended(void *cookie, void *userdata)
{
	(void)claims_release(((const ClaimsLoader *)userdata)->claims, *(const uint64_t *)cookie);
	return 0;
}

static const RecordKind ended_kind = {
	.name = "ended",
	.size = sizeof(uint64_t),
	.take = take_ended,
	.fields = { { "cookie", FIELD_COUNT, 0 } },
};

static const RecordsFormat format = {
	.name = "claims",
	.kinds = (const RecordKind *const[]){ &claims_next_cookie_kind, &claim_kind, &ended_kind,
					      NULL },
	.loss = CLAIMS_LOSS,
};

static Moment moment_of(uint64_t boot_us, const ClaimsClock *clock)
{
	uint64_t left_us = boot_us > clock->boottime_us ? boot_us - clock->boottime_us : 0;
	uint64_t most_us = USEC_NEVER - clock->realtime_us;

	return (Moment){ boot_us, clock->realtime_us + MIN(left_us, most_us), left_us };
}

/* On a bus whose id is unknown an owner could not be found again. A pin is of a measurement that
 * does not go on over a restart of the daemon, which puts the power state back. */
static void save_claim(RecordsWriter *w, const Claim *c, const ClaimsClock *clock)
{
	char uid[16];
	uint64_t expiry_us = claim_orphaned(c) ? c->owned_expiry_us : c->expiry_us;
	SavedClaim s = {
		.cookie = c->cookie,
		.created_us = c->created_us,
		.class = (char *)claim_class_name(c->class),
		.scope = (char *)claim_scope_name(c->scope),
		.target = c->target,
		.limit = c->limit,
		.tolerance_s = c->tolerance_s,
		.unit = c->unit == LIMIT_PERCENT ? (char *)"%" : (char *)"W",
		.source = c->source,
		.reason = c->reason,
		.owner = c->owner,
		.bus = c->bus,
		.boot = (char *)clock->boot_id,
	};

	if (c->pins || (c->owner && !c->bus))
		return;
	if (c->maker.known) {
		snprintf(uid, sizeof(uid), "%u", (unsigned)c->maker.uid);
		s.uid = uid;
		s.pid = c->maker.pid;
		s.made_in = c->maker.unit;
	}
	if (c->start_us)
		s.start = moment_of(c->start_us, clock);
	if (expiry_us != USEC_NEVER)
		s.expiry = moment_of(expiry_us, clock);
	records_add(w, &claim_kind, &s);
}

int claims_save(const Claims *c, const ClaimsClock *clock, char **ret_text)
{
	RecordsWriter w;
	size_t n;
	int r = records_begin(&w, format.name);

	if (r < 0)
		return r;
	records_add(&w, &claims_next_cookie_kind, &c->next_cookie);
	for (size_t i = 0; i < c->n; i++)
		save_claim(&w, &c->claims[i], clock);
	return records_end(&w, ret_text, &n);
}

int claims_save_changes(const Claims *c, const uint64_t *cookies, size_t n,
			const ClaimsClock *clock, char **ret_text)
{
	RecordsWriter w;
	size_t length;
	int r = records_begin(&w, NULL);

	if (r < 0)
		return r;
	records_add(&w, &claims_next_cookie_kind, &c->next_cookie);
	for (size_t i = 0; i < n; i++) {
		const Claim *claim = claims_find(c, cookies[i]);

		if (!claim)
			records_add(&w, &ended_kind, &cookies[i]);
		else
			save_claim(&w, claim, clock);
	}
	return records_end(&w, ret_text, &length);
}

/* A moment of an earlier boot in this one's time. The wall clock counts what passed while the
 * machine was down, but a clock that was set back (or stands at 1970 for want of a battery) must
 * not put the moment further off than it was. */
static uint64_t after_reboot(const Moment *m, const ClaimsClock *clock)
{
	uint64_t wall_us = m->wall_us > clock->realtime_us ? m->wall_us - clock->realtime_us : 0;
	uint64_t left_us = MIN(wall_us, m->left_us);

	if (!left_us)
		return 0;
	return left_us > USEC_NEVER - clock->boottime_us ? USEC_NEVER
							 : clock->boottime_us + left_us;
}

static void set_times(Claim *c, const SavedClaim *s, const ClaimsClock *clock)
{
	bool same_boot = streq(s->boot, clock->boot_id);

	c->created_us = same_boot ? s->created_us : 0;
	c->start_us = same_boot ? s->start.boot_us : after_reboot(&s->start, clock);
	c->expiry_us = USEC_NEVER;
	if (s->expiry.boot_us)
		c->expiry_us = same_boot ? s->expiry.boot_us : after_reboot(&s->expiry, clock);
}

/* An older version took texts that are refused today. The claim matters more than its words. */
static void make_texts_printable(const SavedClaim *s)
{
	make_printable(s->source);
	make_printable(s->reason);
	if (s->target)
		make_printable(s->target);
	if (s->made_in)
		make_printable(s->made_in);
}

/* Another boot's processes are not this one's. */
static int restore_maker(const SavedClaim *s, bool same_boot, ClaimMaker *ret)
{
	unsigned long uid;

	if (!s->uid)
		return 0;
	if (parse_unsigned(s->uid, UINT32_MAX, &uid) < 0 || s->pid > UINT32_MAX)
		return -EINVAL;
	*ret = (ClaimMaker){ .known = true,
			     .uid = (uint32_t)uid,
			     .pid = same_boot ? (uint32_t)s->pid : 0,
			     .unit = s->made_in };
	return 0;
}

static int restore_claim(const SavedClaim *s, const ClaimsClock *clock, Claim *ret)
{
	int class = claim_class_from_name(s->class), scope = claim_scope_from_name(s->scope);

	if (class < 0 || scope < 0 || (!streq(s->unit, "%") && !streq(s->unit, "W")))
		return -EINVAL;
	if (!s->owner != !s->bus)
		return -EINVAL;
	if (!s->cookie || s->cookie >= COOKIE_MAX)
		return -ERANGE;
	make_texts_printable(s);
	*ret = (Claim){
		.class = (ClaimClass) class,
		.scope = (ClaimScope)scope,
		.target = s->target,
		.limit = s->limit,
		.tolerance_s = s->tolerance_s,
		.unit = *s->unit == '%' ? LIMIT_PERCENT : LIMIT_WATTS,
		.source = s->source,
		.reason = s->reason,
		.owner = s->owner,
		.bus = s->bus,
	};
	set_times(ret, s, clock);
	return restore_maker(s, streq(s->boot, clock->boot_id), &ret->maker);
}

int claims_take_saved(void *saved_claim, void *userdata)
{
	const ClaimsLoader *l = userdata;
	const SavedClaim *s = saved_claim;
	Claim claim;
	int r = restore_claim(s, l->clock, &claim);

	if (r < 0)
		return r;
	l->claims->next_cookie = MAX(l->claims->next_cookie, s->cookie + 1);
	if (claim.expiry_us > l->clock->boottime_us)
		return claims_insert(l->claims, &claim, s->cookie);
	log_info("claim %lu by %s has run out meanwhile", (unsigned long)s->cookie, s->source);
	return 0;
}

/* Of one that was changed what is said last counts, if it makes sense. */
static int take_claim(void *saved_claim, void *userdata)
{
	const ClaimsLoader *l = userdata;
	const SavedClaim *s = saved_claim;
	Claim claim;
	int r = claims_find(l->claims, s->cookie) ? restore_claim(s, l->clock, &claim) : -ENOENT;

	if (r >= 0 && claim_valid(&claim))
		(void)claims_release(l->claims, s->cookie);
	return claims_take_saved(saved_claim, userdata);
}

int claims_load(Claims *c, const char *path, const char *text, size_t n, const ClaimsClock *clock)
{
	ClaimsLoader loader = { c, clock };
	const RecordsFormat *version = claims_text_is_old(text) ? &claims_old_format : &format;

	return records_read(version, path, text, n, &loader);
}
