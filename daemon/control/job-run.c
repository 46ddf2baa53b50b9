/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a worker does: the one place of control/ where devices and knobs are asked. */

#include "control/job.h"

#include <errno.h>
#include <string.h>

#define HOOK_ANSWER_US (2 * USEC_PER_SEC)

/* ---- probing ---- */

/* Where there is no one block device, that says more than what is missing of it. */
static void explain_block(const ProbeJob *p, const Knob *k, KnobFound *f)
{
	const unsigned block = MECHANISM_DEPTH | MECHANISM_CHUNK | MECHANISM_PACING;
	char *why = p->block_why_not && k->mechanism & block ? strdup(p->block_why_not) : NULL;

	if (!why)
		return;
	free(f->why_not);
	f->why_not = why;
}

/* Reads are steered to disks that stay up, and those of its pool do not. */
static int refuse_steering(const ProbeJob *p, const Knob *k, KnobFound *f)
{
	Offer *o = &p->found->offer;

	if (k->mechanism != MECHANISM_REDIRECT || !*p->pool || o->redirects_writes ||
	    !o->redirects_reads)
		return 0;
	o->redirects_reads = false;
	o->mechanisms &= ~(unsigned)MECHANISM_REDIRECT;
	f->why_not =
		text_printf("the disks of %s sleep as one: none is left to read from", p->pool);
	return -EOPNOTSUPP;
}

static void probe_knob(const ProbeJob *p, const Knob *k, Device *d, KnobFound *f)
{
	Offer *o = &p->found->offer;
	int r = k->probe(d, o, &f->why_not);

	if (r >= 0)
		r = refuse_steering(p, k, f);
	if (r < 0)
		explain_block(p, k, f);
	if (r >= 0) {
		r = k->read(d, &f->original);
		if (r < 0)
			f->why_not =
				text_printf("its present value cannot be read: %s", strerror(-r));
	}
	f->offered = r >= 0;
	f->current = f->original;
	if (f->offered)
		o->mechanisms |= k->mechanism;
}

/* What an earlier run found is the original, whatever stands there now. The knob is only given
 * back: what its probe makes of a capped value may be wrong, and is asked again then. A disk that
 * sleeps is let sleep. */
static void take_over(const RecordedKnob *rec, const Knob *k, Device *d, ProbeFound *found,
		      KnobFound *f)
{
	f->offered = f->left = true;
	f->original = rec->original;
	if (k->read(d, &f->current) < 0)
		f->current = (KnobValue){};
	if (k->mechanism == MECHANISM_REDIRECT && k->cache && k->cache(d, &found->cache) >= 0)
		found->has_cache = true;
}

/* -ENXIO: what it was set on is no longer there, though the device is. */
static bool went_away(const Knob *k, Device *d)
{
	KnobValue v;

	return k->read(d, &v) == -ENXIO;
}

static void probe_one(ProbeJob *p, size_t i, Device *d)
{
	const Knob *k = knob_registry[i];
	const RecordedKnob *rec = &p->recorded[i];
	KnobFound *f = &p->found->knobs[i];
	bool asleep = p->found->condition > CONDITION_IDLE_B;

	f->moot = rec->recorded &&
		  ((k->mechanism == MECHANISM_CONDITION && asleep) || went_away(k, d));
	if (rec->recorded && !f->moot)
		take_over(rec, k, d, p->found, f);
	else if (p->protected_why)
		f->why_not = text_printf("the device is protected: it %s", p->protected_why);
	else
		probe_knob(p, k, d, f);
}

static int run_probe(Job *j)
{
	ProbeJob *p = &j->probe;
	Device *d = j->device;
	Condition c;

	if (!p->redirects && d->ops->condition_get && d->ops->condition_get(d, &c) >= 0 &&
	    c > CONDITION_IDLE_B)
		p->found->condition = c;
	for (size_t i = 0; i < knob_count(); i++)
		if (!p->redirects || knob_registry[i]->mechanism == MECHANISM_REDIRECT)
			probe_one(p, i, d);
	return 0;
}

/* ---- one knob ---- */

static int turn_knob(Job *j)
{
	StepJob *s = &j->step;
	Device *d = j->device;
	int r = s->asks_pool && d->ops->may_sleep ? d->ops->may_sleep(d, &s->refused_why) : 0;

	if (r < 0)
		return r;
	if (s->first_touch) {
		r = j->knob->read(d, &s->found);
		if (r < 0)
			return r;
		if (!knob_fulfils(j->knob, d, &s->was, &s->found))
			return -ESTALE;
	}
	return knob_apply(j->knob, d, &s->value, &s->found);
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

/* A write that failed may have done something all the same. */
static int run_step(Job *j)
{
	StepJob *s = &j->step;
	uint64_t before = 0, after = 0;
	bool waiting;
	int r;

	s->io_meanwhile = !count_io(j->device, &before, &waiting);
	r = turn_knob(j);
	if (!s->io_meanwhile)
		s->io_meanwhile =
			!count_io(j->device, &after, &waiting) || waiting || after != before;
	if (r < 0 && r != -ESTALE && !s->refused_why && j->knob->read(j->device, &s->found) < 0)
		s->found = (KnobValue){};
	return r;
}

/* ---- the others ---- */

static int run_reread(Job *j)
{
	for (size_t i = 0; i < knob_count(); i++)
		if (j->reread.asked[i] &&
		    knob_registry[i]->read(j->device, &j->reread.found[i]) < 0)
			j->reread.found[i] = (KnobValue){};
	return 0;
}

static int run_wake_test(Job *j)
{
	WakeTestJob *t = &j->wake_test;
	Device *d = j->device;
	int r = d->ops->may_sleep ? d->ops->may_sleep(d, &t->text) : 0;

	t->refused = r < 0;
	return t->refused ? r : d->ops->wake_test(d, &t->seconds, &t->text);
}

static int run_look(Job *j)
{
	LookJob *l = &j->look;

	for (size_t i = 0; i < l->n; i++) {
		Device *d = l->devices[i];

		l->results[i] =
			d->ops->counters ? d->ops->counters(d, &l->counters[i]) : -EOPNOTSUPP;
	}
	return 0;
}

static int run_reads(Job *j)
{
	return j->device->ops->cache_reads(j->device, j->reads.behind, &j->reads.found);
}

/* The hooks have that time together, and who runs them a little more, to say which has used it up.
 */
static int run_hook(Job *j)
{
	HookJob *h = &j->hook;

	int r = h->ask(h->path, h->question, h->timeout_us + HOOK_ANSWER_US, &h->answer);

	return r >= 0 && !*h->answer ? -ENODATA : r;
}

int job_run(Job *j)
{
	switch (j->kind) {
	case JOB_PROBE: return run_probe(j);
	case JOB_STEP: return run_step(j);
	case JOB_REREAD: return run_reread(j);
	case JOB_WAKE_TEST: return run_wake_test(j);
	case JOB_LOOK: return run_look(j);
	case JOB_POWER: return j->device->ops->power(j->device, &j->watts);
	case JOB_CACHE: return j->knob->cache(j->device, &j->cache);
	case JOB_READS: return run_reads(j);
	case JOB_SENSOR: return sensor_read(j->sensor, &j->watts);
	case JOB_HOOK: return run_hook(j);
	case JOB_LEDGER: return ledger_desk_work(&j->ledger);
	}
	return -ENOSYS;
}

bool job_can_wake_test(const Device *d)
{
	return d->ops->wake_test;
}

bool job_can_read_power(const Device *d)
{
	return d->ops->power;
}

bool job_can_count_reads(const Device *d)
{
	return d->ops->cache_reads;
}

bool job_apply_wake_test(Device *d)
{
	return d->wake_untested && d->ops->wake_tested && d->ops->wake_tested(d) >= 0 &&
	       !d->wake_untested;
}
