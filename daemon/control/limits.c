/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/limits.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/set-aside.h"
#include "control/fleet.h"

/* So long after a start of the daemon a claim from before it may be renewed, and is kept for that
 * while its owner is away. */
#define GRACE_US (30 * USEC_PER_SEC)
/* What cannot be saved is tried again: at first soon, then after as long as it has failed for. */
#define SAVE_RETRY_FIRST_US   USEC_PER_SEC
#define SAVE_RETRY_LONGEST_US (60 * USEC_PER_SEC)

int limits_init(Limits *l)
{
	*l = (Limits){ .claimed.budget_w = INFINITY,
		       .budget_w = INFINITY,
		       .due_us = USEC_NEVER,
		       .save_due_us = USEC_NEVER,
		       .claims = claims_new() };
	return l->claims ? 0 : -ENOMEM;
}

void limits_done(Limits *l)
{
	lowest_claims_done(&l->lowest);
	claims_store_done(&l->store);
	claims_free(l->claims);
	free(l->news);
}

static int claims_clock(const Tools *t, char boot_id[37], ClaimsClock *ret)
{
	int r = read_boot_id(boot_id);

	if (r < 0)
		return r;
	*ret = (ClaimsClock){ .boot_id = boot_id,
			      .boottime_us = t->now_us,
			      .realtime_us = realtime_us() };
	return 0;
}

int limits_load(Limits *l, const Tools *t)
{
	const char *path = t->config->claims_path;
	_cleanup_free_ char *text = NULL;
	char boot_id[37];
	ClaimsClock clock;
	size_t n = 0;
	int r = path ? read_bytes(path, &text, &n) : -ENOENT;

	if (r == -ENOENT)
		return 0;
	if (r >= 0)
		r = claims_clock(t, boot_id, &clock);
	if (r >= 0)
		r = claims_load(l->claims, path, text, n, &clock);
	if (r == -EPROTONOSUPPORT)
		return set_aside(path, "going on without its claims; set them anew");
	if (r < 0)
		return log_error_errno(r, "Standing claims in %s cannot be read", path);
	l->started_us = t->now_us;
	claims_orphan(l->claims, t->now_us + GRACE_US);
	l->lowest_is_old = true;
	l->damaged = r > 0;
	/* in terms of this boot: a second start must not take what is left from the wall clock */
	l->save_due_us = t->now_us;
	return 0;
}

/* Before the first save: what was found may be the only copy of a claim. */
static int keep_damaged(Limits *l, const char *path)
{
	_cleanup_free_ char *text = NULL;
	size_t n;
	int r = l->damaged ? read_bytes(path, &text, &n) : -ENOENT;

	if (r >= 0)
		r = set_aside_copy(path, text, n);
	if (r < 0 && r != -ENOENT)
		return r;
	l->damaged = false;
	return 0;
}

static int save(Limits *l, const Tools *t)
{
	const char *path = t->config->claims_path;
	char boot_id[37];
	ClaimsClock clock;
	int r = path ? keep_damaged(l, path) : 0;

	if (r < 0 || !path)
		return r;
	r = claims_clock(t, boot_id, &clock);
	if (r >= 0)
		r = claims_store_save(&l->store, l->claims, path, &clock);
	return r;
}

/* The first try may be long over: the next one waits as long again as it has failed for. */
static uint64_t next_try_us(const Limits *l, uint64_t now_us)
{
	uint64_t failing_us = now_us - l->unsaved.since_us;

	return now_us + MIN(MAX(failing_us, SAVE_RETRY_FIRST_US), SAVE_RETRY_LONGEST_US);
}

static void note_unsaved(Limits *l, int r, const Tools *t)
{
	if (!l->unsaved.error) {
		l->unsaved.since_us = t->now_us;
		log_error_errno(r,
				"Standing claims cannot be saved in %s: they hold now, but not "
				"over a restart; saving is tried again until it succeeds",
				t->config->claims_path);
	}
	l->unsaved.error = -r;
	l->save_due_us = next_try_us(l, t->now_us);
}

bool limits_save(Limits *l, const Tools *t)
{
	int before = l->unsaved.error, r;

	if (t->now_us < l->save_due_us)
		return false;
	r = save(l, t);
	l->save_due_us = USEC_NEVER;
	l->unsaved.error = r < 0 ? l->unsaved.error : 0;
	if (r < 0)
		note_unsaved(l, r, t);
	else if (before)
		log_notice("Standing claims are saved in %s again", t->config->claims_path);
	return l->unsaved.error != before;
}

const char *limits_why_unsaved(const Limits *l)
{
	return l->unsaved.error ? strerrordesc_np(l->unsaved.error) ?: "unknown error" : "";
}

static void note(Limits *l, uint64_t cookie, const char *ended_why)
{
	ClaimNews *n = ARRAY_GROW(l->news, l->n_news);

	if (n)
		*n = (ClaimNews){ cookie, ended_why };
	l->lowest_is_old = true;
	claims_store_note(&l->store, cookie);
	l->save_due_us = 0; /* owner-bound ones too: the next cookie is saved with them */
}

static bool target_exists(const Fleet *f, const Claim *c)
{
	for_each_device(
		const Managed, md,
		f) if (streq(c->scope == SCOPE_DEVICE ? md->device->name : md->device->group,
			     c->target)) return true;
	return false;
}

static int check_target(const Fleet *f, const Claim *c, char **ret_error)
{
	if (c->scope == SCOPE_NODE || (c->target && target_exists(f, c)))
		return 0;
	*ret_error = text_printf("there is no %s \"%s\": see storpowerctl list",
				 claim_scope_name(c->scope), c->target ?: "");
	return -ENODEV;
}

int limits_add(Limits *l, const Claim *claim, const Tools *t, uint64_t *ret_cookie,
	       char **ret_error)
{
	Claim c = *claim;
	int r = check_target(t->fleet, claim, ret_error);

	if (r < 0)
		return r;
	c.created_us = t->now_us;
	if (isnan(c.tolerance_s))
		c.tolerance_s = limits_tolerance_s(t, c.class);
	r = claims_add(l->claims, &c, ret_cookie);
	if (r >= 0) {
		note(l, *ret_cookie, NULL);
		return 0;
	}
	*ret_error = text_printf(r == -E2BIG ? "there are too many claims: release some"
					     : "a limit is 0 W or more, or 0 %% to 100 %%, and "
					       "expires after it starts");
	return r;
}

int limits_release(Limits *l, uint64_t cookie, char **ret_error)
{
	int r = claims_release(l->claims, cookie);

	if (r < 0)
		*ret_error = text_printf("there is no claim %llu: see storpowerctl list --claims",
					 (unsigned long long)cookie);
	else
		note(l, cookie, "released");
	return r;
}

/* Notes the end of each claim that `ends` picks, before it is dropped. */
static void note_ends(Limits *l, bool (*ends)(const Claim *c, const void *arg), const void *arg,
		      const char *why)
{
	const Claim *c;

	for (size_t i = 0; (c = claims_get(l->claims, i)); i++)
		if (ends(c, arg)) {
			log_info("Claim %llu ended: %s", (unsigned long long)c->cookie, why);
			note(l, c->cookie, why);
		}
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

static bool replaced_by(const Claim *c, const void *new)
{
	return claim_replaces(new, c);
}

void limits_end_predecessors(Limits *l, uint64_t cookie, uint64_t now_us)
{
	uint64_t since_us = now_us < l->started_us + GRACE_US ? l->started_us : 0;
	uint64_t renewed = claims_renewed_by(l->claims, cookie, since_us);

	if (renewed) {
		note_ends(l, has_cookie, &renewed, "renewed by a new claim");
		(void)claims_release(l->claims, renewed);
	}
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

ClaimNews *limits_take_news(Limits *l, size_t *ret_n)
{
	*ret_n = l->n_news;
	l->n_news = 0;
	return TAKE_PTR(l->news);
}

void limits_find_lowest(Limits *l, uint64_t now_us)
{
	LowestClaims lowest;

	if (!l->lowest_is_old && now_us < l->lowest.until_us)
		return;
	if (lowest_claims_find(l->claims, now_us, &lowest) < 0) {
		log_oom();
		return; /* what was found last stays in force until the next turn tries again */
	}
	lowest_claims_done(&l->lowest);
	l->lowest = lowest;
	l->lowest_is_old = false;
}

static bool any_active(const Limits *l, uint64_t now_us)
{
	const Claim *c;

	for (size_t i = 0; (c = claims_get(l->claims, i)); i++)
		if (claim_active(c, now_us))
			return true;
	return false;
}

void limits_say_why(const Limits *l, Diary *d)
{
	const Claim *c = limits_effective(l);
	char watts[32];

	if (l->claimed.active && !l->enforcing)
		diary_because(d, "limits are advised, not held");
	else if (!c)
		diary_because(d, "%s",
			      l->enforcing ? "a claim on a device or group" : "no claim is active");
	else
		diary_because(d, "%s by claim %llu of %s%s%.80s",
			      format_watts(watts, sizeof(watts), l->budget_w),
			      (unsigned long long)c->cookie, claim_class_name(c->class),
			      *c->reason ? ": " : "", c->reason);
}

void limits_update(Limits *l, Tools *t)
{
	Claimed *now = &l->claimed;
	const Claim *c;

	now->active = any_active(l, t->now_us);
	now->budget_w = claims_effective(l->claims, SCOPE_NODE, NULL,
					 limits_rated_w(t->fleet, NULL), t->now_us, &c);
	now->cookie = c ? c->cookie : 0;
	l->enforcing = now->active && !now->advised;
	l->budget_w = now->advised ? INFINITY : now->budget_w;
	l->due_us = claims_next_event(l->claims, t->now_us);
	limits_say_why(l, t->diary);
}

void limits_set_advised(Limits *l, bool advised)
{
	l->claimed.advised = advised;
}

Limits limits_as_if_held(const Limits *l)
{
	Limits held = *l;

	held.claimed.advised = false;
	held.enforcing = l->claimed.active;
	held.budget_w = l->claimed.budget_w;
	return held;
}

void limits_lift(Limits *l)
{
	l->claimed.budget_w = INFINITY;
	l->claimed.cookie = 0;
	l->claimed.active = false;
	l->budget_w = INFINITY;
	l->enforcing = false;
	l->due_us = USEC_NEVER;
	if (l->unsaved.error)
		l->save_due_us = 0; /* the last chance */
}

const Claim *limits_effective(const Limits *l)
{
	return l->claimed.cookie ? claims_find(l->claims, l->claimed.cookie) : NULL;
}

double limits_at_once(const Tolerated *t, double tolerance_s)
{
	return sqrt(1 + MAX(tolerance_s - t->spent_s, 0.0) / t->react_s);
}

double limits_tolerance_s(const Tools *t, ClaimClass class)
{
	return t->config->limit.tolerance_s ? t->config->limit.tolerance_s[class] : 0;
}

double limits_at_once_w(const Limits *l, const Fleet *f, const Tolerated *t, uint64_t now_us)
{
	double least_w = INFINITY, rated_w = limits_rated_w(f, NULL);
	const Claim *c;

	for (size_t i = 0; (c = claims_get(l->claims, i)); i++) {
		double limit_w = c->unit == LIMIT_PERCENT ? c->limit / 100 * rated_w : c->limit;

		if (c->scope == SCOPE_NODE && claim_active(c, now_us))
			least_w = MIN(least_w, limit_w * limits_at_once(t, c->tolerance_s));
	}
	return least_w;
}

double limits_rated_w(const Fleet *f, const char *group)
{
	double w = 0;

	for_each_device(const Managed, md, f) if (!group || streq(md->device->group, group)) w +=
		md->device->profile->rated_w;
	return w;
}

double limits_of_group_w(const Limits *l, const Fleet *f, const char *group)
{
	uint64_t by;

	if (l->claimed.advised)
		return INFINITY;
	return lowest_claims_limit_w(&l->lowest, SCOPE_GROUP, group, limits_rated_w(f, group), &by);
}

double limits_of_device_w(const Limits *l, const Managed *md)
{
	uint64_t by;

	if (l->claimed.advised)
		return INFINITY;
	return lowest_claims_limit_w(&l->lowest, SCOPE_DEVICE, md->device->name,
				     md->device->profile->rated_w, &by);
}

double limits_claim_rated_w(const Fleet *f, const Claim *claim)
{
	const Managed *md;

	if (claim->scope != SCOPE_DEVICE)
		return limits_rated_w(f, claim->target);
	md = fleet_find_name(f, claim->target);
	return md ? md->device->profile->rated_w : 0;
}

bool limits_claim_in_force(const Limits *l, const Fleet *f, const Claim *claim)
{
	uint64_t by;

	lowest_claims_limit_w(&l->lowest, claim->scope, claim->target,
			      limits_claim_rated_w(f, claim), &by);
	return by == claim->cookie && !l->claimed.advised;
}
