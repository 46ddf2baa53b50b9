/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sim/sim-device.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "sim/sim-feed.h"
#include "sim/sim-random.h"

#define FEATURE_POWER_MANAGEMENT 0x02
#define FEATURE_POWER_LIMIT      0x23
#define SLOWNESS                 50
#define HANG_US                  (60 * USEC_PER_SEC)

static void hang(const SimDevice *s, SimFault fault)
{
	if (fault == SIM_HANG)
		clock_sleep_us(s->clock, HANG_US);
}

int sim_device_peek(SimDevice *s, SimTruth *ret)
{
	uint64_t now_us = clock_now_us(s->clock);
	SimForecast cache;

	sim_record_lock(s->record);
	*ret = s->record->truth;
	cache = s->cache;
	sim_record_unlock(s->record);
	sim_truth_advance(ret, &s->nature, &cache, NULL, now_us);
	hang(s, ret->fault);
	return ret->gone ? -ENODEV : 0;
}

int sim_device_ready(SimDevice *s, SimTruth *ret)
{
	int r = sim_device_peek(s, ret);

	if (r >= 0 && ret->fault == SIM_REFUSE) {
		clock_sleep_us(s->clock, SIM_SYSFS_US);
		r = -EIO;
	}
	return r;
}

int sim_device_write(SimDevice *s, const SimTruth *now, SimChange *c, uint64_t us)
{
	if (now->fault == SIM_SLOW)
		us *= SLOWNESS;
	c->effective_us = clock_now_us(s->clock) + us;
	if (now->fault != SIM_IGNORE) {
		sim_record_lock(s->record);
		sim_truth_write(&s->record->truth, &s->nature, c, now->fault == SIM_LIE);
		sim_record_unlock(s->record);
	}
	clock_sleep_us(s->clock, us);
	return 0;
}

void sim_device_advance_locked(SimDevice *s)
{
	sim_record_lock(s->record);
	sim_feed_advance(s, clock_now_us(s->clock));
}

static int feature_get(Device *d, uint8_t feature, uint32_t *ret_value)
{
	SimDevice *s = d->impl;
	SimTruth t;
	int r = sim_device_peek(s, &t);

	if (r < 0)
		return r;
	if (feature == FEATURE_POWER_MANAGEMENT)
		*ret_value = (uint32_t)t.told.value[SIM_POWER_STATE];
	else if (feature == FEATURE_POWER_LIMIT && s->power_limit)
		*ret_value = (uint32_t)t.told.value[SIM_POWER_LIMIT];
	else
		return -EOPNOTSUPP;
	return 0;
}

static double lowest_limit_w(const Profile *p)
{
	double lowest = p->rated_w;

	for (unsigned i = 0; i < p->n_states; i++)
		if (p->states[i].present && p->states[i].operational)
			lowest = fmin(lowest, p->states[i].max_w);
	return lowest;
}

/* -EINVAL: Invalid Field in Command, or Invalid Limit (3Eh) for feature 23h. */
static int check_feature(const SimDevice *s, uint8_t feature, uint32_t value)
{
	double w;

	if (feature == FEATURE_POWER_MANAGEMENT) {
		uint32_t states = s->device->power_states;

		return value > 0xff || !(states >> (value & 0x1f) & 1) ? -EINVAL : 0;
	}
	if (feature != FEATURE_POWER_LIMIT || !s->power_limit)
		return -EOPNOTSUPP;
	if (sim_power_limit_watts(value, &w) < 0)
		return -EINVAL;
	/* half a unit of the coarser scale forgiven */
	if (w > 0 && (w < lowest_limit_w(s->nature.profile) - 0.005 ||
		      w > s->nature.profile->rated_w + 0.005))
		return -EINVAL;
	return 0;
}

static int feature_set(Device *d, uint8_t feature, uint32_t value)
{
	SimDevice *s = d->impl;
	SimChange c = { .value = value };
	const PowerState *state;
	SimTruth t;
	int r = sim_device_ready(s, &t);

	if (r >= 0)
		r = check_feature(s, feature, value);
	if (r < 0)
		return r;
	c.reg = feature == FEATURE_POWER_MANAGEMENT ? SIM_POWER_STATE : SIM_POWER_LIMIT;
	state = &s->nature.profile
			 ->states[c.reg == SIM_POWER_STATE ? value & 0x1f
							   : t.told.value[SIM_POWER_STATE] & 0x1f];
	return sim_device_write(s, &t, &c, MAX((uint64_t)state->entry_us, SIM_SYSFS_US));
}

static int cgroup_read(Device *d, const char *file, char *buf, size_t size)
{
	SimTruth t;
	int r = sim_device_peek(d->impl, &t);

	return r < 0 ? r : sim_cost_print(&t.told.cost, file, buf, size);
}

static int cgroup_write(Device *d, const char *file, const char *line)
{
	SimChange c = { .reg = SIM_COST };
	SimTruth t;
	int r = sim_device_ready(d->impl, &t);

	if (r < 0)
		return r;
	c.cost = t.told.cost;
	r = sim_cost_parse(&c.cost, file, line, d->kind);
	return r < 0 ? r : sim_device_write(d->impl, &t, &c, SIM_SYSFS_US);
}

static void fill_counters(const SimTruth *t, DeviceCounters *ret)
{
	*ret = (DeviceCounters){
		.time_us = t->t_us,
		.sequential_ios = (uint64_t)t->sequential_ios,
		.latency_us = t->latency_us,
		.outstanding = t->rates.depth,
		.joules = t->io_joules,
		.has_pattern = true,
		.has_joules = true,
	};
	for (int d = 0; d < _DIRECTION_MAX; d++) {
		ret->ios[d] = (uint64_t)t->ios[d];
		ret->bytes[d] = (uint64_t)t->bytes[d];
	}
}

static int counters(Device *d, DeviceCounters *ret)
{
	SimDevice *s = d->impl;
	SimFault fault;
	bool gone;

	sim_device_advance_locked(s);
	gone = s->record->truth.gone;
	fault = s->record->truth.fault;
	if (!gone)
		fill_counters(&s->record->truth, ret);
	sim_record_unlock(s->record);
	hang(s, fault);
	return gone ? -ENODEV : 0;
}

/* What the disk has read for itself are the misses. */
static int cache_reads(Device *d, const char *behind, CacheReads *ret)
{
	SimDevice *s = d->impl;
	DeviceCounters own;
	double hits;

	(void)behind;
	sim_device_advance_locked(s);
	fill_counters(&s->record->truth, &own);
	hits = s->record->truth.account.cached_reads;
	sim_record_unlock(s->record);
	*ret = (CacheReads){ (uint64_t)hits, own.ios[READ_IO] };
	return 0;
}

static int power(Device *d, double *ret_w)
{
	SimDevice *s = d->impl;
	SimFault fault;
	uint64_t t_us;
	double watts;
	bool gone;

	sim_device_advance_locked(s);
	gone = s->record->truth.gone;
	watts = s->record->truth.rates.watts;
	t_us = s->record->truth.t_us;
	fault = s->record->truth.fault;
	sim_record_unlock(s->record);
	hang(s, fault);
	if (gone)
		return -ENODEV;
	*ret_w = fmax(watts * (1 + s->noise * sim_normal(s->nature.seed, t_us)), 0);
	return 0;
}

uint32_t sim_device_power_states(const Profile *p)
{
	uint32_t states = 0;

	for (unsigned i = 0; p->kind == KIND_NVME && i < p->n_states; i++)
		if (p->states[i].present)
			states |= 1U << i;
	return states ?: p->kind == KIND_NVME;
}

unsigned sim_device_conditions(const Profile *p)
{
	unsigned conditions = 1U << CONDITION_ACTIVE;

	for (unsigned c = CONDITION_IDLE_A; p->kind != KIND_NVME && c < _CONDITION_MAX; c++)
		if (p->conditions[c].present)
			conditions |= 1U << c;
	return conditions;
}

/* There is no tree of sysfs: what lies on the disk is among its attributes. */
static int no_sysfs(Device *d, const char **ret)
{
	(void)d;
	*ret = "";
	return 0;
}

void sim_device_init_ops(SimDevice *s, bool sensor)
{
	DeviceKind kind = s->nature.profile->kind;

	s->ops.attr_read = sim_attr_read;
	s->ops.attr_write = sim_attr_write;
	s->ops.cgroup_read = cgroup_read;
	s->ops.cgroup_write = cgroup_write;
	s->ops.counters = counters;
	s->ops.cache_reads = cache_reads;
	s->ops.power = sensor ? power : NULL;
	if (kind == KIND_NVME) {
		s->ops.feature_get = feature_get;
		s->ops.feature_set = feature_set;
	} else {
		s->ops.condition_get = sim_condition_get;
		s->ops.condition_set = sim_condition_set;
		s->ops.may_sleep = sim_may_sleep;
		s->ops.wake_test = sim_wake_test;
		s->ops.sysfs_root = no_sysfs;
	}
}
