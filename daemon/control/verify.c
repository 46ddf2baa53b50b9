/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/verify.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"

#define PATIENCE_US (10 * USEC_PER_SEC)
#define NO_ANSWER   "(it does not answer)"

struct Verification {
	Verification *next;
	uint64_t until_us;
	VerifyDone done;
	void *userdata;
	char **awaited; /* names of the devices that have not answered */
	size_t n_awaited;
	VerifyResult result;
};

static void add_difference(Verification *v, const char *device, const char *knob,
			   const char *wanted, const char *found)
{
	VerifyDifference *d = ARRAY_GROW(v->result.differences, v->result.n);

	if (!d)
		return;
	snprintf(d->device, sizeof(d->device), "%s", device);
	snprintf(d->knob, sizeof(d->knob), "%s", knob);
	snprintf(d->wanted.text, sizeof(d->wanted.text), "%s", wanted);
	snprintf(d->found.text, sizeof(d->found.text), "%s", found);
}

static void count_touched(Verification *v, const Managed *md)
{
	for_each_knob(const HeldKnob, hk, &md->knobs) v->result.checked += hk->touched;
}

static void add_differences(Verification *v, const Managed *md, const Job *j)
{
	for (size_t i = 0; i < knob_count(); i++) {
		const HeldKnob *hk = &md->knobs.knobs[i];
		const KnobValue *found = &j->reread.found[i];

		/* what was never touched is its owner's to change */
		if (!hk->offered || !hk->touched)
			continue;
		if (!*found->text)
			add_difference(v, md->device->name, hk->knob->name, hk->wanted.text,
				       "(cannot be read)");
		else if (!knob_fulfils(hk->knob, md->device, &hk->current, found))
			add_difference(v, md->device->name, hk->knob->name, hk->wanted.text,
				       found->text);
	}
}

static bool forget_awaited(Verification *v, const char *name)
{
	for (size_t i = 0; i < v->n_awaited; i++)
		if (streq(v->awaited[i], name)) {
			free(v->awaited[i]);
			v->awaited[i] = v->awaited[--v->n_awaited];
			return true;
		}
	return false;
}

void verify_take(Control *c, const Job *j)
{
	for (Verification *v = c->waiters.verifications; v; v = v->next)
		if (j->reread.why != REREAD_RESET && j->reread.why != REREAD_DRIFTING &&
		    forget_awaited(v, j->md->device->name))
			add_differences(v, j->md, j);
}

void verify_forget(Control *c, const char *device)
{
	for (Verification *v = c->waiters.verifications; v; v = v->next)
		(void)forget_awaited(v, device);
}

static void verification_free(Verification *v)
{
	for (size_t i = 0; i < v->n_awaited; i++)
		free(v->awaited[i]);
	free(v->awaited);
	free(v->result.differences);
	free(v);
}

static int await(Verification *v, const Managed *md)
{
	char **slot = ARRAY_GROW(v->awaited, v->n_awaited);

	if (!slot)
		return -ENOMEM;
	*slot = strdup(md->device->name);
	if (*slot)
		return 0;
	v->n_awaited--;
	return -ENOMEM;
}

static int ask(Verification *v, Managed *md, Tools *t)
{
	if (errands_overdue(md, t->now_us))
		add_difference(v, md->device->name, "", "", NO_ANSWER);
	if (errands_overdue(md, t->now_us) || !knob_set_touched(md))
		return 0;
	/* of one that is busy what it says then counts */
	if (!errands_send_reread(md, REREAD_VERIFY, t))
		errands_ask(md, ERRAND_REREAD);
	return await(v, md);
}

int verify_begin(Control *c, VerifyDone done, void *userdata)
{
	Verification *v = calloc(1, sizeof(*v));

	if (!v)
		return -ENOMEM;
	*v = (Verification){ .until_us = c->tools.now_us + PATIENCE_US,
			     .done = done,
			     .userdata = userdata,
			     .next = c->waiters.verifications };
	for_each_device(Managed, md, &c->fleet)
	{
		count_touched(v, md);
		if (ask(v, md, &c->tools) < 0) {
			verification_free(v);
			return -ENOMEM;
		}
	}
	c->waiters.verifications = v;
	return 0;
}

static void answer(Verification *v)
{
	for (size_t i = 0; i < v->n_awaited; i++)
		add_difference(v, v->awaited[i], "", "", NO_ANSWER);
	v->done(&v->result, v->userdata);
	verification_free(v);
}

static void tell(Control *c, uint64_t now_us)
{
	for (Verification **at = &c->waiters.verifications; *at;) {
		Verification *v = *at;

		if (v->n_awaited && now_us < v->until_us) {
			at = &v->next;
			continue;
		}
		*at = v->next;
		answer(v);
	}
}

void verify_tell(Control *c)
{
	tell(c, c->tools.now_us);
}

void verify_done(Control *c)
{
	tell(c, USEC_NEVER);
}

uint64_t verify_due_us(const Control *c)
{
	uint64_t due_us = USEC_NEVER;

	for (const Verification *v = c->waiters.verifications; v; v = v->next)
		due_us = MIN(due_us, v->until_us);
	return due_us;
}
