/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What people see of the state that the last turn has left. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "control/advice.h"
#include "control/cache-hits.h"
#include "control/enforce.h"
#include "control/fleet.h"
#include "control/gather.h"
#include "control/obedience.h"
#include "control/reading.h"
#include "control/trust.h"
#include "control/waking.h"
#include "control/wear-account.h"
#include "control/workload.h"

static bool has_problems(const Control *c)
{
	for_each_device(const Managed, md,
			&c->fleet) if (obedience_is_missing(md) || md->waking.stuck ||
				       errands_overdue(md, c->tools.now_us)) return true;
	return false;
}

static NodeLoad node_load(const Control *c)
{
	const Plan *p = c->enforcement.plan;
	NodeLoad l = { .expected_mb_s = p ? p->mb_s : 0 };

	for_each_device(const Managed, md, &c->fleet)
	{
		l.mb_s += workload_mb_s(&md->workload);
		l.demand_mb_s += md->planned.device.full_mb_s;
	}
	return l;
}

/* What is measured above the budget, and no step is on its way that answers it. */
static double excess_w(const Control *c)
{
	return c->gauges.overrun && !enforce_is_settling(c)
		       ? MAX(c->gauges.measured_w - c->limits.budget_w, 0.0)
		       : 0;
}

static double node_shortfall_w(const Control *c)
{
	const Plan *p = c->enforcement.plan;

	return MAX(p ? p->shortfall_w : 0, excess_w(c));
}

static double shortfall_w(const Control *c)
{
	const Plan *p = c->enforcement.plan;

	return MAX(p ? p->limit_shortfall_w : 0, node_shortfall_w(c));
}

static NodeWatts node_watts(const Control *c)
{
	NodeWatts w = { .floor_w = c->enforcement.floor_w, .measured_w = c->gauges.measured_w };

	for_each_device(const Managed, md, &c->fleet)
	{
		w.rated_w += md->device->profile->rated_w;
		w.operating_w += md->trust.operating_w;
		w.estimated_w += md->trust.estimated_w;
		w.cap_w += md->caps.now_w;
		w.error_w += reading_model_error_w(md);
	}
	if (!isnan(w.measured_w))
		w.error_w = w.measured_w * SENSOR_ERROR;
	if (excess_w(c) > 0) /* the model says that they cannot draw it, and is wrong */
		w.cap_w = MAX(w.cap_w, w.measured_w);
	return w;
}

static NodeOverload overload(const Control *c)
{
	const Claim *effective = limits_effective(&c->limits);

	return (NodeOverload){ effective ? effective->tolerance_s : 0, c->gauges.overload.spent_s,
			       c->gauges.overload.react_s };
}

void control_state(const Control *c, ControlState *ret)
{
	*ret = (ControlState){
		.budget_w = c->limits.budget_w,
		.effective = c->limits.claimed.advised ? NULL : limits_effective(&c->limits),
		.watts = node_watts(c),
		.held = { .for_s = holding_seconds(&c->attention.holding, c->tools.now_us),
			  .highest_w = holding_highest_w(&c->attention.holding),
			  .missing_w = node_shortfall_w(c) },
		.load = node_load(c),
		.enforcing = c->limits.enforcing,
		.shortfall_w = shortfall_w(c),
		.last_enforce_us = c->enforcement.last_enforce_us,
		.overload = overload(c),
		.n_devices = c->fleet.n,
		.meter = c->tools.meter_why_not ? "device counters" : "ebpf",
		.meter_why_not = c->tools.meter_why_not,
		.claims_unsaved = limits_why_unsaved(&c->limits),
		.advice = advice_state(c),
	};
	ret->degraded = ret->enforcing && (ret->shortfall_w > 0 || has_problems(c));
}

double control_operating_w(const Control *c)
{
	return limits_operating_w(&c->fleet, NULL);
}

double control_claim_operating_w(const Control *c, const Claim *claim)
{
	return limits_claim_operating_w(&c->fleet, claim);
}

bool control_claim_in_force(const Control *c, const Claim *claim)
{
	return limits_claim_in_force(&c->limits, &c->fleet, claim);
}

size_t control_device_count(const Control *c)
{
	return c->fleet.n;
}

const Device *control_device_at(const Control *c, size_t index)
{
	return index < c->fleet.n ? c->fleet.devices[index]->device : NULL;
}

/* While watts are missing, what the budget needs counts rather than what pays. */
static double may_sleep_in_s(const Control *c, const Managed *md)
{
	uint64_t now_us = c->tools.now_us;
	uint64_t at_us = shortfall_w(c) > 0 ? md->rest.needed_us : md->rest.paid_us;

	if (at_us == USEC_NEVER)
		return INFINITY;
	return at_us > now_us ? (double)(at_us - now_us) / 1e6 : 0;
}

static DeviceSleep device_sleep(const Control *c, const Managed *md)
{
	WearTerms terms = wear_account_terms(md, &c->config);
	const WearAccount *a = md->wear.account;
	bool asleep = managed_asleep(md);
	DeviceSleep s = { .asleep = asleep,
			  .awake_why = asleep ? "" : md->rest.awake_why,
			  .may_in_s = may_sleep_in_s(c, md) };

	if (!a)
		return s;
	s.starts_left = a->starts;
	s.starts_a_day = terms.starts_a_day;
	s.loads_left = a->loads;
	s.loads_a_day = terms.loads_a_day;
	s.starts_used = a->starts_used;
	return s;
}

static DeviceLoad device_load(const Managed *md)
{
	const Workload *w = &md->workload;
	bool limited = knob_set_touched(md);

	return (DeviceLoad){ .mb_s = workload_mb_s(w),
			     .iops = workload_iops(w),
			     .depth = w->rates.depth,
			     .mean_kib = mix_mean_kib(&w->mix),
			     .read_share = w->mix.read_share,
			     .random_share = w->mix.random_share,
			     .latency_us = w->rates.latency_us,
			     .wait_p50_us = w->rates.wait_p50_us,
			     .wait_p99_us = w->rates.wait_p99_us,
			     .wait_p50_before_us = limited ? w->unheld.wait_p50_us : NAN,
			     .wait_p99_before_us = limited ? w->unheld.wait_p99_us : NAN,
			     .demand_mb_s = w->demand_mb_s };
}

static void describe_reason(const Managed *md, char *buf, size_t size)
{
	snprintf(buf, size, "%s",
		 md->device->protected_why ? "protected"
					   : plan_reason_text(md->planned.device.reason));
	if (md->planned.waiting_pin)
		snprintf(buf + strlen(buf), size - strlen(buf),
			 "; claim %llu, which pins its power state, waits",
			 (unsigned long long)md->planned.waiting_pin);
}

static void describe_problem(const Managed *md, char *buf, size_t size)
{
	const char *hba = *md->device->hba ? md->device->hba : "its HBA";

	if (md->waking.stuck)
		snprintf(buf, size,
			 "it does not wake; no disk on %s is stopped until storpowerctl "
			 "wake-test has passed there",
			 hba);
	else
		snprintf(buf, size, "%s", md->knobs.problem ?: "");
}

static void describe(const Control *c, const Managed *md, DeviceState *ret)
{
	*ret = (DeviceState){
		.device = md->device,
		.setting = md->knobs.actual,
		.planned = md->planned.device,
		.advised = md->advised.known ? &md->advised.device : NULL,
		.watts = { .rated_w = md->device->profile->rated_w,
			   .operating_w = md->trust.operating_w,
			   .idle_w = md->device->profile->idle_w,
			   .cap_w = md->caps.now_w,
			   .estimated_w = md->trust.estimated_w,
			   .measured_w = md->trust.measured_w },
		.load = device_load(md),
		.sleep = device_sleep(c, md),
		.cache = { .redirect = md->knobs.actual.redirect,
			   .known = md->cache.known,
			   .dirty_bytes = md->cache.state.dirty_bytes,
			   .room_bytes = md->cache.state.room_bytes,
			   .missed = cache_hits_missed(md) },
		.exactness = setting_exactness(&md->knobs.actual),
		.meter = meter_source(c->tools.meter, md->device),
		.changing = md->errands.busy || waking_under_way(md),
	};
	describe_reason(md, ret->reason, sizeof(ret->reason));
	describe_problem(md, ret->problem, sizeof(ret->problem));
}

int control_device(const Control *c, size_t index, DeviceState *ret)
{
	if (index >= c->fleet.n)
		return -ENOENT;
	describe(c, c->fleet.devices[index], ret);
	return 0;
}

int control_device_by_name(const Control *c, const char *name, DeviceState *ret)
{
	const Managed *md = fleet_find_name(&c->fleet, name);

	if (!md)
		return -ENOENT;
	describe(c, md, ret);
	return 0;
}

int control_reading(const Control *c, const char *device, DeviceReading *ret)
{
	const Managed *md = fleet_find_name(&c->fleet, device);

	if (!md)
		return -ENOENT;
	*ret = reading_of(&c->gauges, &c->fleet, md);
	return 0;
}

int control_knobs(const Control *c, const char *device, KnobState **ret, size_t *ret_n)
{
	const Managed *md = fleet_find_name(&c->fleet, device);
	KnobState *states = md ? calloc(knob_count(), sizeof(*states)) : NULL;
	size_t n = 0;

	if (!states)
		return md ? -ENOMEM : -ENOENT;
	for_each_knob(const HeldKnob, hk, &md->knobs) states[n++] =
		(KnobState){ .name = hk->knob->name,
			     .mechanism = hk->knob->mechanism,
			     .exactness = hk->knob->exactness,
			     .offered = hk->offered && !obedience_of(md, hk)->withdrawn_why,
			     .why_not = hk->why_not ?: obedience_of(md, hk)->withdrawn_why,
			     .original = hk->original.text,
			     .wanted = hk->touched ? hk->wanted.text : "" };
	*ret = states;
	*ret_n = n;
	return 0;
}

int control_learned(const Control *c, const char *device, size_t index, LearnedState *ret)
{
	const Managed *md = fleet_find_name(&c->fleet, device);

	if (!md || index >= md->served.learned.n)
		return -ENOENT;
	*ret = (LearnedState){ md->served.learned.of[index].setting, md->served.notes[index].mb_s,
			       md->served.notes[index].model_mb_s };
	return 0;
}

size_t control_sensor_count(const Control *c)
{
	return c->gauges.n;
}

void control_sensor(const Control *c, size_t index, SensorState *ret)
{
	static const char *const scopes[] = { "node", "group", "device", "host" };
	const Gauge *g = &c->gauges.gauges[index];

	*ret = (SensorState){ .name = g->config->name,
			      .type = sensor_type_name(g->config->type),
			      .of = scopes[g->config->scope],
			      .target = g->config->target,
			      .watts = g->watts,
			      .why_aside = g->health.why_aside };
}

const Wakeup *control_wakeup(const Control *c, size_t index)
{
	return ring_get(&c->diary.wakeups, index);
}

size_t control_decision_count(const Control *c)
{
	return ring_count(&c->diary.decisions);
}

const Decision *control_decision(const Control *c, size_t index)
{
	return ring_get(&c->diary.decisions, index);
}
