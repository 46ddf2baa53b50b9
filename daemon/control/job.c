/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/job.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"

/* What a worker finds out of its job by: the Work lies in it. */
static Job *job_of(Work *w)
{
	return (Job *)((char *)w - offsetof(Job, work));
}

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
static int refuse_steering(const ProbeJob *p, const Knob *k, const Device *d, KnobFound *f)
{
	Offer *o = &p->found->offer;

	if (k->mechanism != MECHANISM_REDIRECT || !p->in_pool || o->redirects_writes ||
	    !o->redirects_reads)
		return 0;
	o->redirects_reads = false;
	o->mechanisms &= ~(unsigned)MECHANISM_REDIRECT;
	f->why_not =
		text_printf("the disks of %s sleep as one: none is left to read from", d->pool);
	return -EOPNOTSUPP;
}

static void probe_knob(const ProbeJob *p, const Knob *k, Device *d, KnobFound *f)
{
	Offer *o = &p->found->offer;
	int r = k->probe(d, o, &f->why_not);

	if (r >= 0)
		r = refuse_steering(p, k, d, f);
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

static void probe_one(ProbeJob *p, size_t i, Device *d)
{
	const Knob *k = knob_registry[i];
	const RecordedKnob *rec = &p->recorded[i];
	KnobFound *f = &p->found->knobs[i];
	bool asleep = p->found->condition > CONDITION_IDLE_B;

	f->moot = rec->recorded && k->mechanism == MECHANISM_CONDITION && asleep;
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
		if (j->reread.offered[i] &&
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

static int run(Job *j)
{
	switch (j->kind) {
	case JOB_PROBE: return run_probe(j);
	case JOB_STEP: return run_step(j);
	case JOB_REREAD: return run_reread(j);
	case JOB_WAKE_TEST: return run_wake_test(j);
	case JOB_LOOK: return run_look(j);
	case JOB_POWER: return j->device->ops->power(j->device, &j->watts);
	case JOB_CACHE: return j->knob->cache(j->device, &j->cache);
	case JOB_SENSOR: return sensor_read(j->sensor, &j->watts);
	}
	return -ENOSYS;
}

static void on_run(Work *w)
{
	Job *j = job_of(w);

	j->result = run(j);
}

static void on_done(Work *w)
{
	Job *j = job_of(w);

	queue_add(j->queue, &j->event);
}

/* ---- making and sending ---- */

static Job *job_new(JobKind kind, Managed *md, bool slow)
{
	Job *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->event.kind = EVENT_JOB_DONE;
	j->work = (Work){ .slow = slow, .run = on_run, .done = on_done };
	j->kind = kind;
	j->md = md;
	j->device = md ? device_ref(md->device) : NULL;
	return j;
}

static char *copy_text(const char *s)
{
	return s ? strdup(s) : NULL;
}

Job *job_new_probe(Managed *md, const Journal *journal, bool redirects)
{
	_cleanup_(job_freep) Job *j = job_new(JOB_PROBE, md, true);
	const Device *d = md->device;
	ProbeJob *p;

	if (!j)
		return NULL;
	p = &j->probe;
	p->redirects = redirects;
	p->in_pool = *d->pool;
	p->protected_why = copy_text(d->protected_why);
	p->block_why_not = copy_text(d->block_why_not);
	p->recorded = calloc(knob_count(), sizeof(*p->recorded));
	p->found = calloc(1, sizeof(*p->found) + knob_count() * sizeof(p->found->knobs[0]));
	if (!p->recorded || !p->found)
		return NULL;
	for (size_t i = 0; i < knob_count() && !redirects; i++) {
		const KnobValue *was = journal_original(journal, d->id, knob_registry[i]->name);

		p->recorded[i].recorded = was != NULL;
		if (was)
			p->recorded[i].original = *was;
	}
	if (redirects) {
		p->found->offer = md->knobs.offer;
		p->found->offer.redirects_writes = p->found->offer.redirects_reads = false;
		p->found->offer.mechanisms &= ~(unsigned)MECHANISM_REDIRECT;
	}
	return TAKE_PTR(j);
}

Job *job_new_step(Managed *md, size_t knob, bool raises)
{
	const HeldKnob *hk = &md->knobs.knobs[knob];
	Job *j = job_new(JOB_STEP, md, hk->knob->slow);

	if (!j)
		return NULL;
	j->knob = hk->knob;
	j->counted = !hk->knob->slow;
	j->step = (StepJob){
		.index = knob,
		.first_touch = !hk->recorded,
		.raises = raises,
		.asks_pool = !raises && hk->knob->mechanism == MECHANISM_CONDITION &&
			     md->knobs.target.condition > CONDITION_IDLE_B,
		.before = md->knobs.actual,
		.target = md->knobs.target,
		.value = hk->wanted,
		.was = hk->current,
	};
	return j;
}

Job *job_new_reread(Managed *md, RereadReason why)
{
	_cleanup_(job_freep) Job *j = job_new(JOB_REREAD, md, false);

	if (!j)
		return NULL;
	j->counted = true;
	j->reread.why = why;
	j->reread.offered = calloc(knob_count(), sizeof(bool));
	j->reread.found = calloc(knob_count(), sizeof(KnobValue));
	if (!j->reread.offered || !j->reread.found)
		return NULL;
	for (size_t i = 0; i < knob_count(); i++)
		j->reread.offered[i] = md->knobs.knobs[i].offered;
	return TAKE_PTR(j);
}

Job *job_new_wake_test(Managed *md, WakeTestDone done, void *userdata)
{
	Job *j = job_new(JOB_WAKE_TEST, md, true);

	if (j)
		j->wake_test = (WakeTestJob){ .done = done, .userdata = userdata };
	return j;
}

Job *job_new_look(size_t room, bool peeks)
{
	_cleanup_(job_freep) Job *j = job_new(JOB_LOOK, NULL, true);

	if (!j)
		return NULL;
	j->look = (LookJob){ .mds = calloc(room, sizeof(Managed *)),
			     .devices = calloc(room, sizeof(Device *)),
			     .counters = calloc(room, sizeof(DeviceCounters)),
			     .results = calloc(room, sizeof(int)),
			     .peeks = peeks };
	return j->look.mds && j->look.devices && j->look.counters && j->look.results ? TAKE_PTR(j)
										     : NULL;
}

void job_look_at(Job *j, Managed *md)
{
	j->look.mds[j->look.n] = md;
	j->look.devices[j->look.n++] = device_ref(md->device);
}

Job *job_new_power(Managed *md)
{
	return job_new(JOB_POWER, md, true);
}

Job *job_new_cache(Managed *md)
{
	const HeldKnob *hk = knob_set_redirect(md);
	Job *j = job_new(JOB_CACHE, md, true);

	if (j)
		j->knob = hk->knob;
	return j;
}

Job *job_new_sensor(Sensor *s, size_t index)
{
	Job *j = job_new(JOB_SENSOR, NULL, true);

	if (!j)
		return NULL;
	j->sensor = s;
	j->index = index;
	return j;
}

static void probe_done(ProbeJob *p)
{
	for (size_t i = 0; p->found && i < knob_count(); i++)
		free(p->found->knobs[i].why_not);
	free(p->found);
	free(p->recorded);
	free(p->protected_why);
	free(p->block_why_not);
}

static void look_done(LookJob *l)
{
	for (size_t i = 0; l->devices && i < l->n; i++)
		device_unref(l->devices[i]);
	free(l->mds);
	free(l->devices);
	free(l->counters);
	free(l->results);
}

Job *job_free(Job *j)
{
	if (!j)
		return NULL;
	if (j->kind == JOB_PROBE)
		probe_done(&j->probe);
	if (j->kind == JOB_STEP)
		free(j->step.refused_why);
	if (j->kind == JOB_WAKE_TEST)
		free(j->wake_test.text);
	if (j->kind == JOB_LOOK)
		look_done(&j->look);
	if (j->kind == JOB_REREAD) {
		free(j->reread.offered);
		free(j->reread.found);
	}
	device_unref(j->device);
	free(j);
	return NULL;
}

void outbox_put(Outbox *o, Job *j)
{
	j->next = NULL;
	if (!o->first)
		o->last = &o->first;
	*o->last = j;
	o->last = &j->next;
	o->counted_out += j->counted;
}

void outbox_take_back(Outbox *o, const Job *j)
{
	o->counted_out -= j->counted;
}

static void come_back(Job *j, int error, EventQueue *q)
{
	j->result = error;
	j->refused = true;
	if (j->kind == JOB_STEP)
		j->step.found = j->step.was;
	if (j->kind == JOB_WAKE_TEST)
		j->wake_test.refused = true;
	queue_add(q, &j->event);
}

void outbox_fail(Outbox *o, Job *j, int error, EventQueue *q)
{
	o->counted_out += j->counted;
	come_back(j, error, q);
}

void outbox_send(Outbox *o, Loop *l, EventQueue *q)
{
	Job *j = o->first, *next;

	o->first = NULL;
	for (; j; j = next) {
		int r;

		next = j->next;
		j->queue = q;
		r = l->submit(l, &j->work);
		if (r < 0)
			come_back(j, r, q);
	}
}

bool job_can_wake_test(const Device *d)
{
	return d->ops->wake_test;
}

bool job_can_read_power(const Device *d)
{
	return d->ops->power;
}

bool job_apply_wake_test(Device *d)
{
	return d->wake_untested && d->ops->wake_tested && d->ops->wake_tested(d) >= 0 &&
	       !d->wake_untested;
}
