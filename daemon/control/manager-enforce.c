/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* From a plan to steps: which knob of which device may be turned now. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "control/manager-internal.h"

#define WATTS_EPSILON 1e-6

void managed_update_cap(Manager *m, ManagedDevice *md)
{
	double w = managed_cap_w(m, md, &md->actual);

	if (managed_waking(m, md))
		w = MAX(w, md->transition_w);
	m->cap_w += w - md->cap_w;
	md->cap_w = w;
	managed_watch_pace(m, md);
}

static bool is_original(const ManagedKnob *mk)
{
	return streq(mk->wanted.text, mk->original.text);
}

static void give_up_knob(Manager *m, const ManagedDevice *md, ManagedKnob *mk)
{
	mk->touched = mk->recorded = false;
	journal_forget(m->journal, md->device->id, mk->knob->name);
}

static void retarget_knob(ManagedDevice *md, ManagedKnob *mk)
{
	mk->pending = mk->fulfilled = false;
	if (!mk->offered || mk->knob->want(md->device, &md->target, &mk->original, &mk->wanted) < 0)
		return;
	/* a knob that was never touched and is not asked for is left as it is, whatever its owner
	 * has made of it since; only a disk that was found asleep may be wanted awake */
	if (!mk->touched && is_original(mk) &&
	    !(md->wake_why && mk->knob->mechanism == MECHANISM_CONDITION))
		return;
	mk->pending = !knob_fulfils(mk->knob, md->device, &mk->wanted, &mk->current);
	mk->fulfilled = mk->touched && !mk->pending;
}

static bool others_pending(const ManagedDevice *md, Mechanism mechanism)
{
	for (size_t i = 0; i < knob_count(); i++)
		if (md->knobs[i].pending && md->knobs[i].knob->mechanism == mechanism)
			return true;
	return false;
}

/* Where it ought to be: targets may be closer together than the knob can tell apart, and others (an
 * IO that woke the disk, a reset) may have given it back for us. */
static void settle_knob(Manager *m, ManagedDevice *md, ManagedKnob *mk)
{
	if (!mk->fulfilled)
		return;
	if (!others_pending(md, mk->knob->mechanism))
		setting_take(&md->actual, &md->target, mk->knob->mechanism);
	mk->failures = 0;
	mk->retry_at_us = 0;
	if (is_original(mk) && !md->busy)
		give_up_knob(m, md, mk);
}

static void clear_problem(ManagedDevice *md)
{
	if (md->will_not_wake)
		return;
	for (size_t i = 0; i < knob_count(); i++)
		if (md->knobs[i].pending && md->knobs[i].failures)
			return;
	free(md->problem);
	md->problem = NULL;
}

void managed_set_target(Manager *m, ManagedDevice *md, const Setting *target)
{
	md->target = *target;
	for (size_t i = 0; i < knob_count(); i++)
		retarget_knob(md, &md->knobs[i]);
	for (size_t i = 0; i < knob_count(); i++)
		settle_knob(m, md, &md->knobs[i]);
	clear_problem(md);
	managed_update_cap(m, md);
}

/* A disk that sleeps is let sleep, unless writes that are held back for it have to reach it. */
static bool may_sleep_on(const ManagedDevice *md)
{
	const ManagedKnob *mk = managed_redirect(md);

	return managed_asleep(md) && !managed_holds(md) && !(mk && mk->touched && mk->knob->wakes);
}

/* Nothing of a disk that sleeps on is left to be put back: an IO wakes it. */
static void forget_condition(Manager *m, ManagedDevice *md)
{
	if (md->busy && md->stepping == MECHANISM_CONDITION)
		return;
	for (size_t i = 0; i < knob_count(); i++)
		if (md->knobs[i].touched && md->knobs[i].knob->mechanism == MECHANISM_CONDITION)
			give_up_knob(m, md, &md->knobs[i]);
}

void managed_let_sleep_on(Manager *m, ManagedDevice *md)
{
	if (may_sleep_on(md))
		forget_condition(m, md);
}

void managed_give_back(Manager *m, ManagedDevice *md)
{
	Setting s = SETTING_AS_FOUND;

	if (may_sleep_on(md))
		s.condition = md->actual.condition;
	else
		managed_want_awake(m, md,
				   managed_holds(md) ? "its cache is drained"
						     : "what keeps IO off it is given back");
	managed_let_sleep_on(m, md);
	managed_set_target(m, md, &s);
}

bool managed_overdue(const Manager *m, const ManagedDevice *md)
{
	return md->busy && manager_now_us(m) >= md->step_began_us + OVERDUE_US;
}

/* Until the time of the next try has come, and a new plan with it. */
static bool has_failed(const ManagedDevice *md)
{
	for (size_t i = 0; i < knob_count(); i++)
		if (md->knobs[i].retry_at_us)
			return true;
	return false;
}

bool managed_held(const Manager *m, const ManagedDevice *md)
{
	if (managed_waking(m, md) || managed_overdue(m, md) || md->leftover || md->awaits_sleep ||
	    has_failed(md))
		return true;
	return md->busy && md->stepping == MECHANISM_CONDITION &&
	       md->target.condition != md->actual.condition;
}

static void note_planned(ManagedDevice *md)
{
	md->planned_demand_mb_s = md->demand_mb_s;
	md->planned_mix = md->mix;
	md->planned_bias = md->bias;
	md->planned_sleep = md->sleep;
}

void manager_keep_targets(Manager *m, const Plan *next)
{
	m->plan->mb_s = 0;
	for (size_t i = 0; i < m->n_devices; i++) {
		ManagedDevice *md = m->devices[i];

		md->planned.mb_s = next->devices[i].current_mb_s;
		md->planned.full_mb_s = next->devices[i].full_mb_s;
		m->plan->devices[i].mb_s = md->planned.mb_s;
		m->plan->devices[i].full_mb_s = md->planned.full_mb_s;
		m->plan->mb_s += md->planned.mb_s;
		note_planned(md);
	}
	m->plan->full_mb_s = next->full_mb_s;
}

void manager_set_targets(Manager *m, const Plan *plan)
{
	for (size_t i = 0; i < m->n_devices; i++) {
		ManagedDevice *md = m->devices[i];
		PlanReason reason = md->planned.reason;

		md->planned = plan->devices[i];
		if (md->awaits_sleep) /* held as it is until it does what was planned before */
			md->planned.reason = reason;
		note_planned(md);
		if (!managed_held(m, md))
			managed_set_target(m, md, &md->planned.setting);
	}
}

/* Several knobs can serve one mechanism: the one that takes over goes before those that let go. */
static bool waits_for_takeover(const ManagedDevice *md, const ManagedKnob *mk)
{
	if (!is_original(mk))
		return false;
	for (size_t i = 0; i < knob_count(); i++) {
		const ManagedKnob *other = &md->knobs[i];

		if (other->pending && !is_original(other) &&
		    other->knob->mechanism == mk->knob->mechanism)
			return true;
	}
	return false;
}

/* What the device can draw once the knob is turned. */
static double cap_after_w(const Manager *m, const ManagedDevice *md, const ManagedKnob *mk)
{
	Setting after = md->actual;

	setting_take(&after, &md->target, mk->knob->mechanism);
	return managed_cap_w(m, md, &after);
}

static bool wakes(const ManagedDevice *md, const ManagedKnob *mk)
{
	return mk->knob->mechanism == MECHANISM_CONDITION && managed_asleep(md) &&
	       md->target.condition < md->actual.condition;
}

static bool raises(const Manager *m, const ManagedDevice *md, const ManagedKnob *mk)
{
	return wakes(md, mk) || cap_after_w(m, md, mk) > md->cap_w + WATTS_EPSILON;
}

/* A queue is not stopped twice a second for the sake of more throughput. */
static bool too_soon(const Manager *m, const ManagedDevice *md, const ManagedKnob *mk)
{
	return mk->knob->freezes && !m->stopping && manager_now_us(m) < managed_thawed_us(md);
}

uint64_t managed_thawed_us(const ManagedDevice *md)
{
	return md->froze_us ? md->froze_us + FREEZE_US : 0;
}

static bool stops(const ManagedDevice *md, const ManagedKnob *mk)
{
	return mk->knob->mechanism == MECHANISM_CONDITION &&
	       md->target.condition > md->actual.condition &&
	       md->target.condition > CONDITION_IDLE_B;
}

/* From idle_b on the heads are parked. */
static bool wears(const ManagedDevice *md, const ManagedKnob *mk)
{
	return mk->knob->mechanism == MECHANISM_CONDITION && md->wear &&
	       md->target.condition > md->actual.condition &&
	       md->target.condition >= CONDITION_IDLE_B;
}

static bool pending_redirect(const ManagedDevice *md)
{
	for (size_t i = 0; i < knob_count(); i++)
		if (md->knobs[i].pending && md->knobs[i].knob->mechanism == MECHANISM_REDIRECT)
			return true;
	return false;
}

/* The cache holds writes back before the disk stops, and lets go of them once it is awake. */
static bool waits_for_cache(const Manager *m, const ManagedDevice *md, const ManagedKnob *mk)
{
	if (mk->knob->mechanism == MECHANISM_REDIRECT)
		return managed_asleep(md) &&
		       (mk->knob->wakes || (md->target.redirect != REDIRECT_HOLD &&
					    md->target.condition < md->actual.condition));
	return stops(md, mk) && (pending_redirect(md) || managed_settles_us(m, md));
}

static ManagedKnob *next_knob(const Manager *m, ManagedDevice *md, bool raising)
{
	for (size_t i = 0; i < knob_count(); i++) {
		ManagedKnob *mk = &md->knobs[i];

		if (mk->pending && !mk->retry_at_us && !waits_for_takeover(md, mk) &&
		    !waits_for_cache(m, md, mk) && raises(m, md, mk) == raising &&
		    !(raising && too_soon(m, md, mk)))
			return mk;
	}
	return NULL;
}

static double wake_w(const ManagedDevice *md)
{
	return md->device->profile->conditions[md->actual.condition].wake_w;
}

static double limit_w(const Manager *m)
{
	/* below the floor the plan is the limit: nothing goes above what cannot be avoided */
	return MAX(manager_spendable_w(m), m->plan ? m->plan->cap_w : 0);
}

/* The same rule within the device's group. */
static bool fits_group(const Manager *m, const ManagedDevice *md, double after_w)
{
	double sum_w = after_w - md->cap_w, planned_w = 0;

	if (isinf(md->group_limit_w) || m->stopping)
		return true;
	for (size_t i = 0; i < m->n_devices; i++) {
		const ManagedDevice *other = m->devices[i];

		if (!streq(other->device->group, md->device->group))
			continue;
		sum_w += other->cap_w;
		planned_w += other->planned.cap_w;
	}
	return sum_w <= MAX(md->group_limit_w, planned_w) + WATTS_EPSILON;
}

static bool may_raise(const Manager *m, const ManagedDevice *md, const ManagedKnob *mk)
{
	double after_w = cap_after_w(m, md, mk), limit = limit_w(m), sum_w;

	if (wakes(md, mk))
		after_w = MAX(after_w, wake_w(md));
	sum_w = m->cap_w - md->cap_w + after_w;
	if ((wakes(md, mk) && !manager_may_spin_up(m, wake_w(md), sum_w)) ||
	    !fits_group(m, md, after_w))
		return false;
	if (isinf(limit))
		return true;
	if (sum_w > limit + WATTS_EPSILON)
		return false;
	/* those that are waited for need no rest from changes */
	return (wakes(md, mk) && md->wake_why) ||
	       manager_now_us(m) >= md->tightened_us + manager_policy_now(m)->dwell_us;
}

/* Accounts for the step as if a raise had happened already and a lowering not yet. */
static Step *prepare(Manager *m, ManagedDevice *md, bool raising)
{
	ManagedKnob *mk = next_knob(m, md, raising);
	Step *s;

	if (!mk || (raising && !may_raise(m, md, mk)))
		return NULL;
	s = step_new(m, md, mk, raising);
	if (!s)
		return NULL;
	if (s->first_touch &&
	    journal_record(m->journal, md->device->id, mk->knob->name, &mk->original) < 0) {
		log_oom();
		free(s);
		return NULL;
	}
	if (stops(md, mk))
		managed_watch_sleep(m, md);
	if (wears(md, mk)) {
		s->wears = true;
		s->was_charged = md->charged;
		md->charged = true;
		managed_charge(md, md->target.condition);
	}
	mk->touched = md->busy = true;
	md->stepping = mk->knob->mechanism;
	md->step_raises = raising;
	md->step_began_us = manager_now_us(m);
	if (mk->knob->wakes)
		md->own_io_until_us = USEC_NEVER;
	if (mk->knob->freezes)
		md->froze_us = md->step_began_us;
	m->fast_steps += !s->job.slow;
	if (raising) {
		if (wakes(md, mk))
			managed_begin_waking(m, md);
		setting_take(&md->actual, &md->target, mk->knob->mechanism);
		managed_update_cap(m, md);
	}
	return s;
}

static size_t prepare_all(Manager *m, bool raising, Step **steps, size_t n)
{
	for (size_t i = 0; i < m->n_devices; i++)
		if (!m->devices[i]->busy && (steps[n] = prepare(m, m->devices[i], raising)))
			n++;
	return n;
}

/* Only a knob that is not in the journal yet has to wait for it. */
static int sync_originals(Manager *m, Step *const *steps, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (steps[i]->first_touch) {
			int r = journal_sync(m->journal);

			return r >= 0 ? 0
				      : log_error_errno(r, "The journal cannot be written, so no "
							   "further knob is turned: make room on "
							   "the disk of the state directory");
		}
	return 0;
}

/* A crash must not lose a charge. */
static int sync_charges(Manager *m, Step *const *steps, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (steps[i]->wears)
			return manager_save_wear(m);
	return 0;
}

static bool submit_all(Manager *m, Step **steps, size_t n)
{
	int synced = sync_originals(m, steps, n), charged = sync_charges(m, steps, n);
	bool replan = false;

	for (size_t i = 0; i < n; i++) {
		int r = steps[i]->first_touch ? synced : 0;

		if (r >= 0)
			steps[i]->mk->recorded = true;
		if (r >= 0 && steps[i]->wears)
			r = charged;
		if (r >= 0)
			r = m->loop->submit(m->loop, &steps[i]->job);
		if (r < 0) {
			steps[i]->result = r;
			steps[i]->found = steps[i]->was;
			replan |= step_finish(steps[i]);
		}
	}
	return replan;
}

void manager_pump(Manager *m)
{
	_cleanup_free_ Step **steps = calloc(m->n_devices + 1, sizeof(Step *));
	size_t n;

	if (!steps) {
		log_oom();
		return;
	}
	n = prepare_all(m, false, steps, 0);
	n = prepare_all(m, true, steps, n);
	if (submit_all(m, steps, n)) {
		manager_react(m, "a knob failed");
		return;
	}
	if (!m->fast_steps && m->event_us) {
		m->last_enforce_us = manager_now_us(m) - m->event_us;
		m->event_us = 0;
		m->enforced_us = manager_now_us(m);
	}
}
