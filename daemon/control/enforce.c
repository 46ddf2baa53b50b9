/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/enforce.h"

#include <errno.h>
#include <math.h>

#include "base/log.h"
#include "control/admit.h"
#include "control/caps.h"
#include "control/decide.h"
#include "control/gather.h"
#include "control/hooks.h"
#include "control/pace-use.h"
#include "control/rest.h"
#include "control/waking.h"
#include "control/wear-account.h"
#include "control/workload.h"

#define ROUNDS_MAX    3
#define LATER_LEAST_W 1e-6
#define ALARM_LEAST_W 0.1 /* who can draw no more than that raises none */

void enforce_note_event(Control *c, uint64_t now_us)
{
	c->enforcement.event_us = now_us;
}

bool enforce_is_settling(const Control *c)
{
	const Enforcement *e = &c->enforcement;
	uint64_t now_us = c->tools.now_us;

	return e->event_us ? now_us - e->event_us < OVERDUE_US
			   : now_us < e->enforced_us + AVERAGED_US;
}

void enforce_note_done(Control *c)
{
	Enforcement *e = &c->enforcement;

	if (c->outbox.counted_out || !e->event_us)
		return;
	e->last_enforce_us = c->tools.now_us - e->event_us;
	overload_note_reaction(&c->gauges.overload, e->last_enforce_us);
	e->event_us = 0;
	e->enforced_us = c->tools.now_us;
}

static void note_planned(Managed *md, const Fleet *f)
{
	md->planned.demand_mb_s = md->workload.demand_mb_s;
	md->planned.mix = md->workload.mix;
	md->planned.bias = md->trust.bias;
	md->planned.pace_left = pace_use_left(md, f);
	md->planned.correction = md->trust.correction;
	md->planned.was_measured = md->trust.is_measured;
	md->planned.limits = md->rest.limits;
}

/* Another plan is not worth the change: what the one in force gives is expected by it all the same.
 */
static void keep(Control *c, const Plan *next)
{
	Plan *plan = c->enforcement.plan;

	plan->mb_s = 0;
	for (size_t i = 0; i < c->fleet.n; i++) {
		Managed *md = c->fleet.devices[i];

		md->planned.device.mb_s = plan->devices[i].mb_s = next->devices[i].current_mb_s;
		md->planned.device.full_mb_s = plan->devices[i].full_mb_s =
			next->devices[i].full_mb_s;
		plan->mb_s += md->planned.device.mb_s;
		note_planned(md, &c->fleet);
	}
	plan->full_mb_s = next->full_mb_s;
}

static double group_limit_w(const Facts *f, size_t group)
{
	const PlanGroup *g = group < f->n_groups ? &f->groups[group] : NULL;

	/* enforcement may use what is reserved for spin-ups; the planner may not */
	return g ? g->limit_w + g->reserve_w : INFINITY;
}

/* What is expected of the device above idle, and its part of what is left of the budget, by how
 * much it could draw more: while nobody exceeds that, the node does not exceed the budget. */
static double alarm_w(const Facts *f, const Plan *plan, size_t i)
{
	const PlannedDevice *d = &plan->devices[i];
	double left_w = MAX(f->spendable_w - plan->expect_w, 0.0);
	double room_w = plan->cap_w - plan->expect_w, more_w = d->cap_w - d->expect_w;
	double spent_w = MAX(d->expect_w - f->devices[i].profile->idle_w, 0.0);

	if (!plan->at_once || !(more_w > ALARM_LEAST_W))
		return INFINITY;
	/* eBPF counts what the profile says of the IO */
	return (spent_w + left_w * more_w / MAX(room_w, more_w)) / f->devices[i].correction;
}

/* Whoever measures is told once that a limit has come in between. */
static void note_pin(const Control *c, Managed *md)
{
	bool waits;
	const Claim *pin = limits_pin_of(&c->limits, &c->fleet, md, &waits);
	uint64_t cookie = waits ? pin->cookie : 0;

	if (cookie && md->planned.waiting_pin != cookie)
		log_notice("%s: claim %llu pins power state %u, which has no say while %s",
			   md->device->name, (unsigned long long)cookie, pin->power_state,
			   c->limits.claimed.advised ? "limits are only advised"
						     : "a limit is active");
	md->planned.waiting_pin = cookie;
}

static void adopt(Control *c, const Facts *f, Plan *plan)
{
	plan_free(c->enforcement.plan);
	c->enforcement.plan = plan;
	for (size_t i = 0; i < c->fleet.n; i++) {
		Managed *md = c->fleet.devices[i];
		PlanReason reason = md->planned.device.reason;

		md->planned.device = plan->devices[i];
		if (md->rest.awaits) /* held as it is until it does what was planned before */
			md->planned.device.reason = reason;
		md->planned.group_limit_w = group_limit_w(f, f->devices[i].group);
		md->planned.alarm_w = alarm_w(f, plan, i);
		note_planned(md, &c->fleet);
		note_pin(c, md);
		if (!gather_is_held(md, c->tools.now_us))
			knob_set_aim(md, &md->planned.device.setting, &c->tools);
	}
}

static Need begin_step(Control *c, Managed *md, const Admitted *a, Job *j)
{
	HeldKnob *hk = &md->knobs.knobs[a->knob];
	Need n = NOTHING_NEEDED;

	if (a->stops)
		waking_watch(md, &c->tools);
	if (a->wears) {
		j->step.wears = true;
		j->step.was_charged = wear_account_charge(md, md->knobs.target.condition);
	}
	if (hk->knob->wakes)
		workload_note_own_io(md, USEC_NEVER);
	if (a->wakes)
		n = waking_begin(md, &c->tools);
	knob_set_begin(md, hk, a->raises, &c->tools);
	caps_update(md, c->tools.now_us);
	return n;
}

static Job *prepare(Control *c, const Admitted *a)
{
	Managed *md = c->fleet.devices[a->device];
	HeldKnob *hk = &md->knobs.knobs[a->knob];
	Job *j = job_new_step(md, a->knob, a->raises);

	if (j && j->step.first_touch &&
	    journal_record(c->tools.journal, md->device->id, hk->knob->name, &hk->original) < 0)
		j = job_free(j);
	if (!j)
		log_oom();
	return j;
}

/* Only a knob that is not in the journal yet has to wait for it. */
static int sync_originals(Control *c, Job *const *jobs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (jobs[i] && jobs[i]->step.first_touch) {
			int r = journal_sync(c->tools.journal);

			return r >= 0 ? 0
				      : log_about(LOG_ERR, r,
						  &(LogAbout){ .id = MESSAGE_JOURNAL_UNWRITTEN,
							       .file = c->config.journal_path },
						  "The journal cannot be written, so no "
						  "further knob is turned: make room on "
						  "the disk of the state directory");
		}
	return 0;
}

/* A crash must not lose a charge. */
static int sync_charges(Control *c, Job *const *jobs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (jobs[i] && jobs[i]->step.wears)
			return wear_accounts_save(&c->tools);
	return 0;
}

static void send(Control *c, Job *j, int synced, int charged)
{
	Managed *md = j->md;
	int r = j->step.first_touch ? synced : 0;

	if (r >= 0)
		knob_set_note_recorded(&md->knobs.knobs[j->step.index]);
	if (r >= 0 && j->step.wears)
		r = charged;
	if (r >= 0)
		errands_send_step(md, j, &c->tools);
	else
		errands_fail_step(md, j, r, &c->tools);
}

static Need send_all(Control *c, const Admitted *admitted, size_t n)
{
	Job *jobs[n + 1];
	Need more = NOTHING_NEEDED;
	int synced, charged;

	for (size_t i = 0; i < n; i++) {
		Managed *md = c->fleet.devices[admitted[i].device];

		jobs[i] = prepare(c, &admitted[i]);
		if (jobs[i])
			more = need_more(more, begin_step(c, md, &admitted[i], jobs[i]));
	}
	synced = sync_originals(c, jobs, n);
	charged = sync_charges(c, jobs, n);
	for (size_t i = 0; i < n; i++)
		if (jobs[i])
			send(c, jobs[i], synced, charged);
	return more;
}

static bool any_pending(const Fleet *f)
{
	for_each_device(const Managed, md, f)
		for_each_knob(const HeldKnob, hk, &md->knobs) if (hk->pending) return true;
	return false;
}

Need enforce_steps(Control *c)
{
	_cleanup_free_ Admitted *admitted = NULL;
	Need more = NOTHING_NEEDED;
	InForce f;

	hooks_ask(c);
	if (!any_pending(&c->fleet))
		return more;
	admitted = calloc(c->fleet.n + 1, sizeof(*admitted));
	if (!admitted || gather_in_force(c, &f) < 0) {
		log_oom();
		return more;
	}
	more = send_all(c, admitted, admit(&f, admitted));
	in_force_done(&f);
	return more;
}

/* What is planned of it saves watts that it does not save yet. */
static bool any_saves_later(const Control *c)
{
	for_each_device(const Managed, md,
			&c->fleet) if (gather_is_held(md, c->tools.now_us) &&
				       md->caps.now_w > md->planned.device.cap_w +
								LATER_LEAST_W) return true;
	return false;
}

/* Those that were to be put to sleep and no longer are can be planned for again. True: what was
 * planned for one of them can no longer be. */
static bool await_on(Control *c, const Policy *policy)
{
	bool same = c->limits.enforcing && c->limits.budget_w == c->enforcement.awaited_w;
	bool unsafe = false;

	for_each_device(Managed, md, &c->fleet) unsafe |=
		rest_await_on(md, same, policy, &c->tools);
	return unsafe;
}

static void await_sleep(Control *c)
{
	c->enforcement.awaited_w = c->limits.budget_w;
	for_each_device(Managed, md, &c->fleet) rest_await(md);
}

static void update_devices(Control *c, const Policy *policy)
{
	for_each_device(Managed, md, &c->fleet)
	{
		rest_judge(md, policy, &c->tools);
		caps_update(md, c->tools.now_us);
	}
}

/* One plan. *ret_kept: the one in force stays. */
static int decide_once(Control *c, bool may_keep, bool *ret_kept, bool *ret_changes)
{
	const Policy *policy = gather_policy(c);
	Verdict v;
	Facts f;
	int r;

	update_devices(c, policy);
	r = gather_facts(c, policy, &f);
	if (r < 0)
		return r;
	r = decide(&f, c->enforcement.plan, may_keep, &v);
	if (r >= 0 && v.keep) {
		keep(c, v.plan);
		plan_free(v.plan);
	} else if (r >= 0) {
		*ret_changes |= v.changes;
		adopt(c, &f, v.plan);
	}
	if (r >= 0)
		*ret_kept = v.keep;
	facts_done(&f);
	return r;
}

/* A plan with slow savings (a spin-down) is followed at once by one without them, so that the fast
 * knobs alone hold the budget until the slow savings arrive. They are set by the second one alone:
 * the first would set some only for the second to give them back. */
int enforce_plan(Control *c, bool may_keep, bool *ret_changes, Need *ret_more)
{
	Need more = NOTHING_NEEDED;

	*ret_changes = false;
	gauges_note_planned(&c->gauges);
	hooks_end_vetoes(c);
	if (await_on(c, gather_policy(c)))
		may_keep = false;
	for (unsigned round = 0; round < ROUNDS_MAX; round++) {
		bool kept;
		int r = decide_once(c, may_keep && round == 0, &kept, ret_changes);

		if (r < 0)
			return r;
		if (!kept)
			await_sleep(c);
		if (!kept && any_saves_later(c) && round + 1 < ROUNDS_MAX)
			continue;
		more = need_more(more, enforce_steps(c));
		if (kept || !any_saves_later(c))
			break;
	}
	*ret_more = more;
	return 0;
}

void enforce_update_floor(Control *c)
{
	unsigned forbidden = c->policies.chosen ? c->policies.chosen->forbidden : 0;
	double w = 0;

	for_each_device(Managed, md, &c->fleet)
	{
		bool fixed = md->device->protected_why || gather_is_held(md, c->tools.now_us);

		w += fixed ? md->caps.now_w : caps_floor_w(md, forbidden);
	}
	c->enforcement.floor_w = w;
}

/* Who sleeps is looked at again only where that might bring the watts that are missing. */
static bool may_go_deeper(const Control *c, const Managed *md)
{
	const Plan *p = c->enforcement.plan;

	return !managed_asleep(md) || (p && p->shortfall_w > 0);
}

bool enforce_is_news(const Control *c, const Managed *md)
{
	const Planned *p = &md->planned;

	return workload_demand_differs(md->workload.demand_mb_s, p->demand_mb_s) ||
	       workload_mix_differs(&md->workload.mix, &p->mix) || md->trust.bias != p->bias ||
	       (c->limits.claimed.active && may_go_deeper(c, md) &&
		rest_limits_differ(&md->rest.limits, &p->limits));
}

void enforce_done(Control *c)
{
	plan_free(c->enforcement.plan);
}
