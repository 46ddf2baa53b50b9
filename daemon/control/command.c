/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What others ask control/ to do. */

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "control/advice.h"
#include "control/enforce.h"
#include "control/observe.h"
#include "control/turn.h"
#include "control/verify.h"
#include "control/wake-test.h"
#include "control/waking.h"

/* Whoever sets a limit is told what it has come to, if that does not take long. */
#define PATIENCE_US           (200 * USEC_PER_MSEC)
#define EMERGENCY_PATIENCE_US USEC_PER_SEC
/* A plan for a claim waits so long for a look, after a quiet time. */
#define LOOK_PATIENCE_US (100 * USEC_PER_MSEC)

static uint64_t now_us(const Control *c)
{
	return clock_now_us(&c->loop->clock);
}

/* A command's own change is made; what follows from it is a turn's. */
static void follow(Control *c, Cause cause)
{
	enforce_note_event(c, c->tools.now_us);
	queue_add_need(&c->queue, need(NEED_TOLD_PLAN, cause));
	turn(c);
}

/* After a quiet time, what is known of the workloads is old; an emergency does not wait. */
static void look_first(Control *c, bool emergency)
{
	bool overrun;

	observe_hold_plan(c, 0);
	if (emergency || c->tools.now_us - c->attention.looked_us <= LOOK_US)
		return;
	queue_add_need(&c->queue, observe_tick(c, &overrun));
	c->attention.overrun |= overrun;
	observe_hold_plan(c, c->tools.now_us + LOOK_PATIENCE_US);
}

static int add_waiter(Control *c, const ControlWait *wait, bool emergency)
{
	const Waiter waiter = {
		.kind = WAITS_ENFORCED,
		.warns = emergency,
		.until_us = c->tools.now_us + (emergency ? EMERGENCY_PATIENCE_US : PATIENCE_US),
		.wait = *wait,
	};

	return waiters_add(&c->waiters, &waiter);
}

int control_add_claim(Control *c, const Claim *claim, const ControlWait *wait, uint64_t *ret_cookie,
		      char **ret_error)
{
	bool emergency = claim->class == CLASS_EMERGENCY;
	uint64_t cookie;
	int r;

	c->tools.now_us = now_us(c);
	r = limits_add(&c->limits, claim, &c->tools, &cookie, ret_error);
	if (r < 0)
		return r;
	r = wait ? add_waiter(c, wait, emergency) : 0;
	if (r < 0) {
		(void)limits_release(&c->limits, cookie, ret_error);
		return r;
	}
	*ret_cookie = cookie;
	limits_end_predecessors(&c->limits, cookie, c->tools.now_us);
	look_first(c, emergency);
	follow(c, CAUSE_CLAIM_ADDED);
	waiters_begin(&c->waiters);
	c->loop->wake_at(c->loop, c->tools.now_us); /* it may be enforced already */
	return 0;
}

int control_change_claim(Control *c, uint64_t cookie, const ClaimChange *change,
			 const ControlWait *wait, char **ret_error)
{
	bool emergency;
	int r;

	c->tools.now_us = now_us(c);
	r = limits_change(&c->limits, cookie, change, &c->tools, ret_error);
	if (r < 0)
		return r;
	emergency = claims_find(c->limits.claims, cookie)->class == CLASS_EMERGENCY;
	/* it is changed whether or not somebody can wait for that */
	r = wait ? add_waiter(c, wait, emergency) : 0;
	if (claim_change_limits(change)) {
		look_first(c, emergency);
		follow(c, CAUSE_CLAIM_CHANGED);
	} else {
		turn(c);
	}
	waiters_begin(&c->waiters);
	c->loop->wake_at(c->loop, c->tools.now_us);
	return r;
}

int control_release(Control *c, uint64_t cookie, char **ret_error)
{
	int r = limits_release(&c->limits, cookie, ret_error);

	if (r < 0)
		return r;
	c->tools.now_us = now_us(c);
	follow(c, CAUSE_CLAIM_RELEASED);
	return 0;
}

size_t control_drop_owner(Control *c, const char *owner)
{
	size_t n = limits_drop_owner(&c->limits, owner);

	if (n == 0)
		return 0;
	c->tools.now_us = now_us(c);
	follow(c, CAUSE_OWNER_LEFT);
	return n;
}

size_t control_adopt(Control *c, const char *bus, const char *owner)
{
	return limits_adopt(&c->limits, bus, owner, now_us(c));
}

const Claims *control_claims(const Control *c)
{
	return c->limits.claims;
}

void control_note_asked(Control *c)
{
	uint64_t now = now_us(c);
	bool was_asked = now < c->attention.watched_until_us;

	observe_note_asked(c);
	/* the answer is of the last turn; the next one is due at once when that was long ago */
	if (!was_asked)
		c->loop->wake_at(c->loop, now);
}

int control_refresh(Control *c, const ControlWait *wait)
{
	uint64_t now = now_us(c);
	Waiter waiter = { .kind = WAITS_FRESH,
			  .wait = *wait,
			  .since_us = now > LOOK_US ? now - LOOK_US : 0,
			  .until_us = now + PATIENCE_US };
	int r = waiters_add(&c->waiters, &waiter);

	if (r < 0)
		return r;
	waiters_begin(&c->waiters);
	control_note_asked(c);
	c->loop->wake_at(c->loop, now);
	return 0;
}

int control_set_policy(Control *c, const char *name, const char *by, char **ret_error)
{
	int r = policies_choose(&c->policies, &c->config.policy, name, by);

	if (r < 0) {
		*ret_error = text_printf("policy \"%s\" cannot be used: %s", name, strerror(-r));
		return r;
	}
	log_about(LOG_NOTICE, 0, &(LogAbout){ .id = MESSAGE_POLICY_CHANGED, .policy = name },
		  "Policy %s, chosen by %s", name, by);
	queue_add_need(&c->queue, need(NEED_TOLD_PLAN, CAUSE_POLICY));
	turn(c);
	return 0;
}

void control_set_mode(Control *c, bool advises)
{
	if (c->limits.claimed.advised == advises)
		return;
	c->tools.now_us = now_us(c);
	limits_set_advised(&c->limits, advises);
	advice_begin(c);
	follow(c, CAUSE_MODE);
}

void control_feed_tariff(Control *c, const FedTariff *fed)
{
	const Rate rate = { fed->price_kwh, fed->g_kwh, fed->marginal };
	uint64_t until_us = bookkeeping_wall_us(&c->config) + (uint64_t)(fed->for_s * 1e6);

	if (c->tools.books)
		tariff_feed(&c->tools.books->tally.tariff, &rate,
			    (int64_t)(until_us / USEC_PER_SEC));
}

void control_count_requests(Control *c, uint64_t n)
{
	if (c->tools.books)
		tally_note_requests(&c->tools.books->tally, n);
}

/* The mode that was chosen meanwhile stays, unless the file was changed. */
static void take_mode(Control *c, bool was_advised)
{
	if (c->config.advises == was_advised || c->limits.claimed.advised == c->config.advises)
		return;
	limits_set_advised(&c->limits, c->config.advises);
	advice_begin(c);
}

int control_reread(Control *c, const ControlConfig *now, char **ret_error)
{
	bool was_advised = c->config.advises;
	Gauges gauges;
	int r = gauges_renew(&c->gauges, now, &gauges);

	if (r < 0)
		return r;
	r = policies_reread(&c->policies, &now->policy);
	if (r < 0) {
		gauges_drop(&c->gauges, &gauges);
		*ret_error = text_printf("policy \"%s\" cannot be used: %s", now->policy.name,
					 strerror(-r));
		return r;
	}
	gauges_swap(&c->gauges, &gauges);
	c->config = *now;
	c->tools.now_us = now_us(c);
	take_mode(c, was_advised);
	follow(c, CAUSE_RELOAD);
	return 0;
}

const char *control_policy(const Control *c)
{
	return c->policies.chosen->name;
}

void control_policy_origin(const Control *c, PolicyOrigin *ret)
{
	const Policies *p = &c->policies;

	*ret = (PolicyOrigin){ .configured = c->config.policy.name,
			       .chosen_by = p->choice.by ?: "",
			       .chosen_us = p->choice.realtime_us,
			       .unsaved = p->unsaved
						  ? strerrordesc_np(p->unsaved) ?: "unknown error"
						  : "" };
}

int control_verify(Control *c, VerifyDone done, void *userdata)
{
	int r;

	c->tools.now_us = now_us(c);
	r = verify_begin(c, done, userdata);
	if (r < 0)
		return r;
	c->loop->wake_at(c->loop, c->tools.now_us); /* never answered by this call */
	return 0;
}

int control_wake_device(Control *c, const char *name, char **ret_error)
{
	Need n = NOTHING_NEEDED;
	bool known = !*name;

	c->tools.now_us = now_us(c);
	for_each_device(Managed, md, &c->fleet) if (!*name || streq(md->device->name, name))
	{
		n = need_more(n, waking_want(md, WAKE_ASKED));
		known = true;
	}
	if (!known) {
		*ret_error = text_printf("there is no device \"%s\": see storpowerctl list", name);
		return -ENODEV;
	}
	if (n.level)
		queue_add_need(&c->queue, need(NEED_TOLD_PLAN, CAUSE_WAKE_ASKED));
	turn(c);
	return 0;
}

int control_wake_test(Control *c, const char *name, WakeTestDone done, void *userdata,
		      char **ret_error)
{
	int r;

	c->tools.now_us = now_us(c);
	r = wake_test_begin(c, name, done, userdata, ret_error);
	if (r < 0)
		return r;
	queue_add_need(&c->queue, need(NEED_TOLD_PLAN, CAUSE_TEST_BEGINS));
	turn(c);
	return 0;
}
