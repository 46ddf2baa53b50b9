/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A device may have its power-on values again (a reset), or somebody else's: what its knobs say now
 * is read off the loop, because a drive that has just come back may take its time. */

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "manager-internal.h"

typedef struct Reread {
	Job job; /* first */
	Manager *manager;
	ManagedDevice *md;
	const char *why;
	KnobValue found[]; /* of each knob; "" where it could not be read */
} Reread;

static void reread_run(Job *job)
{
	Reread *r = (Reread *)job;

	for (size_t i = 0; i < knob_count(); i++) {
		const ManagedKnob *mk = &r->md->knobs[i];

		if (mk->offered && mk->knob->read(r->md->device, &r->found[i]) < 0)
			r->found[i] = (KnobValue){};
	}
}

/* What a knob had set is still so, or else counts as gone. */
static void take_found(ManagedDevice *md, ManagedKnob *mk, const KnobValue *found)
{
	bool holds = *found->text && knob_fulfils(mk->knob, md->device, &mk->wanted, found);

	if (*found->text)
		mk->current = *found;
	if (mk->touched)
		setting_take(&md->actual, holds ? &md->target : &SETTING_AS_FOUND,
			     mk->knob->mechanism);
}

static void take_in(Manager *m, ManagedDevice *md, const Reread *r)
{
	for (size_t i = 0; i < knob_count(); i++)
		if (md->knobs[i].offered)
			take_found(md, &md->knobs[i], &r->found[i]);
	md->has_counters = false;
	managed_set_target(m, md, &md->target);
	manager_decide(m, md->device->name, r->why, "what was lost is set again");
	log_notice("%s: %s: what was lost is set again", md->device->name, r->why);
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
		md->reset = false;
		managed_reread(m, md, r->why);
		return;
	}
	take_in(m, md, r);
	managed_leftovers_done(m, md);
	manager_react(m, r->why);
}

/* Until it has been read, what lives in the device counts as lost. */
static void expect_the_worst(Manager *m, ManagedDevice *md)
{
	for (size_t i = 0; i < knob_count(); i++)
		if (md->knobs[i].touched && md->knobs[i].knob->survives_reboot &&
		    md->knobs[i].knob->mechanism != MECHANISM_CONDITION)
			setting_take(&md->actual, &SETTING_AS_FOUND, md->knobs[i].knob->mechanism);
	managed_update_cap(m, md);
}

void managed_reread(Manager *m, ManagedDevice *md, const char *why)
{
	Reread *r;

	if (md->busy) {
		md->reset = true; /* the worker has the device: when it is done */
		return;
	}
	r = calloc(1, sizeof(*r) + knob_count() * sizeof(r->found[0]));
	if (!r) {
		log_oom();
		return;
	}
	r->job = (Job){ .run = reread_run, .done = reread_done };
	r->manager = m;
	r->md = md;
	r->why = why;
	md->busy = true;
	md->step_began_us = manager_now_us(m);
	m->fast_steps++;
	if (!m->event_us)
		m->event_us = md->step_began_us;
	expect_the_worst(m, md);
	if (m->loop->submit(m->loop, &r->job) < 0) {
		reread_run(&r->job);
		reread_done(&r->job);
	}
}
