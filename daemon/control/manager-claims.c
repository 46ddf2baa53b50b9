/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "control/manager-internal.h"

/* Whoever sets a limit is told what it has come to, if that does not take long. */
#define PATIENCE_US (200 * USEC_PER_MSEC)

double manager_rated_w(const Manager *m)
{
	double w = 0;

	for (size_t i = 0; i < m->n_devices; i++)
		w += m->devices[i]->device->profile->rated_w;
	return w;
}

static int claims_clock(const Manager *m, char boot_id[37], ClaimsClock *ret)
{
	int r = read_boot_id(boot_id);

	if (r < 0)
		return r;
	*ret = (ClaimsClock){ .boot_id = boot_id,
			      .boottime_us = manager_now_us(m),
			      .realtime_us = realtime_us() };
	return 0;
}

int manager_load_claims(Manager *m)
{
	_cleanup_free_ char *text = NULL;
	char boot_id[37];
	ClaimsClock clock;
	int r;

	if (!m->config.claims_path)
		return 0;
	r = read_file(m->config.claims_path, &text);
	if (r == -ENOENT)
		return 0;
	if (r >= 0)
		r = claims_clock(m, boot_id, &clock);
	if (r >= 0)
		r = claims_load(m->claims, m->config.claims_path, text, &clock);
	if (r == -EBADMSG)
		return manager_set_aside(m->config.claims_path,
					 "going on without its claims; set them anew");
	if (r < 0)
		return log_error_errno(r, "Standing claims in %s cannot be read",
				       m->config.claims_path);
	/* in terms of this boot: a second start must not take what is left from the wall clock */
	if (r == 0)
		manager_save_claims(m);
	return 0;
}

void manager_save_claims(const Manager *m)
{
	_cleanup_free_ char *text = NULL;
	char boot_id[37];
	ClaimsClock clock;
	int r;

	if (!m->config.claims_path)
		return;
	r = claims_clock(m, boot_id, &clock);
	if (r >= 0)
		r = claims_save(m->claims, &clock, &text);
	if (r >= 0)
		r = write_file_atomic(m->config.claims_path, text, 0644);
	if (r < 0)
		log_error_errno(
			r,
			"Standing claims cannot be saved in %s: they hold now, but not over "
			"a restart",
			m->config.claims_path);
}

static bool device_exists(const Manager *m, const char *name)
{
	for (size_t i = 0; i < m->n_devices; i++)
		if (streq(m->devices[i]->device->name, name))
			return true;
	return false;
}

static bool group_exists(const Manager *m, const char *name)
{
	for (size_t i = 0; i < m->n_devices; i++)
		if (streq(m->devices[i]->device->group, name))
			return true;
	return false;
}

static int check_target(const Manager *m, const Claim *c, char **ret_error)
{
	if (c->scope == SCOPE_NODE)
		return 0;
	if (c->target &&
	    (c->scope == SCOPE_DEVICE ? device_exists(m, c->target) : group_exists(m, c->target)))
		return 0;
	*ret_error = text_printf("there is no %s \"%s\": see storpowerctl list",
				 claim_scope_name(c->scope), c->target ?: "");
	return -ENODEV;
}

static void announce_claim(Manager *m, uint64_t cookie)
{
	const Claim *c = claims_find(m->claims, cookie);

	if (c && m->events.claim_added)
		m->events.claim_added(c, m->events.userdata);
}

static void announce_end(Manager *m, uint64_t cookie, const char *why)
{
	if (m->events.claim_ended)
		m->events.claim_ended(cookie, why, m->events.userdata);
}

int manager_add_claim(Manager *m, const Claim *claim, uint64_t *ret_cookie, char **ret_error)
{
	uint64_t cookie, began = manager_now_us(m);
	Claim c = *claim;
	int r = check_target(m, claim, ret_error);

	if (r < 0)
		return r;
	c.created_us = began;
	r = claims_add(m->claims, &c, &cookie);
	if (r < 0) {
		*ret_error =
			text_printf(r == -E2BIG ? "there are too many claims: release some"
						: "a limit is 0 W or more, or 0 %% to 100 %%, and "
						  "expires after it starts");
		return r;
	}
	m->event_us = began;
	/* after a quiet time, what is known of the workloads is old; an emergency does not wait */
	if (c.class != CLASS_EMERGENCY && began - m->looked_us > LOOK_US)
		manager_look(m);
	/* shed first; files, signals and slow knobs can wait */
	manager_react(m, "claim added");
	r = m->loop->drain(m->loop, c.class == CLASS_EMERGENCY ? USEC_PER_SEC : PATIENCE_US, false);
	if (r == -ETIMEDOUT && c.class == CLASS_EMERGENCY)
		log_warning("The emergency is not enforced in full after 1 s: some devices do not "
			    "answer, the others make room");
	manager_save_claims(
		m); /* owner-bound claims too: the cookie given out is saved with them */
	announce_claim(m, cookie);
	*ret_cookie = cookie;
	return 0;
}

int manager_release(Manager *m, uint64_t cookie, char **ret_error)
{
	int r = claims_release(m->claims, cookie);

	if (r < 0) {
		*ret_error = text_printf("there is no claim %llu: see storpowerctl list --claims",
					 (unsigned long long)cookie);
		return r;
	}
	m->event_us = manager_now_us(m);
	manager_react(m, "claim released");
	manager_save_claims(m);
	announce_end(m, cookie, "released");
	return 0;
}

/* Cookies of the claims that `ends` picks, so that their end can be announced. */
static size_t pick_cookies(const Manager *m, bool (*ends)(const Claim *c, const void *arg),
			   const void *arg, uint64_t **ret)
{
	uint64_t *cookies = NULL;
	size_t n = 0;
	const Claim *c;

	for (size_t i = 0; (c = claims_get(m->claims, i)); i++) {
		uint64_t *slot = ends(c, arg) ? ARRAY_GROW(cookies, n) : NULL;

		if (slot)
			*slot = c->cookie;
	}
	*ret = cookies;
	return n;
}

static bool owned_by(const Claim *c, const void *owner)
{
	return c->owner && streq(c->owner, owner);
}

static bool expired_at(const Claim *c, const void *now)
{
	return c->expiry_us <= *(const uint64_t *)now;
}

static void end_claims(Manager *m, const uint64_t *cookies, size_t n, const char *why)
{
	for (size_t i = 0; i < n; i++)
		log_info("Claim %llu ended: %s", (unsigned long long)cookies[i], why);
	manager_save_claims(m);
	for (size_t i = 0; i < n; i++)
		announce_end(m, cookies[i], why);
}

size_t manager_drop_owner(Manager *m, const char *owner)
{
	_cleanup_free_ uint64_t *cookies = NULL;
	size_t n = pick_cookies(m, owned_by, owner, &cookies);

	if (!claims_drop_owner(m->claims, owner))
		return 0;
	m->event_us = manager_now_us(m);
	manager_react(m, "a claim's owner left the bus");
	end_claims(m, cookies, n, "its owner left the bus");
	return n;
}

bool manager_expire_claims(Manager *m)
{
	_cleanup_free_ uint64_t *cookies = NULL;
	uint64_t now = manager_now_us(m);
	size_t n = pick_cookies(m, expired_at, &now, &cookies);

	if (!claims_expire(m->claims, now))
		return false;
	m->event_us = now;
	manager_react(m, "a claim expired");
	end_claims(m, cookies, n, "expired");
	return true;
}

const Claims *manager_claims(const Manager *m)
{
	return m->claims;
}
