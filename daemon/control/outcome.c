/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/outcome.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "control/cache-hits.h"
#include "control/cache-watch.h"
#include "control/enforce.h"
#include "control/fleet.h"
#include "control/hooks.h"
#include "control/obedience.h"
#include "control/observe.h"
#include "control/rest.h"
#include "control/trust.h"
#include "control/verify.h"
#include "control/wake-test.h"
#include "control/waking.h"
#include "control/wear-account.h"
#include "control/workload.h"

#define OWN_IO_US (3 * USEC_PER_SEC) /* until what a knob wrote is on the disk, and counted */

/* ---- a probe ---- */

static Need take_redirects(Managed *md, Job *j, Tools *t)
{
	knob_set_take_probe(md, j->probe.found, true, t);
	cache_watch_forget(md);
	return need(NEED_PLAN, CAUSE_MOVED);
}

static Need take_probe(Control *c, Job *j)
{
	Managed *md = j->md;
	Tools *t = &c->tools;
	bool was_leftover = md->knobs.leftover, was_probed = md->knobs.probed;

	if (j->result < 0) { /* nobody has asked it: it is tried again with the next look */
		errands_ask(md, j->probe.redirects ? ERRAND_REDIRECTS : ERRAND_PROBE);
		return NOTHING_NEEDED;
	}
	if (j->probe.redirects)
		return take_redirects(md, j, t);
	knob_set_take_probe(md, j->probe.found, false, t);
	if (!was_probed && managed_asleep(md)) {
		waking_take_sleep(md, t);
		workload_forget_counters(md);
	}
	if (waking_is_wanted(md)) /* that it was found asleep is nothing to be given back */
		knob_set_forget_found_condition(md);
	if (was_probed && managed_asleep(md)) /* and may have woken, with nobody looking */
		errands_ask(md, ERRAND_REREAD);
	if (j->probe.found->has_cache)
		cache_watch_take_over(md, &j->probe.found->cache, t);
	else
		cache_watch_forget(md);
	if (md->knobs.leftover)
		errands_ask(md, ERRAND_PROBE); /* once that is put back */
	else if (was_leftover)
		log_about(LOG_NOTICE, 0,
			  &(LogAbout){ .id = MESSAGE_GIVEN_BACK, .device = md->device->name },
			  "%s: everything that was set on it is put back", md->device->name);
	return need_more(need(NEED_PLAN, CAUSE_PROBED), fleet_give_back(md, t));
}

/* ---- a step ---- */

/* In words: raw values of some knobs are long. The log has them as well. */
static void explain_step(Control *c, const Managed *md, const StepOutcome *s)
{
	Setting from = SETTING_AS_FOUND, to = SETTING_AS_FOUND;
	const Knob *k = s->hk->knob;
	char a[128], b[128];

	setting_take(&from, &s->before, k->mechanism);
	setting_take(&to, &s->target, k->mechanism);
	diary_decide(&c->diary, md->device->name, plan_reason_text(md->planned.device.reason),
		     "%s: %s -> %s", k->name, setting_text(a, sizeof(a), &from),
		     setting_text(b, sizeof(b), &to));
	log_change(md->device->name, k->name, s->was.text, s->found.text, c->diary.why);
}

static void note_asleep(Managed *md, Tools *t)
{
	waking_take_sleep(md, t);
	workload_forget_counters(md); /* IO before the sleep does not wake */
}

static void take_success(Control *c, Managed *md, const StepOutcome *s)
{
	Mechanism mechanism = s->hk->knob->mechanism;

	knob_set_take_success(md, s, &c->tools);
	if (mechanism == MECHANISM_REDIRECT)
		cache_watch_take_hold(md, &c->tools);
	if (mechanism == MECHANISM_CONDITION && s->raises)
		waking_confirm(md);
	else if (mechanism == MECHANISM_CONDITION && managed_asleep(md))
		note_asleep(md, &c->tools);
	explain_step(c, md, s);
}

/* Whatever it is in, it went there by itself, and that is one more cycle. */
static Need take_stale(Managed *md, const StepOutcome *s, Tools *t)
{
	knob_set_take_stale(md, s, t);
	if (s->hk->knob->mechanism != MECHANISM_CONDITION || condition_from_name(s->found.text) < 0)
		return NOTHING_NEEDED;
	wear_account_forget_cycle(md);
	if (!managed_asleep(md))
		return NOTHING_NEEDED;
	note_asleep(md, t);
	return s->raises ? waking_want(md, WAKE_WAS_DEEPER) : NOTHING_NEEDED;
}

static Need take_failure(Managed *md, const StepOutcome *s, Tools *t)
{
	Need n = need(NEED_TOLD_PLAN, CAUSE_KNOB_FAILED);

	knob_set_take_failure(md, s, t);
	if (s->raises && s->hk->knob->mechanism == MECHANISM_CONDITION)
		(void)waking_take_failure(md, obedience_of(md, s->hk)->failures, t);
	return n;
}

/* IO came while the disk was on its way to sleep, and it is waking again. Without IO it is a disk
 * that obeys in words alone. */
static bool was_woken(const Job *j)
{
	return j->result == -EREMOTEIO && !j->step.raises && j->step.io_meanwhile &&
	       j->knob->mechanism == MECHANISM_CONDITION;
}

/* A command that was accepted, or never answered, may have moved the disk: that is paid for. */
static void settle_charge(Managed *md, const Job *j)
{
	if (j->result != -EREMOTEIO && j->result != -ETIMEDOUT)
		wear_account_undo(md, j->step.target.condition, j->step.was_charged);
	else if (!managed_asleep(md))
		wear_account_forget_cycle(md); /* the cycle is over */
}

static Need judge_step(Control *c, const Job *j, const StepOutcome *s)
{
	Managed *md = j->md;
	Tools *t = &c->tools;

	if (was_woken(j)) {
		knob_set_condition(md, s->target.condition);
		return need_more(need(NEED_TOLD_PLAN, CAUSE_KNOB_FAILED), waking_take_awake(md, t));
	}
	if (j->step.wears && j->result < 0)
		settle_charge(md, j);
	if (j->step.refused_why) {
		rest_refuse(md, j->step.refused_why, t);
		return need(NEED_TOLD_PLAN, CAUSE_KNOB_FAILED);
	}
	if (j->result == -ESTALE)
		return need_more(take_stale(md, s, t),
				 j->knob->mechanism == MECHANISM_CONDITION
					 ? need(NEED_TOLD_PLAN, CAUSE_KNOB_FAILED)
					 : NOTHING_NEEDED);
	if (j->result < 0)
		return take_failure(md, s, t);
	take_success(c, md, s);
	return j->knob->mechanism == MECHANISM_CONDITION ? need(NEED_TOLD_PLAN, CAUSE_SLOW_SAVING)
							 : NOTHING_NEEDED;
}

static Need take_step(Control *c, const Job *j, bool was_overdue)
{
	Managed *md = j->md;
	Tools *t = &c->tools;
	const StepOutcome s = { .hk = &md->knobs.knobs[j->step.index],
				.result = j->result,
				.raises = j->step.raises,
				.refused = j->refused,
				.before = j->step.before,
				.target = j->step.target,
				.value = j->step.value,
				.was = j->step.was,
				.found = j->step.found };
	Need n;

	if (j->knob->wakes)
		workload_note_own_io(md, t->now_us + OWN_IO_US);
	if (md->errands.next & ERRAND_RESET) /* what the step did is lost */
		return need(NEED_STEPS, CAUSE_RESET);
	n = judge_step(c, j, &s);
	hooks_tell_result(c, j);
	n = need_more(n, waking_want_next(md));
	knob_set_aim_again(md, t); /* the target may have moved on meanwhile */
	if (was_overdue)
		n = need_more(n, need(NEED_TOLD_PLAN, CAUSE_SLOW_SAVING));
	return n;
}

/* ---- what the knobs say ---- */

/* By somebody's IO or command, a moment ago: its condition is not to be set again. */
static bool has_woken(const Managed *md, const Job *j)
{
	for (size_t i = 0; i < knob_count() && j->reread.why != REREAD_RESET; i++) {
		int c = condition_from_name(j->reread.found[i].text);

		if (knob_registry[i]->mechanism == MECHANISM_CONDITION && c >= 0)
			return c <= CONDITION_IDLE_B && c < (int)md->knobs.actual.condition;
	}
	return false;
}

static void note_lost(Control *c, Managed *md)
{
	workload_forget_counters(md);
	diary_decide(&c->diary, md->device->name, "a device was reset",
		     "what was lost is set again");
	log_notice("%s: a device was reset: what was lost is set again", md->device->name);
}

static Need take_reread(Control *c, const Job *j)
{
	Managed *md = j->md;
	bool reset = j->reread.why == REREAD_RESET, lost;
	Need n = NOTHING_NEEDED;

	if (j->result < 0) {
		errands_ask(md, reset ? ERRAND_RESET : ERRAND_REREAD);
		return n;
	}
	verify_take(c, j);
	if (!reset && md->errands.next & ERRAND_RESET) /* it was read before the reset */
		return n;
	if (has_woken(md, j))
		n = waking_take_awake(md, &c->tools);
	if (reset)
		obedience_forget(md);
	lost = knob_set_take_reread(md, j->reread.found, j->reread.asked, reset, &c->tools);
	if (lost && reset)
		note_lost(c, md);
	if (lost || reset)
		n = need_more(n, need(NEED_TOLD_PLAN, reset ? CAUSE_RESET : CAUSE_LOST));
	return need_more(n, waking_want_next(md));
}

/* ---- the others ---- */

static Need take_cache(Control *c, const Job *j)
{
	Managed *md = j->md;
	bool gone;
	Need n = cache_watch_take(md, j->result, &j->cache, &c->tools, &gone);

	if (gone)
		errands_ask(md, ERRAND_REDIRECTS);
	return n;
}

static Need take_device_job(Control *c, Job *j, bool was_overdue)
{
	switch (j->kind) {
	case JOB_PROBE: return take_probe(c, j);
	case JOB_STEP: return need_more(need(NEED_STEPS, CAUSE_NONE), take_step(c, j, was_overdue));
	case JOB_REREAD: return need_more(need(NEED_STEPS, CAUSE_NONE), take_reread(c, j));
	case JOB_WAKE_TEST: return wake_test_take(c, j);
	case JOB_POWER: trust_take_power(j->md, j->result, j->watts); return NOTHING_NEEDED;
	case JOB_CACHE: return take_cache(c, j);
	case JOB_HOOK: return hooks_take(c, j);
	case JOB_READS: return cache_hits_take(j->md, j->result, &j->reads.found, &c->tools);
	default: return NOTHING_NEEDED;
	}
}

/* A device that went while the job was out. */
static Need take_gone(Control *c, Job *j)
{
	if (j->kind == JOB_WAKE_TEST)
		wake_test_abandon(j);
	fleet_forget(&c->fleet, j->md);
	return NOTHING_NEEDED;
}

static Need take_look(Control *c, const Job *j)
{
	Need n = NOTHING_NEEDED;

	for (size_t i = 0; i < j->look.n; i++) {
		Managed *md = j->look.mds[i];
		int r = j->result < 0 ? j->result : j->look.results[i];

		errands_take_back(md, j);
		if (md->errands.gone)
			fleet_forget(&c->fleet, md);
		else
			n = need_more(n, observe_take_look(c, md, r, &j->look.counters[i],
							   j->look.peeks));
	}
	return n;
}

Need outcome_take(Control *c, Job *job)
{
	_cleanup_(job_freep) Job *j = job;
	bool was_overdue;
	Need n;

	outbox_take_back(&c->outbox, j);
	if (j->kind == JOB_LOOK)
		return take_look(c, j);
	if (j->kind == JOB_SENSOR) {
		gauges_take(&c->gauges, j, &c->tools);
		return NOTHING_NEEDED;
	}
	if (j->kind == JOB_LEDGER) {
		bookkeeping_take(j, &c->tools);
		return NOTHING_NEEDED;
	}
	was_overdue = errands_overdue(j->md, c->tools.now_us);
	errands_take_back(j->md, j);
	if (j->md->errands.gone)
		return take_gone(c, j);
	n = take_device_job(c, j, was_overdue);
	errands_send_next(j->md, &c->tools);
	return n;
}
