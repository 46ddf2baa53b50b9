/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plan/plan-work.h"

bool allows(const Work *w, size_t i, Mechanism m)
{
	return w->in->devices[i].offer.mechanisms & ~w->terms[i].forbidden & m;
}

bool stays_asleep(const Work *w, size_t i)
{
	const PlanDevice *d = &w->in->devices[i];

	return !d->held && !w->terms[i].protect && d->must_sleep &&
	       condition_is_sleep(d->current.condition);
}

/* Never less than CONDITION_IDLE_B, so that devices that may not sleep share their frontiers. */
Condition deepest_of(const Work *w, size_t i)
{
	const PlanDevice *d = &w->in->devices[i];
	Condition deepest = w->needed[i] ? deeper(d->deepest, d->deepest_needed) : d->deepest;

	if (w->terms[i].keep_awake)
		return CONDITION_IDLE_B;
	return deeper(shallower(deepest, w->in->policy->deepest), CONDITION_IDLE_B);
}

Condition condition_within(const Work *w, size_t i, Condition least, Condition deepest)
{
	const PlanDevice *d = &w->in->devices[i];

	if (!allows(w, i, MECHANISM_CONDITION))
		return CONDITION_ACTIVE;
	for (Condition c = deepest; c >= least && c > CONDITION_ACTIVE; c--)
		if (d->offer.conditions & 1u << c && d->profile->conditions[c].present)
			return c;
	return CONDITION_ACTIVE;
}

Condition sleep_condition_of(const Work *w, size_t i)
{
	if (w->in->devices[i].held || w->terms[i].protect || w->unit_is_free[i])
		return CONDITION_ACTIVE;
	return condition_within(w, i, CONDITION_IDLE_C, deepest_of(w, i));
}

Condition asleep_condition_of(const Work *w, size_t i)
{
	Condition now = w->in->devices[i].current.condition;

	return w->needed[i] ? deeper(now, sleep_condition_of(w, i)) : now;
}

const Candidate *asleep_candidate_of(const Work *w, size_t i)
{
	const Frontier *f = w->frontier[i];
	const Candidate *c = f ? f->candidates : &w->fixed[i];

	/* it is the first, as it draws the least */
	return condition_is_sleep(c->setting.condition) ? c : NULL;
}

double limit_of(const Work *w, size_t i)
{
	double limit_w = w->in->devices[i].limit_w;

	return w->is_free[i] ? limit_w : MIN(limit_w, w->terms[i].limit_w);
}

Redirect redirect_of(const Work *w, size_t i, Condition c)
{
	const PlanDevice *d = &w->in->devices[i];
	bool hold = w->terms[i].hold && !w->is_free[i] &&
		    (d->offer.redirects_writes || d->offer.redirects_reads);

	if (!allows(w, i, MECHANISM_REDIRECT))
		return REDIRECT_AS_FOUND;
	if (condition_is_sleep(c))
		hold = d->holds_writes;
	else if (d->awake_redirect != REDIRECT_AS_FOUND)
		return d->awake_redirect;
	return hold ? REDIRECT_HOLD : REDIRECT_AS_FOUND;
}
