/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "control/manager-internal.h"

/* Someone is watching: have figures of the last second, now and for a while. */
void manager_freshen(Manager *m)
{
	uint64_t now = manager_now_us(m);
	bool was_watched = now < m->watched_until_us;

	m->watched_until_us = now + WATCHED_US;
	if (now - m->looked_us >= LOOK_US)
		manager_look(m);
	if (!was_watched)
		manager_arm(m);
}

static double device_floor_w(const Manager *m, const ManagedDevice *md)
{
	Candidate frontier[FRONTIER_MAX];
	size_t n;

	if (md->device->protected_why || managed_held(m, md))
		return md->cap_w;
	frontier_build(md->device->profile, &md->mix, &md->offer, m->policy->forbidden,
		       managed_asleep(md) ? md->actual.condition : CONDITION_IDLE_B, frontier, &n);
	return frontier[0].cap_w;
}

/* The least that the devices can be brought down to now; not made more often than once a look. */
static double floor_w(Manager *m)
{
	if (m->floor_at_us == m->looked_us && m->looked_us)
		return m->floor_w;
	m->floor_w = 0;
	for (size_t i = 0; i < m->n_devices; i++)
		m->floor_w += device_floor_w(m, m->devices[i]);
	m->floor_at_us = m->looked_us;
	return m->floor_w;
}

static bool has_problems(const Manager *m)
{
	for (size_t i = 0; i < m->n_devices; i++)
		if (m->devices[i]->problem || managed_overdue(m, m->devices[i]))
			return true;
	return false;
}

static void sum_devices(const Manager *m, ManagerState *ret)
{
	for (size_t i = 0; i < m->n_devices; i++) {
		const ManagedDevice *md = m->devices[i];

		ret->estimated_w += md->estimated_w;
		ret->mb_s += md->rates.mb_s[READ_IO] + md->rates.mb_s[WRITE_IO];
		ret->demand_mb_s += md->planned.full_mb_s;
	}
}

void manager_state(Manager *m, ManagerState *ret)
{
	const Claim *c = m->effective_cookie ? claims_find(m->claims, m->effective_cookie) : NULL;

	manager_freshen(m);
	*ret = (ManagerState){
		.budget_w = m->budget_w,
		.effective = c,
		.rated_w = manager_rated_w(m),
		.floor_w = floor_w(m),
		.measured_w = m->measured_w,
		.cap_w = m->cap_w,
		.expected_mb_s = m->plan ? m->plan->mb_s : 0,
		.enforcing = manager_enforcing(m),
		.shortfall_w = m->plan ? MAX(m->plan->shortfall_w, m->plan->limit_shortfall_w) : 0,
		.last_enforce_us = m->last_enforce_us,
		.n_devices = m->n_devices,
		.meter = m->meter_why_not ? "device counters" : "ebpf",
		.meter_why_not = m->meter_why_not,
	};
	sum_devices(m, ret);
	ret->degraded = ret->enforcing && (ret->shortfall_w > 0 || has_problems(m));
}

size_t manager_device_count(const Manager *m)
{
	return m->n_devices;
}

static void fill_wear(const Manager *m, const ManagedDevice *md, DeviceState *ret)
{
	WearTerms terms = managed_wear_terms(m, md);

	if (!md->wear)
		return;
	ret->starts_left = md->wear->starts;
	ret->starts_a_day = terms.starts_a_day;
	ret->loads_left = md->wear->loads;
	ret->loads_a_day = terms.loads_a_day;
	ret->starts_used = md->wear->starts_used;
}

static void fill_device(const Manager *m, ManagedDevice *md, DeviceState *ret)
{
	const MeterRates *r = &md->rates;

	managed_judge_sleep(m, md, manager_policy_now(m));
	*ret = (DeviceState){
		.device = md->device,
		.setting = md->actual,
		.planned = md->planned,
		.rated_w = md->device->profile->rated_w,
		.idle_w = md->device->profile->idle_w,
		.cap_w = md->cap_w,
		.estimated_w = md->estimated_w,
		.measured_w = md->measured_w,
		.mb_s = r->mb_s[READ_IO] + r->mb_s[WRITE_IO],
		.iops = r->iops[READ_IO] + r->iops[WRITE_IO],
		.depth = r->depth,
		.mean_kib = mix_mean_kib(&md->mix),
		.read_share = md->mix.read_share,
		.random_share = md->mix.random_share,
		.latency_us = r->latency_us,
		.demand_mb_s = md->demand_mb_s,
		.exactness = setting_exactness(&md->actual),
		.meter = meter_source(m->meter, md->device),
		.reason = md->device->protected_why ? "protected"
						    : plan_reason_text(md->planned.reason),
		.problem = md->problem,
		.asleep = managed_asleep(md),
		.changing = md->busy || managed_waking(m, md),
		.awake_why = managed_asleep(md) ? "" : md->awake_why,
		.redirect = md->actual.redirect,
		.has_cache = md->has_cache,
		.cache_dirty_bytes = md->cache_state.dirty_bytes,
		.cache_room_bytes = md->cache_state.room_bytes,
	};
	fill_wear(m, md, ret);
}

int manager_device(Manager *m, size_t index, DeviceState *ret)
{
	if (index >= m->n_devices)
		return -ENOENT;
	manager_freshen(m);
	fill_device(m, m->devices[index], ret);
	return 0;
}

int manager_device_by_name(Manager *m, const char *name, DeviceState *ret)
{
	for (size_t i = 0; i < m->n_devices; i++)
		if (streq(m->devices[i]->device->name, name))
			return manager_device(m, i, ret);
	return -ENOENT;
}

static void verify_knob(const ManagedDevice *md, const ManagedKnob *mk, KnobValue *found,
			KnobState *ret)
{
	if (md->busy) /* a worker has it, and its value is about to change */
		return;
	if (mk->knob->read(md->device, found) < 0)
		snprintf(found->text, sizeof(found->text), "(cannot be read)");
	ret->found = found->text;
	/* what was never touched is its owner's to change */
	ret->differs = mk->touched && !knob_fulfils(mk->knob, md->device, &mk->current, found);
}

/* The strings of what was found live behind the array, in the same allocation. */
static int list_knobs(const Manager *m, size_t index, bool verify, KnobState **ret, size_t *ret_n)
{
	const ManagedDevice *md = index < m->n_devices ? m->devices[index] : NULL;
	size_t n = knob_count();
	KnobValue *found;
	KnobState *states;

	if (!md)
		return -ENOENT;
	states = calloc(1, n * (sizeof(*states) + sizeof(*found)));
	if (!states)
		return -ENOMEM;
	found = (KnobValue *)(states + n);
	for (size_t i = 0; i < n; i++) {
		const ManagedKnob *mk = &md->knobs[i];

		states[i] = (KnobState){ .name = mk->knob->name,
					 .mechanism = mk->knob->mechanism,
					 .exactness = mk->knob->exactness,
					 .offered = mk->offered,
					 .why_not = mk->why_not,
					 .original = mk->original.text,
					 .wanted = mk->touched ? mk->wanted.text : "",
					 .found = mk->current.text };
		if (verify && mk->offered)
			verify_knob(md, mk, &found[i], &states[i]);
	}
	*ret = states;
	*ret_n = n;
	return 0;
}

int manager_knobs(Manager *m, size_t index, KnobState **ret, size_t *ret_n)
{
	return list_knobs(m, index, false, ret, ret_n);
}

/* What somebody else changed is reported, and set again. */
int manager_verify_device(Manager *m, size_t index, KnobState **ret, size_t *ret_n)
{
	int r = list_knobs(m, index, true, ret, ret_n);

	for (size_t i = 0; r >= 0 && i < *ret_n; i++)
		if ((*ret)[i].differs) {
			managed_reread(m, m->devices[index], "somebody changed it");
			break;
		}
	return r;
}
