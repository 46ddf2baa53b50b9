/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/job.h"

#include <errno.h>
#include <string.h>

/* What a worker finds out of its job by: the Work lies in it. */
static Job *job_of(Work *w)
{
	return (Job *)((char *)w - offsetof(Job, work));
}

static void on_run(Work *w)
{
	Job *j = job_of(w);

	j->result = job_run(j);
}

static void on_done(Work *w)
{
	Job *j = job_of(w);

	queue_add(j->queue, &j->event);
}

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
	p->pool = strdup(d->pool);
	p->protected_why = copy_text(d->protected_why);
	p->block_why_not = copy_text(d->block_why_not);
	p->recorded = calloc(knob_count(), sizeof(*p->recorded));
	p->found = calloc(1, sizeof(*p->found) + knob_count() * sizeof(p->found->knobs[0]));
	if (!p->pool || !p->recorded || !p->found)
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

/* What others may change is asked for often, and alone: no command goes to the device for it. */
static bool is_asked(const HeldKnob *hk, RereadReason why)
{
	return hk->offered && (why != REREAD_DRIFTING || (hk->touched && hk->knob->drifts));
}

Job *job_new_reread(Managed *md, RereadReason why)
{
	_cleanup_(job_freep) Job *j = job_new(JOB_REREAD, md, true);

	if (!j)
		return NULL;
	j->counted = true;
	j->reread.why = why;
	j->reread.asked = calloc(knob_count(), sizeof(bool));
	j->reread.found = calloc(knob_count(), sizeof(KnobValue));
	if (!j->reread.asked || !j->reread.found)
		return NULL;
	for (size_t i = 0; i < knob_count(); i++)
		j->reread.asked[i] = is_asked(&md->knobs.knobs[i], why);
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

Job *job_new_reads(Managed *md)
{
	_cleanup_(job_freep) Job *j = job_new(JOB_READS, md, true);

	if (!j)
		return NULL;
	j->reads.behind = strdup(md->device->behind);
	return j->reads.behind ? TAKE_PTR(j) : NULL;
}

Job *job_new_sensor(Sensor *s)
{
	Job *j = job_new(JOB_SENSOR, NULL, true);

	if (j)
		j->sensor = s;
	return j;
}

Job *job_new_ledger(LedgerDesk *desk)
{
	Job *j = job_new(JOB_LEDGER, NULL, true);

	if (j)
		j->ledger.desk = desk;
	return j;
}

Job *job_new_hook(Managed *md, const HooksConfig *config, char *question)
{
	_cleanup_(job_freep) Job *j = job_new(JOB_HOOK, md, true);

	if (!j) {
		free(question);
		return NULL;
	}
	j->hook = (HookJob){ .ask = config->ask,
			     .path = strdup(config->path),
			     .timeout_us = config->timeout_us,
			     .question = question };
	return j->hook.path && question ? TAKE_PTR(j) : NULL;
}

static void hook_done(HookJob *h)
{
	free(h->path);
	free(h->question);
	free(h->answer);
}

static void probe_done(ProbeJob *p)
{
	for (size_t i = 0; p->found && i < knob_count(); i++)
		free(p->found->knobs[i].why_not);
	free(p->found);
	free(p->recorded);
	free(p->pool);
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
	if (j->kind == JOB_READS)
		free(j->reads.behind);
	if (j->kind == JOB_LEDGER)
		ledger_job_done(&j->ledger);
	if (j->kind == JOB_HOOK)
		hook_done(&j->hook);
	if (j->kind == JOB_REREAD) {
		free(j->reread.asked);
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
