/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/limits.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "control/fleet.h"

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
	settling_done(&l->settling);
	claims_free(l->claims);
	free(l->news);
}

void limits_add_news(Limits *l, const ClaimNews *news)
{
	ClaimNews *n = ARRAY_GROW(l->news, l->n_news);

	if (n)
		*n = *news;
}

static void note(Limits *l, const ClaimNews *news)
{
	limits_add_news(l, news);
	l->lowest_is_old = true;
	claims_store_note(&l->store, news->cookie);
	l->save_due_us = 0; /* owner-bound ones too: the next cookie is saved with them */
}

void limits_note_end(Limits *l, const Claim *c, const char *why)
{
	if (c->noted)
		settling_note(&l->settling, c);
	note(l, &(ClaimNews){ .kind = CLAIM_ENDED, .cookie = c->cookie, .ended_why = why });
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

static int check_replaced(const Claims *claims, const Claim *new, char **ret_error)
{
	const Claim *old = claims_unyielding(claims, new);

	if (!old)
		return 0;
	*ret_error = text_printf("claim %llu of the same source and class was made by uid %u, and "
				 "only that user or root may replace it: without \"replace\", or "
				 "as another source, the new claim stands beside it",
				 (unsigned long long)old->cookie, old->maker.uid);
	return -EACCES;
}

int limits_add(Limits *l, const Claim *claim, const Tools *t, uint64_t *ret_cookie,
	       char **ret_error)
{
	Claim c = *claim;
	int r = check_target(t->fleet, claim, ret_error);

	if (r >= 0)
		r = check_replaced(l->claims, claim, ret_error);
	if (r >= 0 && claim->pins)
		r = limits_check_pin(l, claim, t, ret_error);
	if (r < 0)
		return r;
	c.created_us = t->now_us;
	if (isnan(c.tolerance_s))
		c.tolerance_s = limits_tolerance_s(t, c.class);
	r = claims_add(l->claims, &c, ret_cookie);
	if (r >= 0) {
		note(l, &(ClaimNews){ .kind = CLAIM_ADDED, .cookie = *ret_cookie });
		return 0;
	}
	*ret_error = text_printf(r == -E2BIG ? "there are too many claims: release some"
					     : "a limit is 0 W or more, or 0 %% to 100 %%, and "
					       "expires after it starts");
	return r;
}

static int refuse_unknown(uint64_t cookie, char **ret_error)
{
	*ret_error = text_printf("there is no claim %llu: see storpowerctl list --claims",
				 (unsigned long long)cookie);
	return -ENOENT;
}

int limits_change(Limits *l, uint64_t cookie, const ClaimChange *change, const Tools *t,
		  char **ret_error)
{
	int r = claims_change(l->claims, cookie, change, t->now_us);

	if (r == -ENOENT)
		return refuse_unknown(cookie, ret_error);
	if (r < 0) {
		*ret_error = text_printf("a limit is 0 W or more, or 0 %% to 100 %%, and one that "
					 "pins a power state is 100 %%");
		return r;
	}
	note(l, &(ClaimNews){ .kind = CLAIM_CHANGED, .cookie = cookie });
	l->due_us = claims_next_event(l->claims, t->now_us);
	return 0;
}

int limits_release(Limits *l, uint64_t cookie, char **ret_error)
{
	const Claim *claim = claims_find(l->claims, cookie);

	if (!claim)
		return refuse_unknown(cookie, ret_error);
	limits_note_end(l, claim, "released");
	return claims_release(l->claims, cookie);
}

ClaimNews *limits_take_news(Limits *l, size_t *ret_n)
{
	*ret_n = l->n_news;
	l->n_news = 0;
	return TAKE_PTR(l->news);
}

/* Those that limit something from now on. */
static void note_begun(Limits *l, uint64_t now_us)
{
	const Claim *c;

	for (size_t i = 0; !l->claimed.advised && (c = claims_get(l->claims, i)); i++)
		if (!c->noted && !c->pins && claim_active(c, now_us)) {
			settling_note(&l->settling, c);
			claims_set_noted(l->claims, c->cookie, true);
		}
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
	note_begun(l, now_us);
}

static bool any_active(const Limits *l, uint64_t now_us)
{
	const Claim *c;

	for (size_t i = 0; (c = claims_get(l->claims, i)); i++)
		if (claim_active(c, now_us) && !c->pins)
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
					 limits_operating_w(t->fleet, NULL), t->now_us, &c);
	now->cookie = c ? c->cookie : 0;
	l->enforcing = now->active && !now->advised;
	l->budget_w = now->advised ? INFINITY : now->budget_w;
	l->due_us = claims_next_event(l->claims, t->now_us);
	limits_say_why(l, t->diary);
}

/* None of them limits anything any longer; those that are held again begin anew. */
static void note_all_lifted(Limits *l)
{
	const Claim *c;

	for (size_t i = 0; (c = claims_get(l->claims, i)); i++)
		if (c->noted) {
			settling_note(&l->settling, c);
			claims_set_noted(l->claims, c->cookie, false);
		}
}

void limits_set_advised(Limits *l, bool advised)
{
	if (advised)
		note_all_lifted(l);
	l->claimed.advised = advised;
	l->lowest_is_old = true;
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

double limits_tolerance_s(const Tools *t, ClaimClass class)
{
	return t->config->limit.tolerance_s ? t->config->limit.tolerance_s[class] : 0;
}

double limits_rated_w(const Fleet *f)
{
	double w = 0;

	for_each_device(const Managed, md, f) w += md->device->profile->rated_w;
	return w;
}

double limits_operating_w(const Fleet *f, const char *group)
{
	double w = 0;

	for_each_device(const Managed, md, f) if (!group || streq(md->device->group, group)) w +=
		md->trust.operating_w;
	return w;
}

double limits_of_group_w(const Limits *l, const Fleet *f, const char *group)
{
	uint64_t by;

	if (l->claimed.advised)
		return INFINITY;
	return lowest_claims_limit_w(&l->lowest, SCOPE_GROUP, group, limits_operating_w(f, group),
				     &by);
}

double limits_of_device_w(const Limits *l, const Managed *md)
{
	uint64_t by;

	if (l->claimed.advised)
		return INFINITY;
	return lowest_claims_limit_w(&l->lowest, SCOPE_DEVICE, md->device->name,
				     md->trust.operating_w, &by);
}

static bool is_limited(const Limits *l, const Fleet *f, const Managed *md)
{
	const char *group = md->device->group;

	return isfinite(l->budget_w) || isfinite(limits_of_device_w(l, md)) ||
	       (*group && isfinite(limits_of_group_w(l, f, group)));
}

const Claim *limits_pin_of(const Limits *l, const Fleet *f, const Managed *md, bool *ret_waits)
{
	uint64_t cookie = lowest_claims_pin(&l->lowest, md->device->name);
	const Claim *c = cookie ? claims_find(l->claims, cookie) : NULL;

	*ret_waits = c && (l->claimed.advised || is_limited(l, f, md));
	return c;
}

static bool pin_holds(const Limits *l, const Fleet *f, const Claim *claim)
{
	const Managed *md = fleet_find_name(f, claim->target);
	bool waits;

	return md && limits_pin_of(l, f, md, &waits) == claim && !waits;
}

bool limits_claim_covers(const Claim *claim, const Managed *md)
{
	return claim->scope == SCOPE_NODE ||
	       streq(claim->target,
		     claim->scope == SCOPE_GROUP ? md->device->group : md->device->name);
}

double limits_claim_operating_w(const Fleet *f, const Claim *claim)
{
	const Managed *md;

	if (claim->scope != SCOPE_DEVICE)
		return limits_operating_w(f, claim->target);
	md = fleet_find_name(f, claim->target);
	return md ? md->trust.operating_w : 0;
}

bool limits_claim_in_force(const Limits *l, const Fleet *f, const Claim *claim)
{
	uint64_t by;

	if (claim->pins)
		return pin_holds(l, f, claim);
	lowest_claims_limit_w(&l->lowest, claim->scope, claim->target,
			      limits_claim_operating_w(f, claim), &by);
	return by == claim->cookie && !l->claimed.advised;
}
