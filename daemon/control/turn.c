/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/turn.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "control/advice.h"
#include "control/cache-watch.h"
#include "control/caps.h"
#include "control/consent.h"
#include "control/enforce.h"
#include "control/fleet.h"
#include "control/obedience.h"
#include "control/observe.h"
#include "control/outcome.h"
#include "control/rest.h"
#include "control/tell.h"
#include "control/trust.h"
#include "control/verify.h"
#include "control/waking.h"

/* What the handlers of the meter are given. */
typedef struct Hearing {
	Control *c;
	Need need;
} Hearing;

/* What the fallback plan allows is in force before the next look. It is made now: that takes 1 to 5
 * ms for 84 devices and 6 for 10 000 alike (bench-planner, "plan, fair"), of the 600 in which the
 * fast knobs have answered. One kept ready would be made for what was asked of them before. */
static Need take_alarm(Control *c, Managed *md, double spent_w)
{
	Need n;

	trust_note_spent(md, spent_w);
	n = overload_take_alarm(&c->gauges.overload, &c->limits,
				gauges_draw_w(&c->gauges, &c->fleet), &c->tools);
	if (n.level)
		enforce_note_event(c, c->tools.now_us);
	return n;
}

static void on_overrun(dev_t devnum, double joules, double seconds, void *userdata)
{
	Hearing *h = userdata;
	Managed *md = fleet_find_devnum(&h->c->fleet, devnum);

	if (!md || !h->c->limits.enforcing)
		return;
	h->need = need_more(h->need, trust_take_overrun(md, joules / seconds, &h->c->tools));
	if (h->c->enforcement.plan && h->c->enforcement.plan->at_once)
		h->need = need_more(h->need, take_alarm(h->c, md, joules / seconds));
}

static void on_woken(const MeterWake *w, void *userdata)
{
	Hearing *h = userdata;
	Managed *md = fleet_find_devnum(&h->c->fleet, w->devnum);
	bool ask;
	Need n;

	if (!md)
		return;
	n = waking_take_waker(md, w, &h->c->tools, &ask);
	if (ask)
		errands_ask(md, ERRAND_REREAD);
	if (n.level == NEED_TOLD_PLAN)
		n.cause = CAUSE_WAKE_SEEN;
	h->need = need_more(h->need, n);
}

static Need hear_meter(Control *c)
{
	Hearing h = { c, NOTHING_NEEDED };

	(void)meter_process(c->tools.meter, on_overrun, on_woken, &h);
	return h.need;
}

static Need take_added(Control *c, Device *d)
{
	if (fleet_find(&c->fleet, d) || !fleet_add(&c->fleet, d, &c->tools))
		return NOTHING_NEEDED;
	tell_device(c, d->name, true);
	return need(NEED_TOLD_PLAN, CAUSE_ADDED);
}

static Need take_removed(Control *c, Managed *md)
{
	_cleanup_(device_unrefp) Device *d = device_ref(md->device);
	_cleanup_free_ char *name = strdup(d->name);
	int r;

	fleet_remove(&c->fleet, md, &c->tools);
	r = d->departing ? inventory_departed(c->inventory, d) : 0;
	if (r < 0)
		log_warning_errno(r, "%s: what is there in its place was not looked at", d->name);
	if (name) {
		tell_device(c, name, false);
		verify_forget(c, name);
	}
	return need(NEED_TOLD_PLAN, CAUSE_REMOVED);
}

static Need take_reset(Control *c, Managed *md)
{
	if (!c->enforcement.event_us)
		enforce_note_event(c, c->tools.now_us);
	knob_set_expect_worst(md);
	errands_ask(md, ERRAND_RESET);
	return NOTHING_NEEDED; /* the reaction follows the reading */
}

static Need take_change(Control *c, const DeviceChange *e)
{
	Managed *md = fleet_find(&c->fleet, e->device);

	if (e->what != DEVICE_RESET && c->enforcement.plan)
		enforce_note_event(c, c->tools.now_us);
	if (e->what == DEVICE_ADDED)
		return take_added(c, e->device);
	if (!md)
		return NOTHING_NEEDED;
	if (e->what == DEVICE_REMOVED)
		return take_removed(c, md);
	if (e->what == DEVICE_RESET)
		return take_reset(c, md);
	if (e->what == DEVICE_CHANGED)
		return fleet_reconsider(md, &c->tools);
	if (e->what == DEVICE_DESCRIBED) {
		gauges_forget_corrections(&c->gauges, md);
		return fleet_redescribe(md, &c->tools);
	}
	errands_ask(md, ERRAND_REDIRECTS);
	return need(NEED_PLAN, CAUSE_MOVED);
}

/* Readings come every second; what they tell is announced when it matters. */
static bool is_visible(const Event *e)
{
	const Job *j = (const Job *)e;

	return e->kind != EVENT_JOB_DONE || j->kind == JOB_STEP || j->kind == JOB_PROBE ||
	       j->kind == JOB_REREAD || j->kind == JOB_WAKE_TEST;
}

static Need take_event(Control *c, Event *e)
{
	Need n;

	if (e->kind == EVENT_JOB_DONE)
		return outcome_take(c, (Job *)e);
	n = take_change(c, (DeviceChange *)e);
	device_change_free((DeviceChange *)e);
	return n;
}

/* It stayed so that what was set on it could be given back. */
static bool may_depart(const Managed *md)
{
	return md->device->departing && md->knobs.probed && !knob_set_touched(md) &&
	       !md->errands.busy && !md->errands.next;
}

/* What was waited for has come: the device may be planned for again, or no longer. */
static Need take_due(Control *c, Managed *md)
{
	uint64_t now_us = c->tools.now_us;
	bool due = trust_clear_due(md, now_us);

	if (may_depart(md) && queue_add_device(&c->queue, md->device, DEVICE_REMOVED) < 0)
		log_oom();
	due |= obedience_clear_due(md, now_us);
	due |= errands_clear_due(md, now_us);
	return need_more(waking_clear_due(md, &c->tools),
			 due ? need(NEED_PLAN, CAUSE_DUE) : NOTHING_NEEDED);
}

static Need take_all(Control *c, bool *ret_changed)
{
	Need n = need_more(queue_take_need(&c->queue), hear_meter(c));
	Need claims = limits_take_due(&c->limits, c->tools.now_us);
	Event *e;

	if (claims.level)
		enforce_note_event(c, c->tools.now_us);
	n = need_more(claims, n);
	while ((e = queue_take(&c->queue))) {
		*ret_changed |= is_visible(e);
		n = need_more(n, take_event(c, e));
	}
	if (overload_clear_due(&c->gauges.overload, c->tools.now_us))
		n = need_more(n, need(NEED_PLAN, CAUSE_DUE));
	for_each_device(Managed, md, &c->fleet)
	{
		n = need_more(n, take_due(c, md));
		errands_send_next(md, &c->tools);
	}
	return n;
}

/* While nothing is to be enforced, nothing is held back and what is held is written back. */
static Need release_held(Control *c)
{
	Need n = NOTHING_NEEDED;

	for_each_device(Managed, md, &c->fleet) n = need_more(n, cache_watch_drain(md, &c->tools));
	return n;
}

static void let_sleep_on(Control *c)
{
	for_each_device(Managed, md, &c->fleet) knob_set_let_sleep_on(md, &c->tools);
}

/* Before it is planned anew, so that what was withheld is no problem any more. */
static void end_conflicts(Control *c)
{
	for_each_device(Managed, md, &c->fleet) obedience_end_conflicts(md);
}

static bool is_worth_a_plan(const Control *c, Need n)
{
	if (n.level == NEED_BETTER_PLAN)
		return c->limits.claimed.active || cache_watch_any_draining(&c->fleet);
	return n.level > NEED_BETTER_PLAN;
}

static void plan(Control *c, Need n, Outcome *o)
{
	bool changes;
	Need more;
	int r;

	if (n.level > NEED_BETTER_PLAN) {
		limits_update(&c->limits, &c->tools);
		if (!c->limits.enforcing) {
			(void)release_held(c);
			end_conflicts(c);
		}
	}
	r = enforce_plan(c, n.level == NEED_BETTER_PLAN, &changes, &more);
	if (r < 0) {
		log_error_errno(r, "No plan could be made; the last one stays in force");
		return;
	}
	queue_add_need(&c->queue, more);
	if (n.level > NEED_BETTER_PLAN && !c->limits.enforcing)
		let_sleep_on(c);
	advice_update(c, n.level == NEED_BETTER_PLAN);
	o->planned = changes || n.level == NEED_TOLD_PLAN;
	o->cause = n.cause;
	o->changed = true;
}

static void update_caps(Control *c)
{
	for_each_device(Managed, md, &c->fleet)
	{
		caps_update(md, c->tools.now_us);
		trust_watch_pace(md, c->tools.meter);
	}
}

static Need tick(Control *c, Outcome *o)
{
	bool overrun;
	Need n = observe_tick(c, &overrun);

	advice_count(c);
	o->overrun |= overrun;
	return n;
}

static void turn_once(Control *c)
{
	Outcome o = { .overrun = c->attention.overrun };
	Need n;

	c->tools.now_us = clock_now_us(&c->loop->clock);
	n = take_all(c, &o.changed);
	limits_find_lowest(&c->limits, c->tools.now_us);
	if (!c->tools.stopping && c->attention.started && observe_tick_is_due(c))
		n = need_more(n, tick(c, &o));
	else if (!c->tools.stopping)
		observe_peek(c);
	o.overrun_ended = c->attention.overrun_ended;
	c->attention.overrun = c->attention.overrun_ended = false;
	update_caps(c);
	if (is_worth_a_plan(c, n) && !c->tools.stopping && c->attention.started &&
	    !observe_holds_plan(c))
		plan(c, n, &o);
	else if (n.level > NEED_STEPS && observe_holds_plan(c))
		queue_hold_need(&c->queue, n);
	else if (c->attention.started || c->tools.stopping)
		queue_add_need(&c->queue, enforce_steps(c));
	update_caps(c);
	consent_send(&c->tools);
	outbox_send(&c->outbox, c->loop, &c->queue);
	if (!observe_holds_plan(c))
		enforce_note_done(c);
	enforce_update_floor(c);
	tell_all(c, &o);
}

/* When the device must be looked after again. */
static uint64_t due_us_of(const Control *c, const Managed *md)
{
	uint64_t now_us = c->tools.now_us;
	uint64_t due_us = MIN(waking_due_us(md), md->trust.uncontrolled_until_us ?: USEC_NEVER);
	bool pending = false;

	for_each_knob(const HeldKnob, hk, &md->knobs)
	{
		if (obedience_of(md, hk)->retry_at_us)
			due_us = MIN(due_us, obedience_of(md, hk)->retry_at_us);
		pending |= hk->pending;
	}
	if (pending && !md->errands.busy && now_us < knob_set_thawed_us(md))
		due_us = MIN(due_us, knob_set_thawed_us(md));
	if (pending && rest_settled_us(md, now_us))
		due_us = MIN(due_us, rest_settled_us(md, now_us));
	if (md->errands.busy && !md->errands.overdue_told)
		due_us = MIN(due_us, md->errands.began_us + OVERDUE_US);
	return due_us;
}

static void arm(Control *c)
{
	uint64_t due_us = MIN(c->limits.due_us, observe_due_us(c));

	due_us = MIN(due_us, c->limits.save_due_us);
	due_us = MIN(due_us, c->gauges.overload.strict_until_us ?: USEC_NEVER);
	due_us = MIN(due_us, MIN(waiters_due_us(&c->waiters), verify_due_us(c)));
	for_each_device(const Managed, md, &c->fleet) due_us = MIN(due_us, due_us_of(c, md));
	c->loop->wake_at(c->loop, due_us);
}

void turn(Control *c)
{
	do
		turn_once(c);
	while (!queue_is_empty(&c->queue));
	if (!c->tools.stopping)
		arm(c);
}
