/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/waking.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "control/knob-set.h"
#include "control/wear-account.h"
#include "device/wake-record.h"

#define STUCK_FACTOR 3 /* times its recovery without serving the IO that waits */
#define STUCK_US     (10 * USEC_PER_SEC)
#define WAKE_TRIES   2 /* before a disk is believed not to wake */

static const char *const reasons[_WAKE_REASON_MAX] = {
	[WAKE_UNSAID] = "",
	[WAKE_BY_IO] = "IO",
	[WAKE_WITH_POOL] = "its pool wakes",
	[WAKE_TO_DRAIN] = "its cache is drained",
	[WAKE_TO_GIVE_BACK] = "what keeps IO off it is given back",
	[WAKE_WAS_DEEPER] = "it was deeper asleep than was known",
	[WAKE_ONCE_MORE] = "it did not wake at first",
	[WAKE_ASKED] = "asked for",
	[WAKE_NO_LONGER_KEPT] = "no longer kept asleep",
};

const char *wake_reason_text(WakeReason r)
{
	return reasons[r];
}

static const ConditionPower *sleeping_condition(const Managed *md)
{
	return &md->device->profile->conditions[md->knobs.actual.condition];
}

/* By then it is awake, or will not wake. */
static uint64_t patience_ends_us(const Managed *md)
{
	double recovery_s = md->device->profile->conditions[CONDITION_STANDBY_Z].recovery_s;

	return md->waking.woke_us + STUCK_US + STUCK_FACTOR * (uint64_t)(recovery_s * USEC_PER_SEC);
}

uint64_t waking_due_us(const Managed *md)
{
	return waking_under_way(md) ? md->waking.deadline_us : USEC_NEVER;
}

static void settle(Managed *md)
{
	md->waking.state = WAKING_SETTLED;
	md->waking.deadline_us = 0;
}

/* Has its IO been looked at since it began to wake? What was seen long ago accuses nobody. */
static bool is_seen(const Managed *md, const Tools *t)
{
	const Workload *w = &md->workload;

	return w->waiting_us >= md->waking.woke_us && t->now_us < w->waiting_us + 2 * LOOK_US;
}

/* A profile's time is a guess about the disk at hand: the next one begins when this one is up. */
static bool stays_unconfirmed(Managed *md, const Tools *t)
{
	Waking *w = &md->waking;

	if (w->state != WAKING_SPINNING_UP || w->answered)
		return false;
	w->state = WAKING_UNCONFIRMED;
	w->deadline_us = MAX(w->deadline_us, patience_ends_us(md));
	return t->now_us < w->deadline_us;
}

Need waking_clear_due(Managed *md, Tools *t)
{
	Need n;

	if (!waking_under_way(md) || t->now_us < md->waking.deadline_us || stays_unconfirmed(md, t))
		return NOTHING_NEEDED;
	n = waking_watch_io(md, t); /* before it is planned for again */
	settle(md);
	return need_more(need(NEED_PLAN, CAUSE_DUE), n);
}

static bool goes_deeper(const Managed *md)
{
	const Errands *e = &md->errands;

	return e->busy && !e->testing && e->mechanism == MECHANISM_CONDITION && !e->raises;
}

Need waking_want(Managed *md, WakeReason reason)
{
	Waking *w = &md->waking;

	if (goes_deeper(md)) {
		w->next = reason;
		return NOTHING_NEEDED;
	}
	if (w->state == WAKING_WANTED || !managed_asleep(md))
		return NOTHING_NEEDED;
	w->state = WAKING_WANTED;
	w->reason = reason;
	w->has_waker = false;
	knob_set_forget_found_condition(md);
	return need(NEED_TOLD_PLAN, CAUSE_IO_WOKE);
}

Need waking_want_next(Managed *md)
{
	WakeReason reason = md->waking.next;

	md->waking.next = WAKE_UNSAID;
	return reason != WAKE_UNSAID ? waking_want(md, reason) : NOTHING_NEEDED;
}

/* An IO to one is an IO to all: they are not left to be tripped over one by one. */
static Need wake_pool(const Managed *md, Tools *t)
{
	Need n = NOTHING_NEEDED;

	for_each_device(Managed, other, t->fleet) if (other != md && managed_in_one_pool(md, other))
		n = need_more(n, waking_want(other, WAKE_WITH_POOL));
	return n;
}

void waking_watch(Managed *md, Tools *t)
{
	md->waking.watched = meter_watch_wake(t->meter, md->device, true) >= 0;
}

static void unwatch(Managed *md, Tools *t)
{
	if (md->waking.watched)
		(void)meter_watch_wake(t->meter, md->device, false);
	md->waking.watched = false;
}

static WakeReason reason_of(const Waking *w)
{
	if (w->state == WAKING_WANTED)
		return w->reason;
	return w->by_io ? WAKE_BY_IO : WAKE_NO_LONGER_KEPT;
}

Need waking_begin(Managed *md, Tools *t)
{
	const ConditionPower *c = sleeping_condition(md);
	Waking *w = &md->waking;

	w->reason = reason_of(w);
	w->state = WAKING_SPINNING_UP;
	w->watts = c->wake_w;
	w->deadline_us = t->now_us + (uint64_t)(c->wake_s * 1e6);
	w->answered = false;
	w->woke_us = t->now_us;
	wear_account_end_cycle(md, md->knobs.actual.condition);
	unwatch(md, t);
	diary_wakeup(t->diary, md, reasons[w->reason]);
	return wake_pool(md, t);
}

void waking_begin_test(Managed *md, uint64_t longest_us, Tools *t)
{
	Waking *w = &md->waking;

	w->state = WAKING_SPINNING_UP;
	w->watts = md->device->profile->conditions[CONDITION_STANDBY_Z].wake_w;
	w->deadline_us = t->now_us + longest_us;
	w->answered = true;
}

void waking_forget_time(Managed *md)
{
	md->waking.woke_us = 0;
}

void waking_end_test(Managed *md)
{
	settle(md);
}

Need waking_notice_io(Managed *md, Tools *t)
{
	Need n;

	md->waking.by_io = true;
	md->waking.state = WAKING_SETTLED;
	n = waking_begin(md, t);
	knob_set_woken(md);
	return need_more(need(NEED_TOLD_PLAN, CAUSE_IO_WOKE), n);
}

Need waking_notice_served(Managed *md, Tools *t)
{
	Need n = NOTHING_NEEDED;

	if (md->errands.busy)
		return n;
	if (managed_asleep(md)) {
		n = waking_notice_io(md, t);
	} else if (md->knobs.actual.condition != CONDITION_ACTIVE) {
		/* a disk at rest serves at once and is active then, without a word */
		knob_set_woken(md);
		knob_set_aim_again(md, t);
	} else if (knob_set_say_active(md)) {
		knob_set_aim_again(md, t);
	}
	/* IO that was done may have ended in an error: what did not wake once is believed again
	 * only after a test, or when a command has woken it */
	md->waking.by_io = false;
	md->waking.answered = true;
	if (md->waking.state == WAKING_UNCONFIRMED)
		md->waking.deadline_us = t->now_us;
	return n;
}

Need waking_take_awake(Managed *md, Tools *t)
{
	Need n = managed_asleep(md) ? waking_notice_io(md, t) : waking_notice_served(md, t);

	knob_set_aim_again(md, t);
	return n;
}

void waking_confirm(Managed *md)
{
	md->waking.stuck = false;
	md->waking.answered = true;
	if (md->waking.state == WAKING_UNCONFIRMED)
		md->waking.deadline_us = 0;
}

Need waking_take_failure(Managed *md, unsigned failures, Tools *t)
{
	Need n = NOTHING_NEEDED;

	if (failures >= WAKE_TRIES)
		n = waking_mark_stuck(md, t);
	if (!managed_asleep(md))
		return n;
	wear_account_stay_charged(md);
	if (waking_under_way(md))
		settle(md);
	if (!md->waking.stuck)
		n = need_more(n, waking_want(md, WAKE_ONCE_MORE));
	return n;
}

void waking_take_sleep(Managed *md, Tools *t)
{
	settle(md);
	md->waking.has_waker = md->waking.by_io = false;
	waking_watch(md, t);
}

static void record_stuck(const Device *d, const Tools *t)
{
	int r = 0;

	if (t->config->wakes && *d->hba)
		r = wake_record_set(t->config->wakes, d->hba, WAKE_FAILED);
	if (r < 0)
		log_error_errno(r, "That cannot be recorded: it is forgotten at the next start");
}

Need waking_mark_stuck(Managed *md, Tools *t)
{
	const Device *d = md->device;
	const char *hba = *d->hba ? d->hba : "its HBA";

	if (md->waking.stuck)
		return NOTHING_NEEDED;
	md->waking.stuck = true;
	diary_decide(t->diary, d->name, "it does not wake",
		     "kept up, with its pool; nothing is stopped on %s", hba);
	log_about(LOG_ERR, 0, &(LogAbout){ .id = MESSAGE_DISK_NOT_WAKING, .device = d->name },
		  "%s: it does not wake; no disk on %s is stopped until storpowerctl wake-test has "
		  "passed there",
		  d->name, hba);
	record_stuck(d, t);
	return need_more(need(NEED_TOLD_PLAN, CAUSE_IO_WOKE), wake_pool(md, t));
}

void waking_forgive(Fleet *f, const char *hba, Managed *md)
{
	for_each_device(Managed, other, f) if (*hba ? streq(other->device->hba, hba) : other == md)
		other->waking.stuck = false;
}

Need waking_watch_io(Managed *md, Tools *t)
{
	Waking *w = &md->waking;

	/* no IO completes before the disk is awake: one that waits is the first sign */
	if (managed_asleep(md) && !w->watched && !md->errands.busy && md->workload.waiting >= 1 &&
	    md->workload.waiting_us == t->now_us)
		return waking_notice_io(md, t);
	if (!w->by_io || w->stuck ||
	    (waking_under_way(md) && t->now_us < w->deadline_us && w->state == WAKING_SPINNING_UP))
		return NOTHING_NEEDED;
	if (!is_seen(md, t))
		return NOTHING_NEEDED;
	if (md->workload.waiting < 1) {
		w->by_io = false;
		w->answered = true;
		if (w->state == WAKING_UNCONFIRMED)
			w->deadline_us = t->now_us;
		return NOTHING_NEEDED;
	}
	return t->now_us >= patience_ends_us(md) ? waking_mark_stuck(md, t) : NOTHING_NEEDED;
}

/* IO wakes the disk for sure; a command of its own, or a flush with nothing to be written, may or
 * may not have. */
static bool wakes_for_sure(const MeterWake *w)
{
	return !w->passed_through && w->bytes > 0;
}

Need waking_take_waker(Managed *md, const MeterWake *w, Tools *t, bool *ret_ask)
{
	*ret_ask = false;
	if (!md->waking.watched)
		return NOTHING_NEEDED;
	md->waking.waker = *w;
	md->waking.has_waker = true;
	if (!managed_asleep(md) || md->errands.busy)
		return NOTHING_NEEDED; /* on its way: what comes of that tells */
	if (wakes_for_sure(w))
		return waking_notice_io(md, t);
	*ret_ask = t->now_us >= md->errands.reread_us + LOOK_US;
	return NOTHING_NEEDED;
}

void waking_clear_suspicion(Managed *md, Tools *t)
{
	if (!waking_suspect(md) || t->now_us < md->errands.reread_us + LOOK_US)
		return;
	md->waking.has_waker = false;
	waking_watch(md, t);
}

bool waking_hba_stuck(const Device *d, const Tools *t)
{
	if (!*d->hba)
		return false;
	if (t->config->wakes && wake_record_get(t->config->wakes, d->hba) == WAKE_FAILED)
		return true;
	for_each_device(const Managed, md,
			t->fleet) if (md->waking.stuck &&
				      streq(md->device->hba, d->hba)) return true;
	return false;
}
