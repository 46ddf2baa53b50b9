/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/tell.h"

#include "base/log.h"
#include "control/observe.h"
#include "control/settled.h"
#include "control/verify.h"

/* Said with each plan as long as it is so, since the watts change. */
static void tell_shortfall(Control *c, double watts)
{
	bool was = c->enforcement.short_told;

	c->enforcement.short_told = watts > 0;
	if (watts > 0)
		log_about(LOG_WARNING, 0,
			  &(LogAbout){ .id = MESSAGE_DEGRADED_BEGAN, .missing_w = watts },
			  "No settings meet the budget: these miss it by %.1f W", watts);
	else if (was)
		log_about(LOG_NOTICE, 0, &(LogAbout){ .id = MESSAGE_DEGRADED_ENDED },
			  "No watt is missing any longer: what is limited is within its limit, or "
			  "nothing is limited");
}

static void tell_plan(Control *c, Cause cause)
{
	const Plan *p = c->enforcement.plan;
	const char *why = cause_text(cause);
	char cap[32], text[160];

	format_watts(cap, sizeof(cap), p->cap_w);
	snprintf(text, sizeof(text), "%zu devices can draw %s, %.0f of %.0f MB/s", p->n_devices,
		 cap, p->mb_s, p->full_mb_s);
	diary_decide(&c->diary, "", c->diary.why, "%s: %s", why, text);
	log_info("%s: %s (%s)", why, text, c->diary.why);
	tell_shortfall(c, p->shortfall_w);
	if (c->events.plan_applied)
		c->events.plan_applied(p, why, c->events.userdata);
}

/* claim: NULL when it has ended meanwhile. */
static void tell_claim(const ControlEvents *e, const ClaimNews *news, const Claim *claim)
{
	if (news->kind == CLAIM_ENDED && e->claim_ended)
		e->claim_ended(news->cookie, news->ended_why, e->userdata);
	else if (news->kind == CLAIM_REPLACED && e->claim_replaced)
		e->claim_replaced(news->cookie, news->by, e->userdata);
	else if (news->kind == CLAIM_ADDED && claim && e->claim_added)
		e->claim_added(claim, e->userdata);
	else if (news->kind == CLAIM_CHANGED && claim && e->claim_changed)
		e->claim_changed(claim, e->userdata);
}

static void log_begun(const Claim *claim)
{
	char limit[48];

	if (claim->unit == LIMIT_PERCENT)
		snprintf(limit, sizeof(limit), "%g %%", claim->limit);
	else
		format_watts(limit, sizeof(limit), claim->limit);
	log_about(LOG_INFO, 0,
		  &(LogAbout){ .id = MESSAGE_CLAIM_BEGAN, .claim = claim->cookie, .limit = limit },
		  "Claim %llu of %s: %s for %s%s%s", (unsigned long long)claim->cookie,
		  claim->source, limit, claim->target ?: "the node", *claim->reason ? ", " : "",
		  claim->reason);
}

static void log_claim(const ClaimNews *news, const Claim *claim)
{
	if (news->kind == CLAIM_ENDED)
		log_about(LOG_INFO, 0,
			  &(LogAbout){ .id = MESSAGE_CLAIM_ENDED, .claim = news->cookie },
			  "Claim %llu ended: %s", (unsigned long long)news->cookie,
			  news->ended_why);
	else if (claim && news->kind != CLAIM_REPLACED)
		log_begun(claim);
}

static void tell_claims(Control *c)
{
	size_t n;
	ClaimNews *news = limits_take_news(&c->limits, &n);

	for (size_t i = 0; i < n; i++) {
		const Claim *claim = claims_find(c->limits.claims, news[i].cookie);

		log_claim(&news[i], claim);
		tell_claim(&c->events, &news[i], claim);
	}
	free(news);
}

void tell_device(Control *c, const char *name, bool present)
{
	if (c->events.device_changed)
		c->events.device_changed(name, present, c->events.userdata);
}

static void tell_overrun_ended(Control *c)
{
	const Overrun *o = &c->gauges.excess;

	log_about(
		LOG_NOTICE, 0, &(LogAbout){ .id = MESSAGE_OVERRUN_ENDED, .limit_w = o->budget_w },
		"The budget of %.1f W is no longer exceeded: %.0f J were drawn above it in %.0f s",
		o->budget_w, o->joules, o->seconds);
	if (c->events.overrun_ended)
		c->events.overrun_ended(o, c->events.userdata);
}

void tell_all(Control *c, const Outcome *o)
{
	bool saved;

	if (o->planned)
		tell_plan(c, o->cause);
	if (o->overrun && c->events.overrun)
		c->events.overrun(c->gauges.measured_w, c->limits.budget_w, c->events.userdata);
	if (o->overrun_ended)
		tell_overrun_ended(c);
	saved = limits_save(&c->limits, &c->tools);
	tell_claims(c);
	settled_tell(c);
	if ((o->changed || saved) && c->events.changed)
		c->events.changed(c->events.userdata);
	verify_tell(c);
	waiters_tell(&c->waiters, c->tools.now_us, !c->outbox.counted_out && !observe_holds_plan(c),
		     observe_fresh_us(c));
}
