/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "control/manager-internal.h"

#define RATES_LEAST_US (100 * USEC_PER_MSEC)
#define MIX_BLEND      0.5  /* weight of the newest second */
#define BUSY_DEPTH     0.85 /* of the depth it may have: waiting for the device, not for work */
#define DEMAND_CHANGE  0.1  /* relative: worth a new plan */
#define MIX_CHANGE     0.15
#define GUARD_DECAY    0.95
#define GUARD_MARGIN   1.1  /* of the excess */
#define GUARD_NEWS     0.01 /* of the limit: worth a new plan when it is given back */
#define BIAS_DECAY     0.95 /* a look */
#define BIAS_CHANGE    0.001
#define BIAS_MAX       1.5
#define SENSOR_ERROR   0.02 /* what a sensor may be off without anything being wrong */

/* The first sight counts in full, later ones half. */
static double blend(const ManagedDevice *md, double old, double new)
{
	if (isnan(new))
		return old;
	return md->has_mix ? old + MIX_BLEND * (new - old) : new;
}

/* IOs as large as the chunk are parts of larger ones: what was seen before the chunk was set is the
 * better knowledge. */
static bool is_split(const ManagedDevice *md, double kib)
{
	return md->actual.chunk_kib && kib >= 0.9 * md->actual.chunk_kib;
}

static void observe_mix(ManagedDevice *md)
{
	const MeterRates *r = &md->rates;
	bool read_split = is_split(md, r->read_kib), write_split = is_split(md, r->write_kib);

	if (!read_split && !write_split) {
		md->mix.read_share = CLAMP(blend(md, md->mix.read_share, r->read_share), 0.0, 1.0);
		md->mix.random_share =
			CLAMP(blend(md, md->mix.random_share, r->random_share), 0.0, 1.0);
	}
	if (!read_split)
		md->mix.read_kib = blend(md, md->mix.read_kib, r->read_kib);
	if (!write_split)
		md->mix.write_kib = blend(md, md->mix.write_kib, r->write_kib);
	/* what was outstanding shows the workload's depth only while nothing holds it back */
	if (!md->actual.depth && !md->actual.chunk_kib)
		md->offered_depth = MAX(r->depth, 0.9 * md->offered_depth);
	else if (!md->actual.chunk_kib)
		md->offered_depth = MAX(r->depth, md->offered_depth);
	md->mix.depth = MAX(md->offered_depth, 1.0);
	md->device->mix = md->mix;
	md->has_mix = true;
}

static double observed_mb_s(const ManagedDevice *md)
{
	return md->rates.mb_s[READ_IO] + md->rates.mb_s[WRITE_IO];
}

static double observed_iops(const ManagedDevice *md)
{
	return md->rates.iops[READ_IO] + md->rates.iops[WRITE_IO];
}

/* Above idle, by what eBPF counted; else by the mean IO. */
static double spent_w(const ManagedDevice *md)
{
	if (!isnan(md->rates.joules_per_s))
		return md->rates.joules_per_s;
	return observed_iops(md) * mix_price_joules(md->device->profile, &md->mix);
}

/* A slow pace is a few IOs a second: one more or less is chance. */
static double one_io_w(const ManagedDevice *md)
{
	return mix_price_joules(md->device->profile, &md->mix) / md->rates.seconds;
}

/* Does the workload want more than it gets? It keeps all the depth outstanding that it may have; or
 * spends the joules that it is paced to (what pacing holds back is not seen as outstanding); or
 * reaches what the setting is predicted to give. */
static bool is_saturated(const ManagedDevice *md, double near)
{
	const Setting *s = &md->actual;
	double iops = observed_iops(md);
	Prediction p;

	if (iops <= 0)
		return false;
	if (s->depth && md->rates.depth >= BUSY_DEPTH * MIN((double)s->depth, md->mix.depth))
		return true;
	if (s->pace_w > 0 && spent_w(md) + one_io_w(md) >= near * s->pace_w)
		return true;
	predict(md->device->profile, &md->mix, s, &p);
	return observed_mb_s(md) >= near * p.mb_s;
}

/* A device planned for its demand and the policy's headroom is busy for 1/headroom of the time:
 * more than half-way from there to all of it wants more. */
static void observe_demand(const Manager *m, ManagedDevice *md)
{
	double near = (1 + 1 / manager_policy_now(m)->demand_headroom) / 2;
	double mb_s = observed_mb_s(md);

	md->demand_mb_s = is_saturated(md, near) ? INFINITY : mb_s;
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

/* Without IO, in the condition that it is in. */
static double base_w(const ManagedDevice *md)
{
	const Profile *p = md->device->profile;
	const ConditionPower *c = &p->conditions[md->actual.condition];

	return md->actual.condition != CONDITION_ACTIVE && c->present ? c->watts : p->idle_w;
}

static void observe_power(Manager *m, ManagedDevice *md)
{
	const Profile *p = md->device->profile;
	double cap_w = cap_watts(p, &md->actual);
	Prediction expected;

	predict_demand(p, &md->mix, &md->actual, observed_mb_s(md), &expected);
	md->estimated_w = expected.watts;
	if (!isnan(md->rates.joules_per_s))
		md->estimated_w = MIN(base_w(md) + md->rates.joules_per_s, cap_w);
	if (managed_waking(m, md))
		md->estimated_w = MAX(md->estimated_w, md->transition_w);
	else if (!isnan(md->measured_w) && manager_now_us(m) >= md->tightened_us + AVERAGED_US)
		managed_distrust(m, md, md->measured_w / cap_w);
}

void managed_distrust(Manager *m, ManagedDevice *md, double over)
{
	md->bias = new_bias(md->bias, over);
	m->unsafe |= md->bias > md->planned_bias + BIAS_CHANGE;
}

static void observe(Manager *m, ManagedDevice *md, uint64_t now)
{
	DeviceCounters c;
	int r;

	if (meter_read(m->meter, md->device, &c) < 0)
		return;
	/* rates over less are chance */
	if (md->has_counters && c.time_us >= md->counters.time_us &&
	    c.time_us - md->counters.time_us < RATES_LEAST_US)
		return;
	r = md->has_counters ? meter_rates(&md->counters, &c, &md->rates) : -ESTALE;
	if (r == -EAGAIN)
		return;
	md->counters = c;
	md->has_counters = true;
	if (r < 0)
		return;
	if (observed_mb_s(md) > 0) { /* a flush alone is none */
		md->last_io_us = now;
		managed_notice_serving(m, md);
		observe_mix(md);
	}
	if (md->rates.iops[READ_IO] > 0)
		md->last_read_us = now;
	/* what a knob makes its array write there is nobody's wish to have the disk awake */
	if (md->rates.iops[WRITE_IO] > 0 && now >= md->own_io_until_us)
		md->last_write_us = now;
	observe_demand(m, md);
	managed_observe_control(m, md);
	observe_power(m, md);
	managed_update_cap(m, md);
}

static bool differs(double a, double b, double relative)
{
	if (isinf(a) || isinf(b))
		return isinf(a) != isinf(b);
	return fabs(a - b) > relative * MAX(MAX(fabs(a), fabs(b)), 1.0);
}

static bool mix_differs(const Mix *a, const Mix *b)
{
	return fabs(a->read_share - b->read_share) > MIX_CHANGE ||
	       fabs(a->random_share - b->random_share) > MIX_CHANGE ||
	       differs(mix_mean_kib(a), mix_mean_kib(b), 2 * MIX_CHANGE) ||
	       differs(a->depth, b->depth, 0.5);
}

static bool limits_differ(const SleepLimits *a, const SleepLimits *b)
{
	return a->deepest != b->deepest || a->needed != b->needed || a->rest != b->rest;
}

static bool is_news(const Manager *m, const ManagedDevice *md)
{
	return differs(md->demand_mb_s, md->planned_demand_mb_s, DEMAND_CHANGE) ||
	       mix_differs(&md->mix, &md->planned_mix) || md->bias != md->planned_bias ||
	       (manager_enforcing(m) && !managed_asleep(md) &&
		limits_differ(&md->sleep, &md->planned_sleep));
}

/* What the model got wrong is kept free, and slowly given back. */
static double next_guard(double guard_w, double over_w, double limit_w)
{
	if (over_w > 0)
		return MIN(guard_w + GUARD_MARGIN * over_w, 0.2 * limit_w);
	return guard_w < 0.1 ? 0 : guard_w * GUARD_DECAY;
}

static bool settling(const Manager *m)
{
	uint64_t now = manager_now_us(m);

	return m->event_us ? now - m->event_us < OVERDUE_US : now < m->enforced_us + AVERAGED_US;
}

/* Enough that the devices should have it. */
static bool is_given_back(double planned_w, double now_w, double limit_w)
{
	return planned_w > now_w && (now_w <= 0 || planned_w - now_w > GUARD_NEWS * limit_w);
}

static bool observe_group(Manager *m, ManagedSensor *s)
{
	double limit_w = manager_group_limit_w(m, s->config->target), over = s->watts - limit_w;

	if (over > 0 && settling(m))
		return false;
	if (isnan(over))
		over = 0; /* nobody says any longer that it is exceeded */
	s->guard_w = isinf(limit_w) ? 0 : next_guard(s->guard_w, over, limit_w);
	if (over > 0)
		log_warning("Group %s draws %.1f W of %.1f W by sensor %s: keeping %.1f W free",
			    s->config->target, s->watts, limit_w, s->config->name, s->guard_w);
	m->unsafe |= over > 0;
	return over > 0 || is_given_back(s->planned_guard_w, s->guard_w, limit_w);
}

static bool observe_groups(Manager *m)
{
	bool news = false;

	for (size_t i = 0; i < m->n_sensors; i++)
		if (m->sensors[i].config->scope == SENSOR_OF_GROUP)
			news |= observe_group(m, &m->sensors[i]);
	return news;
}

/* Sensors of all devices together against the budget. */
static bool observe_overrun(Manager *m)
{
	bool was = m->overrun;
	double over;

	m->measured_w = manager_measure(m);
	over = m->measured_w - m->budget_w;
	if (over > 0 && settling(m))
		return false; /* it is being brought down already */
	m->overrun = over > 0;
	m->guard_w = next_guard(m->guard_w, m->overrun ? over : 0, m->budget_w);
	if (!m->overrun)
		return is_given_back(m->planned_guard_w, m->guard_w, m->budget_w);
	if (!was) {
		log_warning("Measured %.1f W exceed the budget of %.1f W: keeping %.1f W more free",
			    m->measured_w, m->budget_w, m->guard_w);
		if (m->events.overrun)
			m->events.overrun(m->measured_w, m->budget_w, m->events.userdata);
	}
	return true;
}

void manager_look(Manager *m)
{
	uint64_t now = manager_now_us(m);

	manager_read_sensors(m);
	manager_hear_meter(m); /* before counters show the same, and not by whom */
	for (size_t i = 0; i < m->n_devices; i++) {
		ManagedDevice *md = m->devices[i];

		observe(m, md, now);
		managed_take_wake_test(m, md);
		managed_watch_waking(m, md);
		managed_watch_settling(m, md);
		managed_clear_suspicion(m, md);
		managed_look_at_cache(m, md);
		managed_judge_sleep(m, md, manager_policy_now(m));
		m->news |= is_news(m, md);
		managed_reread_drifting(m, md);
	}
	m->news |= observe_groups(m);
	m->news |= observe_overrun(m);
	m->looked_us = now;
}
