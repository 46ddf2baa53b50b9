/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A device may have its power-on values again (a reset), or somebody else's: what its knobs say now
 * is read off the loop, because a drive that has just come back may take its time. */

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "control/manager-internal.h"

#define DRIFT_US (5 * USEC_PER_SEC)

typedef struct Reread {
	Job job; /* first */
	Manager *manager;
	ManagedDevice *md;
	const char *why;
	bool reset;
	KnobValue found[]; /* of each knob; "" where it could not be read */
} Reread;

/* What a knob has set lives in the device, and a reset takes it. */
static bool lives_in_device(const ManagedKnob *mk)
{
	return mk->touched && mk->knob->survives_reboot &&
	       mk->knob->mechanism != MECHANISM_CONDITION;
}

static void reread_run(Job *job)
{
	Reread *r = (Reread *)job;

	for (size_t i = 0; i < knob_count(); i++) {
		const ManagedKnob *mk = &r->md->knobs[i];

		if (mk->offered && mk->knob->read(r->md->device, &r->found[i]) < 0)
			r->found[i] = (KnobValue){};
	}
}

static bool holds(const ManagedDevice *md, const ManagedKnob *mk)
{
	return *mk->current.text && knob_fulfils(mk->knob, md->device, &mk->wanted, &mk->current);
}

/* A knob that waits for its turn has lost nothing while what it held until then is there yet. */
static bool is_lost(const ManagedDevice *md, const ManagedKnob *mk, const KnobValue *before)
{
	if (!mk->offered || !mk->touched || holds(md, mk))
		return false;
	return !mk->pending || !*before->text || !*mk->current.text ||
	       !knob_fulfils(mk->knob, md->device, before, &mk->current);
}

/* What a knob had set and no longer holds counts as gone. True: there is something. A parked drive
 * does not show what a reset took: it is written anew in any case. */
static bool take_value(ManagedDevice *md, size_t i, const Reread *r)
{
	ManagedKnob *mk = &md->knobs[i];
	KnobValue before = mk->current;

	if (mk->offered && (*r->found[i].text || mk->touched))
		mk->current = r->found[i];
	if (r->reset && lives_in_device(mk))
		mk->current = (KnobValue){};
	if (!is_lost(md, mk, &before))
		return false;
	setting_take(&md->actual, &SETTING_AS_FOUND, mk->knob->mechanism);
	return true;
}

/* By somebody's IO or command, a moment ago: its condition is not to be set again. */
static bool was_woken(const ManagedDevice *md, const Reread *r)
{
	for (size_t i = 0; i < knob_count() && !r->reset; i++) {
		int c = condition_from_name(r->found[i].text);

		if (md->knobs[i].knob->mechanism == MECHANISM_CONDITION && c >= 0)
			return c <= CONDITION_IDLE_B && c < (int)md->actual.condition;
	}
	return false;
}

/* True: something was lost. */
static bool take_in(Manager *m, ManagedDevice *md, const Reread *r)
{
	bool lost = false;

	if (was_woken(md, r))
		managed_take_waking(m, md);
	for (size_t i = 0; i < knob_count(); i++)
		lost |= take_value(md, i, r);
	/* which also settles what still holds */
	managed_set_target(m, md, &md->target);
	if (!lost)
		return false;
	md->has_counters = false;
	manager_decide(m, md->device->name, r->why, "what was lost is set again");
	log_notice("%s: %s: what was lost is set again", md->device->name, r->why);
	return true;
}

static void reread_done(Job *job)
{
	_cleanup_free_ Reread *r = (Reread *)job;
	Manager *m = r->manager;
	ManagedDevice *md = r->md;

	md->busy = false;
	m->fast_steps--;
	if (md->gone) {
		manager_forget_gone(m, md);
		return;
	}
	if (md->reset) { /* once more, meanwhile */
		managed_reset(m, md);
		return;
	}
	if (take_in(m, md, r) || managed_leftovers_done(m, md) || r->reset) {
		manager_react(m, r->why);
	} else {
		manager_pump(m);
		manager_tell_changed(m);
	}
	manager_arm(m);
}

/* Until it has been read, what lives in the device counts as lost. */
static void expect_the_worst(Manager *m, ManagedDevice *md)
{
	for (size_t i = 0; i < knob_count(); i++)
		if (lives_in_device(&md->knobs[i]))
			setting_take(&md->actual, &SETTING_AS_FOUND, md->knobs[i].knob->mechanism);
	managed_update_cap(m, md);
}

static void begin(Manager *m, ManagedDevice *md, const char *why, bool reset)
{
	Reread *r = calloc(1, sizeof(*r) + knob_count() * sizeof(r->found[0]));

	if (!r) {
		log_oom();
		return;
	}
	r->job = (Job){ .run = reread_run, .done = reread_done };
	r->manager = m;
	r->md = md;
	r->why = why;
	r->reset = reset;
	md->busy = true;
	md->step_began_us = md->reread_us = manager_now_us(m);
	m->fast_steps++;
	if (m->loop->submit(m->loop, &r->job) < 0) {
		reread_run(&r->job);
		reread_done(&r->job);
	}
}

void managed_reread(Manager *m, ManagedDevice *md, const char *why)
{
	if (md->busy)
		md->reset = true; /* the worker has the device: when it is done */
	else
		begin(m, md, why, false);
}

void managed_reset(Manager *m, ManagedDevice *md)
{
	if (md->busy) {
		md->reset = true;
		return;
	}
	md->reset = false;
	if (!m->event_us)
		m->event_us = manager_now_us(m);
	expect_the_worst(m, md);
	begin(m, md, "a device was reset", true);
}

void managed_reread_drifting(Manager *m, ManagedDevice *md)
{
	if (md->busy || manager_now_us(m) < md->reread_us + DRIFT_US)
		return;
	for (size_t i = 0; i < knob_count(); i++)
		if (md->knobs[i].touched && md->knobs[i].knob->drifts) {
			begin(m, md, "somebody else has changed it", false);
			return;
		}
}
