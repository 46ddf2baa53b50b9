/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/advice.h"

#include <math.h>

#include "base/log.h"
#include "control/decide.h"
#include "control/gather.h"
#include "control/rest.h"
#include "control/served.h"
#include "control/workload.h"

Control advice_as_if_held(const Control *c)
{
	Control held = *c;

	held.limits = limits_as_if_held(&c->limits);
	return held;
}

/* It would sleep, and no IO has come since that would have woken it. */
static bool would_sleep_on(const Managed *md, uint64_t now_us)
{
	return setting_sleeps(&md->advised.device.setting) &&
	       rest_idle_for_us(md, now_us) >= now_us - md->advised.since_us;
}

/* A disk that sleeps of itself is planned for as what it is. */
static void continue_from_last(const Control *c, Facts *f)
{
	const Plan *last = c->enforcement.advice.plan;

	for (size_t i = 0; i < f->n_devices; i++) {
		const Managed *md = c->fleet.devices[i];

		if (!md->advised.known || managed_asleep(md))
			continue;
		f->devices[i].current = md->advised.device.setting;
		f->devices[i].must_sleep = would_sleep_on(md, c->tools.now_us);
	}
	f->cap_w = last ? last->cap_w : f->cap_w;
}

static void take_device(Control *c, Managed *md, const PlannedDevice *next)
{
	const Setting last = md->advised.known ? md->advised.device.setting : md->knobs.target;
	AdviceState *told = &c->enforcement.advice.told;
	char a[128], b[128];

	md->advised.known = true;
	md->advised.device = *next;
	if (setting_equal(&last, &next->setting))
		return;
	md->advised.since_us = c->tools.now_us;
	told->changes++;
	told->stops += setting_sleeps(&next->setting) && !setting_sleeps(&last);
	diary_decide(&c->diary, md->device->name, plan_reason_text(next->reason),
		     "advised, not done: %s -> %s", setting_text(a, sizeof(a), &last),
		     setting_text(b, sizeof(b), &next->setting));
}

static void adopt(Control *c, Plan *plan)
{
	plan_free(c->enforcement.advice.plan);
	c->enforcement.advice.plan = plan;
	for (size_t i = 0; i < c->fleet.n; i++)
		take_device(c, c->fleet.devices[i], &plan->devices[i]);
}

/* What one device would save now, where it would be set otherwise than it is. What was held until
 * now counts as given back, though that may be on its way. */
static void weigh_device(const Managed *md, const Fleet *f, AdviceState *told)
{
	const PlannedDevice *p = &md->advised.device;
	double now_w = md->trust.estimated_w, mb_s = workload_mb_s(&md->workload), would_w;
	const Mix mix = served_mix(md, f);
	Prediction would;

	if (!md->advised.known || setting_equal(&p->setting, &md->knobs.target))
		return;
	predict_demand(md->device->profile, &mix, &p->setting, mb_s, &would);
	would_w = MIN(would.watts * MAX(md->trust.bias, 1.0), p->cap_w);
	told->n_devices++;
	told->saved_w += MAX(now_w - would_w, 0.0);
	told->least_w += MAX(now_w - p->cap_w, 0.0);
	if (p->setting.redirect != REDIRECT_HOLD)
		told->lost_mb_s += MAX(mb_s - would.mb_s, 0.0);
}

static void weigh(Control *c)
{
	AdviceState *told = &c->enforcement.advice.told;

	told->n_devices = 0;
	told->saved_w = told->least_w = told->lost_mb_s = 0;
	for_each_device(const Managed, md, &c->fleet) weigh_device(md, &c->fleet, told);
}

static void tell(Control *c)
{
	const AdviceState *told = &c->enforcement.advice.told;
	const Plan *p = c->enforcement.advice.plan;
	char cap[32], saved[32], least[32], text[192];

	snprintf(text, sizeof(text),
		 "%zu of %zu devices would be set and could draw %s with the others; they would "
		 "draw %s less now (%s at the least) and serve %.0f MB/s less",
		 told->n_devices, p->n_devices, format_watts(cap, sizeof(cap), p->cap_w),
		 format_watts(saved, sizeof(saved), told->saved_w),
		 format_watts(least, sizeof(least), told->least_w), told->lost_mb_s);
	diary_decide(&c->diary, "", c->diary.why, "advised, not done: %s", text);
	log_info("Advised, not done: %s (%s)", text, c->diary.why);
}

static int decide_once(const Control *c, bool may_keep, Verdict *ret)
{
	const Control held = advice_as_if_held(c);
	_cleanup_(facts_done) Facts f = {};
	int r = gather_facts(&held, gather_policy(&held), &f);

	if (r < 0)
		return r;
	continue_from_last(c, &f);
	return decide(&f, c->enforcement.advice.plan, may_keep, ret);
}

static void advise(Control *c, bool may_keep)
{
	Verdict v;
	int r = decide_once(c, may_keep, &v);

	if (r < 0) {
		log_error_errno(r, "No plan could be made; what was advised last stands");
		return;
	}
	if (v.keep)
		plan_free(v.plan);
	else
		adopt(c, v.plan);
	weigh(c);
	if (!v.keep && v.changes)
		tell(c);
}

static void end(Control *c)
{
	c->enforcement.advice.plan = plan_free(c->enforcement.advice.plan);
	for_each_device(Managed, md, &c->fleet) md->advised = (Advised){};
	weigh(c);
}

void advice_begin(Control *c)
{
	Advice *a = &c->enforcement.advice;
	bool advises = c->limits.claimed.advised;

	if (advises)
		log_notice("Limits are advised from now on and not held: nothing is set");
	else if (a->told.advises)
		log_notice("Limits are held again");
	a->told = (AdviceState){ .advises = advises };
	a->counted_us = c->tools.now_us;
}

void advice_update(Control *c, bool may_keep)
{
	const Limits held = limits_as_if_held(&c->limits);

	if (!c->limits.claimed.active || !c->limits.claimed.advised) {
		end(c);
		return;
	}
	if (!c->enforcement.advice.plan)
		c->enforcement.advice.counted_us = c->tools.now_us;
	limits_say_why(&held, &c->diary);
	advise(c, may_keep);
	limits_say_why(&c->limits, &c->diary);
}

void advice_count(Control *c)
{
	Advice *a = &c->enforcement.advice;
	double seconds = (double)(c->tools.now_us - a->counted_us) / USEC_PER_SEC;

	a->counted_us = c->tools.now_us;
	if (!a->plan)
		return;
	weigh(c);
	a->told.seconds += seconds;
	a->told.joules += a->told.saved_w * seconds;
	a->told.lost_mb += a->told.lost_mb_s * seconds;
}

AdviceState advice_state(const Control *c)
{
	const Plan *p = c->enforcement.advice.plan;
	AdviceState s = c->enforcement.advice.told;

	s.budget_w = p ? c->limits.claimed.budget_w : INFINITY;
	s.claim = p ? limits_effective(&c->limits) : NULL;
	s.cap_w = p ? p->cap_w : 0;
	s.shortfall_w = p ? MAX(p->shortfall_w, p->limit_shortfall_w) : 0;
	return s;
}

void advice_done(Control *c)
{
	plan_free(c->enforcement.advice.plan);
}
