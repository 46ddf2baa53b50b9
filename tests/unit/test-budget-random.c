/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Random sequences against the plainest model that can be written: an array of all claims ever
 * made, searched from the beginning each time. */

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/log.h"
#include "budget/claim-lowest.h"

#define STEPS 50000

typedef struct World {
	Claims *claims;
	struct Known {
		Claim claim;
		bool ended;
	} * all; /* every claim ever made */
	size_t n, oldest_alive;
	uint64_t now_us, wall_us, seed;
} World;

static char *const owners[] = { NULL, NULL, (char *)":1.1", (char *)":1.2" };
static char *const targets[] = { (char *)"a", (char *)"b=\\ \"c\"" };

static uint64_t draw(World *w, uint64_t below)
{
	w->seed ^= w->seed << 13; /* xorshift64, Marsaglia 2003 */
	w->seed ^= w->seed >> 7;
	w->seed ^= w->seed << 17;
	return w->seed % below;
}

static void step_add(World *w)
{
	Claim c = { .class = (ClaimClass)draw(w, _CLASS_MAX),
		    .scope = (ClaimScope)draw(w, 3),
		    .unit = draw(w, 2) ? LIMIT_PERCENT : LIMIT_WATTS,
		    .source = (char *)"random",
		    .reason = targets[draw(w, 2)],
		    .owner = owners[draw(w, 4)],
		    .created_us = w->now_us,
		    .expiry_us = USEC_NEVER };
	uint64_t cookie = 0;

	/* few different values, so that there are ties: 10 % of 100 W is 10 W */
	c.limit = (double)(draw(w, 8) * 10);
	if (c.scope != SCOPE_NODE)
		c.target = targets[draw(w, 2)];
	if (draw(w, 3) == 0)
		c.start_us = w->now_us + draw(w, 50);
	if (draw(w, 2))
		c.expiry_us = MAX(c.start_us, w->now_us) + 1 + draw(w, 100);
	assert_int_equal(claims_add(w->claims, &c, &cookie), 0);
	assert_int_equal(cookie, w->n + 1); /* never used before, restarts or not */
	c.cookie = cookie;
	w->all[w->n++].claim = c;
}

static void step_release(World *w)
{
	/* about the oldest alive or the newest; cookies count the adds, so cookie 1 is all[0] */
	size_t i = (draw(w, 2) ? w->oldest_alive : w->n - MIN(w->n, (size_t)3)) + draw(w, 4);
	struct Known *known = i < w->n && !w->all[i].ended ? &w->all[i] : NULL;

	assert_int_equal(claims_release(w->claims, i + 1), known ? 0 : -ENOENT);
	if (known)
		known->ended = true;
}

static void step_owner_leaves(World *w)
{
	const char *owner = owners[2 + draw(w, 2)];
	size_t ended = 0;

	for (size_t i = w->oldest_alive; i < w->n; i++) {
		struct Known *k = &w->all[i];

		if (!k->ended && k->claim.owner && streq(k->claim.owner, owner)) {
			k->ended = true;
			ended++;
		}
	}
	assert_int_equal(claims_drop_owner(w->claims, owner), ended);
}

static size_t expire_known(World *w)
{
	size_t ended = 0;

	for (size_t i = w->oldest_alive; i < w->n; i++)
		if (!w->all[i].ended && w->all[i].claim.expiry_us <= w->now_us) {
			w->all[i].ended = true;
			ended++;
		}
	return ended;
}

static void step_time(World *w)
{
	w->now_us += draw(w, 20);
	w->wall_us = draw(w, 4) ? w->wall_us + 10 : draw(w, 100 * 365) * 86400 * USEC_PER_SEC;
	assert_int_equal(claims_expire(w->claims, w->now_us), expire_known(w));
}

/* The daemon restarts within the boot: standing claims come back as they were. */
static void step_restart(World *w)
{
	_cleanup_free_ char *text = NULL;
	ClaimsClock clock = { "boot", w->now_us, w->wall_us };

	assert_int_equal(claims_save(w->claims, &clock, &text), 0);
	clock.realtime_us = draw(w, 100 * 365) * 86400 * USEC_PER_SEC;
	claims_free(w->claims);
	w->claims = claims_new();
	assert_int_equal(claims_load(w->claims, "random", text, strlen(text), &clock), 0);
	expire_known(w);
	for (size_t i = w->oldest_alive; i < w->n; i++)
		if (w->all[i].claim.owner)
			w->all[i].ended = true;
}

static void check_same(const Claim *a, const Claim *b)
{
	assert_non_null(a);
	assert_int_equal(a->cookie, b->cookie);
	assert_int_equal(a->class, b->class);
	assert_int_equal(a->scope, b->scope);
	assert_int_equal(a->unit, b->unit);
	assert_true(a->limit == b->limit);
	assert_true(a->start_us == b->start_us && a->expiry_us == b->expiry_us);
	assert_true(a->created_us == b->created_us);
	assert_string_equal(a->reason, b->reason);
	assert_string_equal(a->target ?: "", b->target ?: "");
	assert_string_equal(a->owner ?: "", b->owner ?: "");
}

static bool better(const Claim *a, double a_w, const Claim *b, double b_w)
{
	if (!b || a_w != b_w)
		return !b || a_w < b_w;
	return a->class != b->class ? a->class > b->class : a->cookie < b->cookie;
}

static void check_effective(World *w, const LowestClaims *lowest, ClaimScope scope,
			    const char *target)
{
	uint64_t cookie;
	const double operating_w = 100;
	const Claim *best = NULL, *got;
	double best_w = INFINITY, got_w;

	for (size_t i = w->oldest_alive; i < w->n; i++) {
		const Claim *c = &w->all[i].claim;
		double share_w = c->limit == 100 ? LIMIT_MAX_W : c->limit / 100 * operating_w;
		double c_w = c->unit == LIMIT_WATTS ? c->limit : share_w;

		if (w->all[i].ended || c->scope != scope || w->now_us < c->start_us ||
		    w->now_us >= c->expiry_us || (target && !streq(c->target, target)))
			continue;
		if (better(c, c_w, best, best_w)) {
			best = c;
			best_w = c_w;
		}
	}
	got_w = claims_effective(w->claims, scope, target, operating_w, w->now_us, &got);
	assert_true(got_w == best_w);
	assert_int_equal(got ? got->cookie : 0, best ? best->cookie : 0);
	assert_true(lowest_claims_limit_w(lowest, scope, target, operating_w, &cookie) == best_w);
	assert_int_equal(cookie, best ? best->cookie : 0);
}

static void check_all(World *w)
{
	uint64_t next = USEC_NEVER;
	LowestClaims lowest;
	size_t alive = 0;

	while (w->oldest_alive < w->n && w->all[w->oldest_alive].ended)
		w->oldest_alive++;
	for (size_t i = w->oldest_alive; i < w->n; i++) {
		const Claim *c = &w->all[i].claim;

		if (w->all[i].ended)
			continue;
		check_same(claims_get(w->claims, alive++), c);
		if (c->start_us > w->now_us)
			next = MIN(next, c->start_us);
		next = MIN(next, c->expiry_us);
	}
	assert_null(claims_get(w->claims, alive));
	assert_true(claims_next_event(w->claims, w->now_us) == next);
	assert_int_equal(lowest_claims_find(w->claims, w->now_us, &lowest), 0);
	assert_true(lowest.until_us == next);
	check_effective(w, &lowest, SCOPE_NODE, NULL);
	check_effective(w, &lowest, SCOPE_GROUP, targets[draw(w, 2)]);
	check_effective(w, &lowest, SCOPE_DEVICE, targets[draw(w, 2)]);
	lowest_claims_done(&lowest);
}

static void fifty_thousand_random_steps_agree_with_the_naive_model(void **state)
{
	World w = { .claims = claims_new(),
		    .all = calloc(STEPS, sizeof(*w.all)),
		    .now_us = 1000,
		    .wall_us = 1000,
		    .seed = 88172645463325252ULL };

	(void)state;
	assert_non_null(w.all);
	for (unsigned i = 0; i < STEPS; i++) {
		uint64_t what = draw(&w, 100);

		if (what < 30)
			step_add(&w);
		else if (what < 62)
			step_release(&w);
		else if (what < 65)
			step_owner_leaves(&w);
		else if (what < 98)
			step_time(&w);
		else
			step_restart(&w);
		check_all(&w);
	}
	assert_true(w.n > STEPS / 4);
	free(w.all);
	claims_free(w.claims);
}

/* Random reboots of random leases with random clocks. */
static void no_reboot_ever_prolongs_a_lease(void **state)
{
	World w = { .seed = 88172645463325252ULL };

	(void)state;
	for (unsigned i = 0; i < 5000; i++) {
		_cleanup_(claims_freep) Claims *c = claims_new(), *back = claims_new();
		_cleanup_free_ char *text = NULL;
		ClaimsClock clock = { "before", draw(&w, 1000), draw(&w, 1000) };
		Claim lease = { .limit = 1, .expiry_us = 1 + clock.boottime_us + draw(&w, 1000) };
		uint64_t cookie, left_us = lease.expiry_us - clock.boottime_us;
		uint64_t due_us = clock.realtime_us + left_us;

		assert_int_equal(claims_add(c, &lease, &cookie), 0);
		assert_int_equal(claims_save(c, &clock, &text), 0);
		clock = (ClaimsClock){ "after", draw(&w, 1000), draw(&w, 3000) };
		assert_int_equal(claims_load(back, "random", text, strlen(text), &clock), 0);
		assert_int_equal(claims_get(back, 0) != NULL, clock.realtime_us < due_us);
		if (claims_get(back, 0))
			assert_true(claims_get(back, 0)->expiry_us - clock.boottime_us <=
				    MIN(left_us, due_us - clock.realtime_us));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fifty_thousand_random_steps_agree_with_the_naive_model),
		cmocka_unit_test(no_reboot_ever_prolongs_a_lease),
	};

	log_set_max_level(LOG_CRIT); /* leases that run out are many */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
