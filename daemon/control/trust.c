/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/trust.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "control/served.h"
#include "control/waking.h"
#include "control/workload.h"

#define BIAS_DECAY        0.95 /* a look */
#define BIAS_CHANGE       0.001
#define BIAS_MAX          1.5
#define PACE_WINDOW_US    (500 * USEC_PER_MSEC)
#define PACE_TOLERANCE    1.15 /* of the pace, in a window: io.cost lets short bursts through */
#define UNCONTROLLED_MAX  0.05 /* of the bytes */
#define UNCONTROLLED_MB_S 0.1  /* less is not worth a word */
#define OPERATING_US      (5 * USEC_PER_SEC)   /* no burst, and no spike of a sensor */
#define UNCONTROLLED_US   (300 * USEC_PER_SEC) /* before pacing is trusted again */

void trust_init(Managed *md, const OperatingBook *known)
{
	const Profile *p = md->device->profile;
	double measured_w = operating_book_get(known, md->device->id);

	md->trust = (Trust){ .bias = 1,
			     .measured_w = NAN,
			     .estimated_w = p->idle_w,
			     .operating_w = MAX(profile_operating_w(p), measured_w),
			     .fixed_w = p->idle_w,
			     .correction = 1 };
}

bool trust_clear_due(Managed *md, uint64_t now_us)
{
	Trust *t = &md->trust;

	if (!t->uncontrolled_until_us || t->uncontrolled_until_us > now_us)
		return false;
	t->uncontrolled_until_us = 0;
	return true;
}

/* Only upwards: a device found to draw more than it can is believed to go on doing so, and slowly
 * forgiven. */
static double new_bias(double bias, double over)
{
	double forgiven = 1 + BIAS_DECAY * (bias - 1);

	if (over > 1 + SENSOR_ERROR)
		return MIN(MAX(over, forgiven), BIAS_MAX);
	return forgiven < 1 + SENSOR_ERROR ? 1 : forgiven;
}

/* It draws so many times what it may. */
static Need distrust(Managed *md, double over)
{
	md->trust.bias = new_bias(md->trust.bias, over);
	return md->trust.bias > md->planned.bias + BIAS_CHANGE ? need(NEED_PLAN, CAUSE_DEMAND)
							       : NOTHING_NEEDED;
}

double trust_base_w(const Managed *md)
{
	const Profile *p = md->device->profile;
	const ConditionPower *c = &p->conditions[md->knobs.actual.condition];

	return md->knobs.actual.condition != CONDITION_ACTIVE && c->present ? c->watts : p->idle_w;
}

/* What the planner expects of the setting in force, for what is asked of the device now. */
static void note_modelled(Managed *md, const Fleet *f)
{
	Trust *t = &md->trust;
	Mix mix = served_mix(md, f);
	Prediction p;

	predict_demand(md->device->profile, &mix, &md->knobs.actual, md->workload.demand_mb_s, &p);
	t->fixed_w = MIN(trust_base_w(md), p.watts * t->bias);
	t->dynamic_w = p.watts * t->bias - t->fixed_w;
	if (!waking_under_way(md))
		return;
	t->fixed_w = md->waking.watts;
	t->dynamic_w = 0;
}

static Need judge_power(Managed *md, Tools *t)
{
	const Profile *p = md->device->profile;
	const Workload *w = &md->workload;
	double cap_w = cap_watts(p, &md->knobs.actual);
	Prediction expected;

	note_modelled(md, t->fleet);
	predict_demand(p, &w->mix, &md->knobs.actual, workload_mb_s(w), &expected);
	md->trust.estimated_w = expected.watts;
	if (!isnan(w->rates.joules_per_s))
		md->trust.estimated_w = MIN(trust_base_w(md) + w->rates.joules_per_s, cap_w);
	if (waking_under_way(md))
		md->trust.estimated_w = MAX(md->trust.estimated_w, md->waking.watts);
	else if (!isnan(md->trust.measured_w) && t->now_us >= md->knobs.tightened_us + AVERAGED_US)
		return distrust(md, md->trust.measured_w / cap_w);
	return NOTHING_NEEDED;
}

static bool passes_pacing_by(const Managed *md)
{
	double share = md->workload.rates.uncontrolled_share;

	return md->knobs.offer.mechanisms & MECHANISM_PACING && share > UNCONTROLLED_MAX &&
	       share * workload_mb_s(&md->workload) >= UNCONTROLLED_MB_S;
}

static Need judge_control(Managed *md, Tools *t)
{
	double percent = 100 * md->workload.rates.uncontrolled_share;
	bool was = trust_is_uncontrolled(md, t->now_us);

	if (!passes_pacing_by(md))
		return NOTHING_NEEDED;
	md->trust.uncontrolled_until_us = t->now_us + UNCONTROLLED_US;
	if (was)
		return NOTHING_NEEDED;
	diary_decide(t->diary, md->device->name, "IO of the root cgroup passes pacing by",
		     "pacing is not relied on (%.0f %% uncontrolled)", percent);
	log_notice("%s: %.0f %% of its IO comes from the root cgroup, which pacing cannot hold: "
		   "the queue's own limits are used instead",
		   md->device->name, percent);
	return need(NEED_PLAN, CAUSE_DEMAND);
}

Need trust_judge(Managed *md, Tools *t)
{
	Need control = judge_control(md, t);

	return need_more(control, judge_power(md, t));
}

Need trust_take_overrun(Managed *md, double spent_w, Tools *t)
{
	double idle_w = md->device->profile->idle_w, pace_w = md->knobs.actual.pace_w;

	/* what was let through before the last lowering is being answered already */
	if (pace_w <= 0 || spent_w <= pace_w || t->now_us < md->knobs.tightened_us + LOOK_US)
		return NOTHING_NEEDED;
	(void)distrust(md, (idle_w + spent_w) / (idle_w + pace_w));
	if (md->trust.bias <= 1) /* as far as a sensor may be off, too */
		return NOTHING_NEEDED;
	log_notice("%s: spends %.2f W by eBPF, paced to %.2f W: planned for with %.0f %% more from "
		   "now",
		   md->device->name, spent_w, pace_w, 100 * (md->trust.bias - 1));
	return need(NEED_TOLD_PLAN, CAUSE_SPENT_TOO_MUCH);
}

void trust_note_spent(Managed *md, double spent_w)
{
	md->trust.estimated_w = MAX(md->trust.estimated_w, trust_base_w(md) + spent_w);
}

void trust_watch_pace(Managed *md, Meter *meter)
{
	double pace_w =
		md->knobs.actual.pace_w > 0 ? PACE_TOLERANCE * md->knobs.actual.pace_w : INFINITY;

	if (md->planned.alarm_w > 0) /* of a plan */
		pace_w = MIN(pace_w, md->planned.alarm_w);
	if (pace_w == md->trust.watched_pace_w)
		return;
	md->trust.watched_pace_w = pace_w;
	(void)meter_set_cap_window(meter, md->device, pace_w, PACE_WINDOW_US);
}

/* Is it measured to draw more in operation than 100 %, by more than a sensor may err? */
static bool is_above_operating(const Managed *md, uint64_t now_us)
{
	return md->trust.measured_w > md->trust.operating_w * (1 + SENSOR_ERROR) &&
	       !waking_under_way(md) && now_us >= md->waking.woke_us + AVERAGED_US;
}

static void keep_operating(const Managed *md, Tools *t)
{
	int r = operating_book_set(t->operating, md->device->id, md->trust.operating_w);

	if (r < 0)
		log_warning_errno(r,
				  "%s: what it was measured to draw cannot be saved in %s, and is "
				  "forgotten when storpowerd ends",
				  md->device->name, t->config->limit.operating_path);
}

void trust_learn_operating(Managed *md, bool limited, Tools *tools)
{
	Trust *t = &md->trust;
	uint64_t now_us = tools->now_us;

	if (limited || !is_above_operating(md, now_us)) {
		t->above_since_us = 0;
		return;
	}
	t->above_w = t->above_since_us ? MIN(t->above_w, t->measured_w) : t->measured_w;
	t->above_since_us = t->above_since_us ?: now_us;
	if (now_us < t->above_since_us + OPERATING_US)
		return;
	log_notice("%s: it draws %.1f W, where its profile knows %.1f W: 100 %% of it is %.1f W "
		   "from now",
		   md->device->name, t->measured_w, t->operating_w, t->above_w);
	t->operating_w = t->above_w;
	t->above_since_us = 0;
	keep_operating(md, tools);
}

void trust_note_aside(const char *of, bool was_believed, const SensorHealth *h)
{
	if (was_believed && *h->why_aside)
		log_about(LOG_WARNING, 0, &(LogAbout){ .id = MESSAGE_SENSOR_ASIDE, .sensor = of },
			  "%s: its power reading is set aside: %s", of, h->why_aside);
	else if (!was_believed && !*h->why_aside)
		log_about(LOG_NOTICE, 0, &(LogAbout){ .id = MESSAGE_SENSOR_BELIEVED, .sensor = of },
			  "%s: its power reading is believed again", of);
}

void trust_set_measured(Managed *md, double watts)
{
	md->trust.measured_w = watts;
}

void trust_correct(Managed *md, bool settling, uint64_t now_us)
{
	Trust *t = &md->trust;
	CorrectionLook look = { .measured_w = t->measured_w,
				.settling = settling,
				.at_us = now_us };

	correction_add(&t->own, &look, md->device->profile, t->fixed_w, t->dynamic_w);
	correction_take(&t->own, &look);
	t->correction = correction_of(&t->own, md->device->profile);
	t->is_measured = t->own.known;
}

void trust_correct_further(Managed *md, const Correction *c)
{
	md->trust.correction *= correction_of(c, md->device->profile);
	md->trust.is_measured |= c->known;
}

void trust_take_power(Managed *md, int r, double watts)
{
	Trust *t = &md->trust;
	bool was_believed = !*t->health.why_aside;

	/* a drive that does not measure itself is no fault */
	if (r == -EOPNOTSUPP) {
		t->measured_w = NAN;
		t->measures_not = true;
		return;
	}
	t->measured_w =
		sensor_judge(&t->health, r, watts, t->estimated_w, md->device->profile->rated_w)
			? watts
			: NAN;
	trust_note_aside(md->device->name, was_believed, &t->health);
}
