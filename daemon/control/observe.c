/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/observe.h"

#include <errno.h>
#include <math.h>

#include "control/cache-watch.h"
#include "control/correct.h"
#include "control/drift.h"
#include "control/enforce.h"
#include "control/gather.h"
#include "control/pace-use.h"
#include "control/pools.h"
#include "control/rest.h"
#include "control/served.h"
#include "control/trust.h"
#include "control/wake-test.h"
#include "control/waking.h"
#include "control/workload.h"

#define QUIET_LOOK_US (10 * USEC_PER_SEC)
#define PEEK_US       (200 * USEC_PER_MSEC)  /* at sleeping disks: has IO woken one? */
#define WATCHED_US    (10 * USEC_PER_SEC)    /* keep looking so long after someone asked */
#define DRIFT_US      (1500 * USEC_PER_MSEC) /* between rereads of knobs that others change */

void observe_note_asked(Control *c)
{
	c->attention.watched_until_us = clock_now_us(&c->loop->clock) + WATCHED_US;
}

void observe_hold_plan(Control *c, uint64_t until_us)
{
	c->attention.hold_plan_us = until_us;
}

bool observe_holds_plan(const Control *c)
{
	return c->tools.now_us < c->attention.hold_plan_us && errands_looks_out(&c->fleet);
}

static bool sleeps_unwatched(const Managed *md)
{
	return managed_asleep(md) && !md->waking.watched;
}

/* By its own counters: where eBPF does not count it, and where IO may wait that has not been done.
 */
static bool has_to_be_looked_at(const Managed *md, const Tools *t)
{
	return !meter_counts(t->meter, md->device) || sleeps_unwatched(md) || md->waking.by_io;
}

static bool may_be_woken(const Managed *md, const Tools *t)
{
	(void)t;
	return sleeps_unwatched(md) && !md->errands.busy;
}

static Need take_counters(Control *c, Managed *md, const DeviceCounters *counters)
{
	Need n = NOTHING_NEEDED;

	if (!workload_take_counters(md, counters, &c->tools))
		return n;
	if (workload_mb_s(&md->workload) > 0)
		n = waking_notice_served(md, &c->tools);
	workload_judge(md, gather_policy(c), &c->tools);
	served_judge(md, &c->tools);
	pace_use_judge(md, &c->tools);
	return need_more(n, trust_judge(md, &c->tools));
}

static Need judge_news(Control *c, Managed *md)
{
	rest_judge(md, gather_policy(c), &c->tools);
	/* to a pool it is worth a change, however little it is to the node */
	if (c->limits.claimed.active && pace_use_is_news(md, &c->fleet))
		return need(NEED_PLAN, CAUSE_SERVES_OTHERWISE);
	return enforce_is_news(c, md) ? need(NEED_BETTER_PLAN, CAUSE_DEMAND) : NOTHING_NEEDED;
}

Need observe_take_look(Control *c, Managed *md, int r, const DeviceCounters *counters, bool peeks)
{
	Need n;

	workload_take_waiting(md, r >= 0 ? counters->outstanding : 0, &c->tools);
	n = waking_watch_io(md, &c->tools);
	if (r < 0 || peeks || meter_counts(c->tools.meter, md->device))
		return n;
	n = need_more(n, take_counters(c, md, counters));
	return need_more(n, judge_news(c, md));
}

static void reread_drifting(Managed *md, Tools *t)
{
	if (md->errands.busy || t->now_us < md->errands.reread_us + DRIFT_US)
		return;
	for_each_knob(const HeldKnob, hk, &md->knobs) if (hk->touched && hk->knob->drifts)
	{
		(void)errands_send_reread(md, REREAD_DRIFTING, t);
		return;
	}
}

static Need look_at(Control *c, Managed *md)
{
	DeviceCounters counters;
	Need n = NOTHING_NEEDED;

	if (meter_counts(c->tools.meter, md->device) &&
	    meter_read(c->tools.meter, md->device, &counters) >= 0)
		n = take_counters(c, md, &counters);
	n = need_more(n, wake_test_apply(c, md));
	rest_watch_settling(md, &c->tools);
	waking_clear_suspicion(md, &c->tools);
	errands_send_cache(md, &c->tools);
	errands_send_reads(md, &c->tools);
	trust_learn_operating(md, c->limits.claimed.active, &c->tools);
	n = need_more(n, judge_news(c, md));
	errands_send_next(md, &c->tools);
	reread_drifting(md, &c->tools);
	return n;
}

/* What was learned, by the looks before, is planned with when those of now are back: they may ask
 * for a plan, too, and one is enough. */
static Need take_learned(Control *c)
{
	Need n = NOTHING_NEEDED;

	for_each_device(Managed, md, &c->fleet) n =
		need_more(n, served_take_need(md, c->tools.now_us));
	if (n.level)
		observe_hold_plan(c, c->tools.now_us + PEEK_US);
	return n;
}

static void keep_books(Control *c)
{
	const Plan *p = c->enforcement.plan;
	const TallyNode node = {
		.budget_w = c->limits.budget_w,
		.shortfall_w = p ? MAX(p->shortfall_w, p->limit_shortfall_w) : 0,
		.limits = &c->limits,
		.gauges = &c->gauges,
	};

	bookkeeping_look(&node, &c->tools);
}

Need observe_tick(Control *c, bool *ret_overrun)
{
	bool counts, exceeded = c->gauges.overrun;
	Need n = NOTHING_NEEDED;
	double drawn_w;

	pools_find(&c->fleet, &c->config);
	/* counters first: what is measured is held against what they say */
	errands_send_looks(&c->tools, has_to_be_looked_at, false);
	gauges_send(&c->gauges, &c->tools);
	gauges_measure_devices(&c->gauges, &c->tools);
	for_each_device(Managed, md, &c->fleet) n = need_more(n, look_at(c, md));
	n = need_more(n, take_learned(c));
	n = need_more(n, gauges_judge(&c->gauges, &c->limits, enforce_is_settling(c), &c->tools,
				      ret_overrun));
	c->attention.overrun_ended |= exceeded && !c->gauges.overrun;
	counts = gather_counts_expected(c);
	n = need_more(n, correct_judge(&c->gauges, counts ? c->limits.budget_w : INFINITY,
				       enforce_is_settling(c), &c->tools));
	drift_look(&c->gauges, enforce_is_settling(c), &c->tools);
	drawn_w = gauges_draw_w(&c->gauges, &c->fleet);
	n = need_more(n, overload_count(&c->gauges.overload, &c->limits, drawn_w,
					counts && c->gauges.overrun, &c->tools));
	c->attention.looked_us = c->tools.now_us;
	holding_note(&c->attention.holding, c->limits.budget_w, drawn_w, c->tools.now_us);
	keep_books(c);
	return n;
}

static bool any(const Control *c, bool (*is)(const Managed *md))
{
	for_each_device(const Managed, md, &c->fleet) if (is(md)) return true;
	return false;
}

void observe_peek(Control *c)
{
	if (!c->limits.enforcing || c->tools.now_us < c->attention.peeked_us + PEEK_US ||
	    !any(c, sleeps_unwatched))
		return;
	c->attention.peeked_us = c->tools.now_us;
	errands_send_looks(&c->tools, may_be_woken, true);
}

/* What could not be sent goes with a look; what waits for a device to be given back need not. */
static bool has_errand_left(const Managed *md)
{
	unsigned next = md->errands.next;

	return !md->errands.busy &&
	       (knob_set_touched(md) ? next & (ERRAND_REREAD | ERRAND_RESET) : next);
}

/* One that has to be asked, or to be seen serving, or that was not asked when it was to be. */
static bool needs_looks(const Managed *md)
{
	return waking_suspect(md) || (md->waking.by_io && waking_under_way(md)) ||
	       has_errand_left(md);
}

/* Idle means asleep: without a claim and without anyone asking there is nothing to see. */
static bool keeps_looking(const Control *c)
{
	return c->limits.claimed.active || c->tools.now_us < c->attention.watched_until_us ||
	       c->gauges.overrun || c->outbox.counted_out || cache_watch_any_draining(&c->fleet) ||
	       any(c, needs_looks);
}

/* While nothing is enforced and nobody asks, the ledger alone wants to know. */
static uint64_t look_us(const Control *c)
{
	if (keeps_looking(c))
		return LOOK_US;
	return c->tools.books ? QUIET_LOOK_US : USEC_NEVER;
}

bool observe_tick_is_due(const Control *c)
{
	return !c->attention.looked_us ||
	       c->tools.now_us - c->attention.looked_us >= look_us(c) - USEC_PER_MSEC;
}

uint64_t observe_due_us(const Control *c)
{
	uint64_t every_us = look_us(c);
	uint64_t due_us = every_us == USEC_NEVER ? USEC_NEVER : c->attention.looked_us + every_us;

	if (c->limits.enforcing && any(c, sleeps_unwatched))
		due_us = MIN(due_us, MAX(c->attention.peeked_us + PEEK_US, c->tools.now_us));
	if (observe_holds_plan(c))
		due_us = MIN(due_us, c->attention.hold_plan_us);
	return due_us;
}

uint64_t observe_fresh_us(const Control *c)
{
	return errands_looks_out(&c->fleet) ? 0 : c->attention.looked_us;
}
