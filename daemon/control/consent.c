/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/consent.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/printable.h"

/* Questions that are out at a time: the slow lane of the loop has many more threads. */
#define OUT_MOST 8
/* For so long a consent holds: until then the step has been taken, or is asked for anew. */
#define GIVEN_US (120 * USEC_PER_SEC)

static const Mechanism mechanisms[_HOOK_STEP_MAX] = {
	[HOOK_SPIN_DOWN] = MECHANISM_CONDITION,
	[HOOK_REDIRECT] = MECHANISM_REDIRECT,
};

int consent_step(const Managed *md, const HeldKnob *hk, const Tools *t)
{
	const Setting *target = &md->knobs.target;

	if (!t->config->hooks.ask || !t->config->hooks.timeout_us || t->stopping || !hk->pending ||
	    md->knobs.leftover || managed_asleep(md) || streq(hk->wanted.text, hk->original.text))
		return -1;
	if (hk->knob->mechanism == MECHANISM_CONDITION)
		return target->condition > CONDITION_IDLE_B ? HOOK_SPIN_DOWN : -1;
	return hk->knob->mechanism == MECHANISM_REDIRECT && target->redirect == REDIRECT_HOLD
		       ? HOOK_REDIRECT
		       : -1;
}

bool consent_is_under_way(const Managed *md, HookStep step)
{
	return md->errands.busy && md->errands.mechanism == mechanisms[step];
}

bool consent_is_wanted(const Managed *md, HookStep step, const Tools *t)
{
	for_each_knob(const HeldKnob, hk,
		      &md->knobs) if (consent_step(md, hk, t) == (int)step) return true;
	return false;
}

static bool is_given(const Managed *md, HookStep step)
{
	return md->rest.consents.of[step].state == CONSENT_GIVEN;
}

/* The disks of a pool stop together or not at all. */
static bool pool_awaits(const Managed *md, const Tools *t)
{
	for_each_device(const Managed, other,
			t->fleet) if (managed_in_one_pool(md, other) &&
				      !is_given(other, HOOK_SPIN_DOWN) &&
				      consent_is_wanted(other, HOOK_SPIN_DOWN, t)) return true;
	return false;
}

bool consent_is_awaited(const Managed *md, const HeldKnob *hk, const Tools *t)
{
	int step = consent_step(md, hk, t);

	return step >= 0 && (!is_given(md, step) || (step == HOOK_SPIN_DOWN && pool_awaits(md, t)));
}

bool consent_is_stale(const Managed *md, HookStep step, const Tools *t)
{
	const Consent *c = &md->rest.consents.of[step];

	return c->state == CONSENT_GIVEN && !consent_is_under_way(md, step) &&
	       (!consent_is_wanted(md, step, t) || t->now_us >= c->given_us + GIVEN_US);
}

static void put(Managed *md, Job *j)
{
	Consents *c = &md->rest.consents;

	j->next = NULL;
	if (c->first)
		c->last->next = j;
	else
		c->first = j;
	c->last = j;
}

bool consent_withdraw(Managed *md, HookStep step)
{
	Consents *c = &md->rest.consents;
	Job *before = NULL;

	for (Job *j = c->first; j; before = j, j = j->next) {
		if (!j->hook.asks || j->hook.step != step || j->hook.number != c->of[step].number)
			continue;
		*(before ? &before->next : &c->first) = j->next;
		if (c->last == j)
			c->last = before;
		job_free(j);
		c->of[step].state = CONSENT_NONE;
		return true;
	}
	return false;
}

/* False when out of memory. */
static bool put_question(Managed *md, const HookJob *what, char *question, const Tools *t)
{
	Job *j = question ? job_new_hook(md, &t->config->hooks, question) : NULL;

	if (!j) {
		log_oom();
		return false;
	}
	j->hook.step = what->step;
	j->hook.asks = what->asks;
	j->hook.vetoable = what->vetoable;
	j->hook.number = what->number;
	put(md, j);
	return true;
}

static void give(Consent *c, const Tools *t)
{
	c->state = CONSENT_GIVEN;
	c->given_us = t->now_us;
}

void consent_ask(Managed *md, HookStep step, char *told, bool waits, Tools *t)
{
	Consent *c = &md->rest.consents.of[step];
	HookJob what = { .step = step, .asks = true, .vetoable = waits, .number = ++c->number };
	char *question = text_printf("STORPOWER_EVENT=before\nSTORPOWER_MAY_VETO=%s\n%s",
				     waits ? "yes" : "no", told ?: "");

	free(c->told);
	c->told = told;
	c->state = CONSENT_ASKED;
	/* who cannot be asked is not waited for */
	if (!put_question(md, &what, question, t) || !waits)
		give(c, t);
}

void consent_waive(Managed *md, HookStep step, Tools *t)
{
	Consent *c = &md->rest.consents.of[step];

	if (c->state == CONSENT_ASKED)
		give(c, t);
}

void consent_end(Managed *md, HookStep step, const char *result, Tools *t)
{
	Consent *c = &md->rest.consents.of[step];
	HookJob what = { .step = step };
	_cleanup_free_ char *clean = NULL;

	if (c->state == CONSENT_NONE)
		return;
	c->state = CONSENT_NONE;
	if (!t->config->hooks.timeout_us) /* they are left out since then */
		return;
	clean = printable_copy(result);
	put_question(md, &what,
		     text_printf("STORPOWER_EVENT=after\nSTORPOWER_RESULT=%s\n%s", clean ?: "",
				 c->told ?: ""),
		     t);
}

static unsigned count_out(const Fleet *f)
{
	unsigned n = 0;

	for_each_device(const Managed, md, f) n += md->rest.consents.out;
	for (size_t i = 0; i < f->n_leaving; i++)
		n += f->leaving[i]->rest.consents.out;
	return n;
}

static void send_first(Managed *md, Tools *t)
{
	Consents *c = &md->rest.consents;
	Job *j = c->first;

	c->first = j->next;
	c->out = true;
	errands_send_hook(md, j, t);
}

void consent_send(Tools *t)
{
	unsigned n = count_out(t->fleet);

	if (t->stopping) /* nobody would be there for the answer */
		return;
	for_each_device(Managed, md, t->fleet)
	{
		if (n >= OUT_MOST)
			return;
		if (!md->rest.consents.first || md->rest.consents.out)
			continue;
		send_first(md, t);
		n++;
	}
}

/* "veto NAME: why", as storpower-hooks answers; NULL: it is none. */
static char *veto_of(const HookJob *h)
{
	const char *answer = h->answer ?: "";
	_cleanup_free_ char *text = strndup(answer, strcspn(answer, "\n"));
	const char *why = text && strncmp(text, "veto ", 5) == 0 ? strchr(text, ':') : NULL;

	if (!why)
		return NULL;
	make_printable(text);
	return text_printf("hook %.*s vetoed%s", (int)(why - text - 5), text + 5, why);
}

/* A service that is not there is no error: there are no hooks then. */
static void log_unanswered(const Managed *md, int result)
{
	if (result < 0 && result != -ENOENT)
		log_warning_errno(result,
				  "%s: the hooks did not answer, and nothing waits for them; see "
				  "\"systemctl status storpower-hooks.socket\"",
				  md->device->name);
}

Need consent_take(Managed *md, Job *j, Tools *t, char **ret_veto)
{
	const HookJob *h = &j->hook;
	Consents *all = &md->rest.consents;
	const Consent *c = &all->of[h->step];
	_cleanup_free_ char *veto = j->result < 0 ? NULL : veto_of(h);

	all->out = false;
	log_unanswered(md, j->result);
	if (!h->asks || h->number != c->number)
		return NOTHING_NEEDED;
	if (veto && c->state == CONSENT_ASKED && h->vetoable && t->config->hooks.timeout_us) {
		*ret_veto = TAKE_PTR(veto);
		return need(NEED_TOLD_PLAN, CAUSE_VETOED);
	}
	if (veto && (!h->vetoable || c->state == CONSENT_GIVEN))
		log_notice("%s: %s; the step goes on all the same, as a limit of class emergency "
			   "needs it",
			   md->device->name, veto);
	consent_waive(md, h->step, t);
	return need(NEED_STEPS, CAUSE_NONE);
}

void consent_done(Managed *md)
{
	Consents *c = &md->rest.consents;

	for (Job *j = c->first, *next; j; j = next) {
		next = j->next;
		job_free(j);
	}
	for (size_t i = 0; i < _HOOK_STEP_MAX; i++)
		free(c->of[i].told);
}
