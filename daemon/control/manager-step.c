/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One knob write: off the loop, and what comes of it. */

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "control/manager-internal.h"

#define RETRY_FIRST_US   USEC_PER_SEC
#define RETRY_LONGEST_US (60 * USEC_PER_SEC)
#define OWN_IO_US        (3 * USEC_PER_SEC) /* until what a knob wrote is on the disk, and counted */
#define WAKE_TRIES       2                  /* before a disk is believed not to wake */

static void step_run(Job *job);
static void step_done(Job *job);

Step *step_new(Manager *m, ManagedDevice *md, ManagedKnob *mk, bool raises)
{
	Step *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	*s = (Step){
		.job = { .slow = mk->knob->slow, .run = step_run, .done = step_done },
		.manager = m,
		.md = md,
		.mk = mk,
		.first_touch = !mk->recorded,
		.raises = raises,
		.before = md->actual,
		.target = md->target,
		.value = mk->wanted,
		.was = mk->current,
	};
	return s;
}

/* The last word before a disk is stopped is its pool's. */
static int ask_pool(Step *s)
{
	Device *d = s->md->device;

	if (s->raises || s->mk->knob->mechanism != MECHANISM_CONDITION ||
	    s->target.condition <= CONDITION_IDLE_B || !d->ops->may_sleep)
		return 0;
	return d->ops->may_sleep(d, &s->refused_why);
}

static int turn(Step *s)
{
	Device *d = s->md->device;
	const Knob *k = s->mk->knob;
	int asked = ask_pool(s);

	if (asked < 0)
		return asked;

	if (s->first_touch) {
		int r = k->read(d, &s->found);

		if (r < 0)
			return r;
		if (!knob_fulfils(k, d, &s->was, &s->found))
			return -ESTALE;
	}
	return knob_apply(k, d, &s->value, &s->found);
}

/* IOs that were done, and whether one waits; false: nobody knows. */
static bool count_io(Device *d, uint64_t *ret_done, bool *ret_waiting)
{
	DeviceCounters c;

	if (!d->ops->counters || d->ops->counters(d, &c) < 0)
		return false;
	*ret_done = c.ios[READ_IO] + c.ios[WRITE_IO];
	*ret_waiting = c.outstanding >= 1;
	return true;
}

/* Off the loop. A write that failed may have done something all the same. */
static void step_run(Job *job)
{
	Step *s = (Step *)job;
	Device *d = s->md->device;
	uint64_t before = 0, after = 0;
	bool waiting;

	s->io_meanwhile = !count_io(d, &before, &waiting);
	s->result = turn(s);
	if (!s->io_meanwhile)
		s->io_meanwhile = !count_io(d, &after, &waiting) || waiting || after != before;
	if (s->result < 0 && s->result != -ESTALE && !s->refused_why &&
	    s->mk->knob->read(s->md->device, &s->found) < 0)
		s->found = (KnobValue){};
}

/* Whatever it is in, it went there by itself, and that is one more cycle. */
static void take_found_condition(Manager *m, const Step *s)
{
	ManagedDevice *md = s->md;
	int c = condition_from_name(s->found.text);

	if (c < 0)
		return;
	md->actual.condition = (Condition)c;
	md->charged = false;
	if (!managed_asleep(md))
		return;
	md->transition_end_us = 0;
	managed_fell_asleep(m, md);
	if (s->raises)
		managed_want_awake(m, md, "it was deeper asleep than was known");
}

/* Somebody changed the value between our reading it and our first write: theirs is the original. */
static void adopt_original(Manager *m, const Step *s)
{
	ManagedKnob *mk = s->mk;
	const char *id = s->md->device->id;

	log_info("%s: %s was changed from %s to %s by somebody else before it was first set here; "
		 "that is what will be restored",
		 s->md->device->name, mk->knob->name, mk->original.text, s->found.text);
	journal_forget(m->journal, id, mk->knob->name);
	mk->original = mk->current = s->found;
	mk->touched = mk->recorded = false;
	if (mk->knob->mechanism == MECHANISM_CONDITION)
		take_found_condition(m, s);
}

/* In words: raw values of some knobs are long. The log has them as well. */
static void explain_step(Manager *m, const Step *s)
{
	Setting from = SETTING_AS_FOUND, to = SETTING_AS_FOUND;
	const char *device = s->md->device->name;
	const Knob *k = s->mk->knob;
	char a[128], b[128];

	setting_take(&from, &s->before, k->mechanism);
	setting_take(&to, &s->target, k->mechanism);
	manager_decide(m, device, plan_reason_text(s->md->planned.reason), "%s: %s -> %s", k->name,
		       setting_text(a, sizeof(a), &from), setting_text(b, sizeof(b), &to));
	log_change(device, k->name, s->was.text, s->found.text, m->why);
}

static void note_sleep(Manager *m, const Step *s)
{
	ManagedDevice *md = s->md;
	Mechanism mechanism = s->mk->knob->mechanism;

	if (mechanism == MECHANISM_REDIRECT)
		md->held_us = md->actual.redirect == REDIRECT_HOLD ? manager_now_us(m) : 0;
	if (mechanism != MECHANISM_CONDITION)
		return;
	if (!s->raises && managed_asleep(md))
		managed_fell_asleep(m, md);
	if (s->raises)
		md->will_not_wake = md->unanswered = false;
}

static void note_success(Manager *m, const Step *s)
{
	ManagedDevice *md = s->md;
	ManagedKnob *mk = s->mk;

	mk->current = s->found;
	mk->failures = 0;
	mk->retry_at_us = 0;
	if (!s->raises && !md->leftover) {
		setting_take(&md->actual, &s->target, mk->knob->mechanism);
		md->tightened_us = manager_now_us(m);
	}
	note_sleep(m, s);
	explain_step(m, s);
}

static const char *failure_text(int r)
{
	if (r == -EREMOTEIO)
		return "accepted, but reads back otherwise";
	return r == -ENODEV ? "the device is gone" : strerror(-r);
}

/* It sleeps on, in the cycle that it was in. */
static void note_no_wake(Manager *m, const Step *s)
{
	ManagedDevice *md = s->md;

	if (s->mk->failures >= WAKE_TRIES)
		managed_mark_stuck(m, md);
	if (!managed_asleep(md))
		return;
	md->charged = true;
	md->transition_end_us = 0;
	if (!md->will_not_wake)
		managed_want_awake(m, md, "it did not wake at first");
}

static void note_failure(Manager *m, const Step *s)
{
	ManagedDevice *md = s->md;
	ManagedKnob *mk = s->mk;
	uint64_t wait_us = MIN(RETRY_FIRST_US << MIN(mk->failures, 6U), (uint64_t)RETRY_LONGEST_US);

	mk->failures++;
	mk->retry_at_us = manager_now_us(m) + wait_us;
	mk->current = s->found;
	/* a raise that demonstrably did not happen */
	if (s->raises && knob_fulfils(mk->knob, md->device, &s->was, &s->found))
		setting_take(&md->actual, &s->before, mk->knob->mechanism);
	free(md->problem);
	md->problem = text_printf("%s could not be set to %s: %s; tried again in %u s",
				  mk->knob->name, s->value.text, failure_text(s->result),
				  (unsigned)(wait_us / USEC_PER_SEC));
	manager_decide(m, md->device->name, "held as it is, the others make room", "%s",
		       md->problem ?: "out of memory");
	if (s->raises && mk->knob->mechanism == MECHANISM_CONDITION)
		note_no_wake(m, s);
	log_warning("%s: %s: the device is held as it is and the others make room",
		    md->device->name, md->problem ?: mk->knob->name);
}

/* IO came while the disk was on its way to sleep, and it is waking again. Without IO it is a disk
 * that obeys in words alone. */
static bool was_woken(const Step *s)
{
	return s->result == -EREMOTEIO && !s->raises && s->io_meanwhile &&
	       s->mk->knob->mechanism == MECHANISM_CONDITION;
}

static bool take_in(Manager *m, const Step *s)
{
	ManagedDevice *md = s->md;

	if (md->reset) {
		managed_reset(m, md);
		return true;
	}
	manager_hear_meter(m);
	if (was_woken(s)) {
		md->actual.condition = s->target.condition;
		managed_take_waking(m, md);
		return true;
	}
	if (s->wears && s->result < 0) {
		managed_refund(md, s->target.condition);
		md->charged = s->was_charged;
	}
	if (s->refused_why) {
		managed_refuse_sleep(m, md, s->refused_why);
		return true;
	}
	if (s->result == -ESTALE)
		adopt_original(m, s);
	else if (s->result < 0)
		note_failure(m, s);
	else
		note_success(m, s);
	return s->mk->knob->mechanism == MECHANISM_CONDITION ||
	       (s->result < 0 && s->result != -ESTALE);
}

static Step *step_free(Step *s)
{
	free(s->refused_why);
	free(s);
	return NULL;
}
DEFINE_CLEANUP(Step *, step_free);

bool step_finish(Step *step)
{
	_cleanup_(step_freep) Step *s = step;
	Manager *m = s->manager;
	ManagedDevice *md = s->md;
	bool overdue = managed_overdue(m, md), replan;

	md->busy = false;
	if (s->mk->knob->wakes)
		md->own_io_until_us = manager_now_us(m) + OWN_IO_US;
	m->fast_steps -= !s->job.slow;
	if (md->gone) {
		manager_forget_gone(m, md);
		return false;
	}
	replan = take_in(m, s);
	managed_wake_next(m, md);
	/* the target may have moved on meanwhile */
	managed_set_target(m, md, &md->target);
	return managed_leftovers_done(m, md) || replan || overdue;
}

static void step_done(Job *job)
{
	Manager *m = ((Step *)job)->manager;
	int result = ((Step *)job)->result;

	if (step_finish((Step *)job)) {
		manager_react(m, result < 0 ? "a knob failed" : "a slow saving has arrived");
	} else {
		manager_pump(m);
		manager_tell_changed(m);
	}
	manager_arm(m);
}
