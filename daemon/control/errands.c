/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/errands.h"

#include <errno.h>

#include "base/log.h"
#include "control/cache-hits.h"
#include "control/cache-watch.h"

static void begin(Managed *md, Job *j, Tools *t)
{
	md->errands.n_out++;
	outbox_put(t->outbox, j);
}

static void note_exclusive(Managed *md, const Job *j, Mechanism mechanism, const Tools *t)
{
	Errands *e = &md->errands;

	e->busy = true;
	e->overdue_told = false;
	e->began_us = t->now_us;
	e->mechanism = mechanism;
	e->raises = j->kind == JOB_STEP && j->step.raises;
	e->testing = j->kind == JOB_WAKE_TEST;
}

static void begin_exclusive(Managed *md, Job *j, Mechanism mechanism, Tools *t)
{
	note_exclusive(md, j, mechanism, t);
	begin(md, j, t);
}

void errands_fail_step(Managed *md, Job *j, int error, Tools *t)
{
	note_exclusive(md, j, j->knob->mechanism, t);
	md->errands.n_out++;
	outbox_fail(t->outbox, j, error, t->queue);
}

void errands_send_step(Managed *md, Job *j, Tools *t)
{
	begin_exclusive(md, j, j->knob->mechanism, t);
}

void errands_send_test(Managed *md, Job *j, Tools *t)
{
	begin_exclusive(md, j, MECHANISM_CONDITION, t);
}

void errands_ask(Managed *md, Errand what)
{
	md->errands.next |= what;
}

static bool send(Managed *md, Job *j, Tools *t)
{
	if (!j) {
		log_oom();
		return false;
	}
	begin_exclusive(md, j, 0, t);
	return true;
}

bool errands_send_reread(Managed *md, RereadReason why, Tools *t)
{
	if (md->errands.busy || !md->knobs.probed || !send(md, job_new_reread(md, why), t))
		return false;
	md->errands.reread_us = t->now_us;
	return true;
}

/* The same device, before it went and came back, has a job out yet. */
static bool has_predecessor(const Managed *md, const Fleet *f)
{
	for (size_t i = 0; i < f->n_leaving; i++)
		if (f->leaving[i]->errands.busy && streq(f->leaving[i]->device->id, md->device->id))
			return true;
	return false;
}

static void send_one(Managed *md, Errand what, Tools *t)
{
	bool sent;

	if (what == ERRAND_PROBE || what == ERRAND_REDIRECTS)
		sent = send(md, job_new_probe(md, t->journal, what == ERRAND_REDIRECTS), t);
	else
		sent = errands_send_reread(md, what == ERRAND_RESET ? REREAD_RESET : REREAD_SUSPECT,
					   t);
	if (sent)
		md->errands.next &= ~(unsigned)what;
}

/* A device that is being given back is asked anew when that is done. */
static bool may_go(const Managed *md, Errand what)
{
	const KnobSet *set = &md->knobs;

	if (!(md->errands.next & what))
		return false;
	if (what == ERRAND_PROBE)
		return !knob_set_touched(md);
	if (what == ERRAND_REDIRECTS)
		return set->probed && !set->leftover && set->actual.redirect == REDIRECT_AS_FOUND;
	return set->probed;
}

void errands_send_next(Managed *md, Tools *t)
{
	static const Errand order[] = { ERRAND_RESET, ERRAND_REREAD, ERRAND_PROBE,
					ERRAND_REDIRECTS };

	const Errands *e = &md->errands;

	if (!e->next || e->busy || has_predecessor(md, t->fleet) ||
	    (e->refused && t->now_us < e->began_us + LOOK_US))
		return;
	for (size_t i = 0; i < ELEMENTSOF(order); i++)
		if (may_go(md, order[i])) {
			send_one(md, order[i], t);
			return;
		}
}

void errands_send_power(Managed *md, Tools *t)
{
	Job *j;

	if (!job_can_read_power(md->device) || md->errands.reading_power ||
	    md->trust.measures_not || managed_asleep(md))
		return;
	j = job_new_power(md);
	if (!j)
		return;
	md->errands.reading_power = true;
	begin(md, j, t);
}

void errands_send_cache(Managed *md, Tools *t)
{
	const HeldKnob *hk = knob_set_redirect(md);
	Job *j;

	if (!hk || !hk->knob->cache || md->errands.reading_cache ||
	    !cache_watch_is_due(md, t->now_us))
		return;
	j = job_new_cache(md);
	if (!j)
		return;
	md->errands.reading_cache = true;
	begin(md, j, t);
}

void errands_send_reads(Managed *md, Tools *t)
{
	Job *j;

	if (!job_can_count_reads(md->device) || md->errands.counting_reads ||
	    !cache_hits_are_due(md, t->now_us))
		return;
	j = job_new_reads(md);
	if (!j)
		return;
	md->errands.counting_reads = true;
	begin(md, j, t);
}

void errands_send_hook(Managed *md, Job *j, Tools *t)
{
	begin(md, j, t);
}

static void look_alone(Managed *md, Tools *t, bool peeks)
{
	Job *j = job_new_look(1, peeks);

	if (!j)
		return;
	job_look_at(j, md);
	md->errands.looks.alone = true;
	begin(md, j, t);
}

static void look_together(Managed *md, Job *j)
{
	job_look_at(j, md);
	md->errands.looks.together = true;
	md->errands.n_out++;
}

/* Whoever did not come back in time, or was with one that did not, is looked at alone until it
 * does: a device that hangs hides no other. */
void errands_send_looks(Tools *t, bool (*due)(const Managed *md, const Tools *t), bool peeks)
{
	Job *together = t->fleet->n ? job_new_look(t->fleet->n, peeks) : NULL;

	if (!together)
		return;
	for_each_device(Managed, md, t->fleet)
	{
		if (!due(md, t))
			continue;
		md->errands.looks.late |= md->errands.looks.together;
		if (!md->errands.looks.late)
			look_together(md, together);
		else if (!md->errands.looks.alone)
			look_alone(md, t, peeks);
	}
	together->look.together = true;
	if (together->look.n)
		outbox_put(t->outbox, together);
	else
		job_free(together);
}

unsigned errands_looks_out(const Fleet *f)
{
	unsigned n = 0;

	for_each_device(const Managed, md, f) n +=
		md->errands.looks.together && !md->errands.looks.late;
	return n;
}

static bool is_exclusive(JobKind k)
{
	return k == JOB_STEP || k == JOB_PROBE || k == JOB_REREAD || k == JOB_WAKE_TEST;
}

void errands_take_back(Managed *md, const Job *j)
{
	Errands *e = &md->errands;

	e->n_out--;
	if (is_exclusive(j->kind)) {
		e->busy = e->testing = false;
		e->refused = j->refused;
	}
	if (j->kind == JOB_POWER)
		e->reading_power = false;
	if (j->kind == JOB_CACHE)
		e->reading_cache = false;
	if (j->kind == JOB_READS)
		e->counting_reads = false;
	if (j->kind == JOB_LOOK && j->look.together)
		e->looks.together = false;
	if (j->kind == JOB_LOOK && !j->look.together) {
		e->looks.alone = false;
		e->looks.late = e->looks.together;
	}
}

void errands_note_gone(Managed *md)
{
	md->errands.gone = true;
}

bool errands_overdue(const Managed *md, uint64_t now_us)
{
	return md->errands.busy && now_us >= md->errands.began_us + OVERDUE_US;
}

bool errands_clear_due(Managed *md, uint64_t now_us)
{
	if (!errands_overdue(md, now_us) || md->errands.overdue_told)
		return false;
	md->errands.overdue_told = true;
	return true;
}
