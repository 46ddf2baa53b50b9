/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/hooks.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "control/caps.h"
#include "control/consent.h"
#include "control/gather.h"
#include "control/rest.h"

static const char *const step_names[_HOOK_STEP_MAX] = {
	[HOOK_SPIN_DOWN] = "spin-down",
	[HOOK_REDIRECT] = "redirect",
};

static void write_claim(FILE *f, const Control *c, const Claim *claim)
{
	fprintf(f, "STORPOWER_CLASS=%s\nSTORPOWER_SOURCE=%s\nSTORPOWER_REASON=%s\n",
		claim ? claim_class_name(claim->class) : "", claim ? claim->source : "",
		claim ? claim->reason : "");
	if (isfinite(c->limits.budget_w))
		fprintf(f, "STORPOWER_BUDGET_WATTS=%.1f\n", c->limits.budget_w);
	else
		fputs("STORPOWER_BUDGET_WATTS=\n", f);
}

static void write_change(FILE *f, const Managed *md, uint64_t now_us)
{
	char was[128], next[128];

	fprintf(f, "STORPOWER_OLD_SETTING=%s\nSTORPOWER_NEW_SETTING=%s\n",
		setting_text(was, sizeof(was), &md->knobs.actual),
		setting_text(next, sizeof(next), &md->knobs.target));
	fprintf(f, "STORPOWER_OLD_WATTS=%.1f\nSTORPOWER_NEW_WATTS=%.1f\n", md->caps.now_w,
		caps_of(md, &md->knobs.target, now_us));
}

/* Of the node, by the plan in force. */
static double loss_percent(const Plan *p)
{
	return p && p->full_mb_s > 0 ? 100 * MAX(1 - p->mb_s / p->full_mb_s, 0.0) : 0;
}

/* All that is the same before and after. NULL when out of memory. */
static char *describe(const Control *c, const Managed *md, HookStep step, const Claim *claim)
{
	const Device *d = md->device;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	fprintf(f, "STORPOWER_STEP=%s\nSTORPOWER_DEVICE=%s\n", step_names[step], d->name);
	fprintf(f, "STORPOWER_NODE_DEVICE=%s\nSTORPOWER_POOL=%s\n", d->node, d->pool);
	write_claim(f, c, claim);
	write_change(f, md, c->tools.now_us);
	fprintf(f, "STORPOWER_LOSS=%.1f\n", loss_percent(c->enforcement.plan));
	fprintf(f, "STORPOWER_TIMEOUT_SECONDS=%.3f\n",
		(double)c->config.hooks.timeout_us / USEC_PER_SEC);
	if (fclose(f) == 0)
		return text;
	free(text);
	return NULL;
}

static bool consents(const Managed *md, HookStep step)
{
	return md->rest.consents.of[step].state == CONSENT_GIVEN;
}

/* What is written is held back for a disk that is to stop: that it may comes first. */
static bool waits_for_other(const Managed *md, HookStep step, bool spins_down)
{
	return step == HOOK_REDIRECT && spins_down && !consents(md, HOOK_SPIN_DOWN);
}

static bool is_emergency(const Claim *claim)
{
	return claim && claim->class == CLASS_EMERGENCY;
}

/* A hook that has refused is not asked the same again at once. */
static bool may_ask(const Control *c, const Managed *md, HookStep step, bool spins_down)
{
	return !waits_for_other(md, step, spins_down) &&
	       !(md->rest.vetoed && c->tools.now_us < md->rest.refused_until_us);
}

static void ask(Control *c, Managed *md, HookStep step, bool spins_down, const Claim *claim)
{
	Consent *consent = &md->rest.consents.of[step];
	bool emergency = is_emergency(claim);

	if (consent->state == CONSENT_NONE && (emergency || may_ask(c, md, step, spins_down))) {
		consent_ask(md, step, describe(c, md, step, claim), !emergency, &c->tools);
		consent->asked_for = rest_claim_mark(claim);
	}
	if (emergency) {
		consent_waive(md, step, &c->tools);
		consent->asked_for = rest_claim_mark(claim);
	}
}

/* What was asked for a step that is wanted no longer, or was for another limit. */
static void end_old(Control *c, Managed *md, HookStep step, bool wanted, const Claim *claim)
{
	const Consent *consent = &md->rest.consents.of[step];
	bool other = !is_emergency(claim) && !consent_is_under_way(md, step) &&
		     !rest_is_marked(&consent->asked_for, claim);

	if (consent->state == CONSENT_NONE ||
	    (consent->state == CONSENT_ASKED && (other || !wanted) && consent_withdraw(md, step)))
		return;
	if (consent_is_stale(md, step, &c->tools))
		consent_end(md, step, "failed: it was not made: another plan is in force",
			    &c->tools);
	else if (other && wanted)
		consent_end(md, step, "failed: it was not made: another limit is in force",
			    &c->tools);
}

static void ask_of(Control *c, Managed *md)
{
	bool wanted[_HOOK_STEP_MAX], any = false;
	const Claim *claim;

	for (unsigned s = 0; s < _HOOK_STEP_MAX; s++) {
		wanted[s] = consent_is_wanted(md, s, &c->tools);
		any |= wanted[s] || md->rest.consents.of[s].state != CONSENT_NONE;
	}
	if (!any) /* to look for the claim takes a while where there are many devices */
		return;
	claim = gather_binding_claim(c, md);
	for (unsigned s = 0; s < _HOOK_STEP_MAX; s++)
		end_old(c, md, s, wanted[s], claim);
	for (unsigned s = 0; s < _HOOK_STEP_MAX; s++)
		if (wanted[s])
			ask(c, md, s, wanted[HOOK_SPIN_DOWN], claim);
}

void hooks_ask(Control *c)
{
	if (c->config.hooks.ask)
		for_each_device(Managed, md, &c->fleet) ask_of(c, md);
}

void hooks_end_vetoes(Control *c)
{
	for_each_device(Managed, md, &c->fleet) if (md->rest.vetoed)
		rest_end_veto(md, gather_binding_claim(c, md));
}

static void tell(Control *c, Managed *md, HookStep step, const char *what, const char *why)
{
	_cleanup_free_ char *result = text_printf("%s%s%s", what, *why ? ": " : "", why);

	consent_end(md, step, result ?: what, &c->tools);
}

/* Which step of theirs it was that has come back; -1: none. */
static int step_of(const Job *j)
{
	const Setting *target = &j->step.target;

	switch (j->knob->mechanism) {
	case MECHANISM_CONDITION:
		return target->condition > CONDITION_IDLE_B && !j->step.raises ? HOOK_SPIN_DOWN
									       : -1;
	case MECHANISM_REDIRECT: return target->redirect == REDIRECT_HOLD ? HOOK_REDIRECT : -1;
	default: return -1;
	}
}

void hooks_tell_result(Control *c, const Job *j)
{
	int step = step_of(j);
	const char *why = j->step.refused_why;

	if (step < 0 || !consents(j->md, step))
		return;
	if (j->result < 0 && !why)
		why = strerror(-j->result);
	tell(c, j->md, step, j->result < 0 ? "failed" : "done", why ?: "");
}

Need hooks_take(Control *c, Job *j)
{
	_cleanup_free_ char *veto = NULL;
	Managed *md = j->md;
	Need n = consent_take(md, j, &c->tools, &veto);

	if (!veto)
		return n;
	rest_veto(md, veto, gather_binding_claim(c, md), &c->tools);
	tell(c, md, j->hook.step, "vetoed", veto);
	return n;
}
