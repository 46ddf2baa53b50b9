/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "base/clock.h"
#include "device/sim-truth.h"

/* IOs outstanding at the device that the registers let through. */
static unsigned depth_limit(const SimNature *n, const SimRegisters *r)
{
	uint64_t depth = r->value[SIM_NR_REQUESTS];

	if (r->value[SIM_SCHEDULER] == SIM_BFQ && r->value[SIM_STRICT_GUARANTEES])
		return 1;
	if (n->profile->kind == KIND_NVME)
		depth *= n->queues; /* nr_requests holds for each hardware queue */
	else
		depth = MIN(depth, r->value[SIM_QUEUE_DEPTH]);
	return (unsigned)depth;
}

/* The setting that registers amount to, as far as an awake device is concerned. */
static Setting setting_of(const SimNature *n, const SimRegisters *r)
{
	const Mix *m = &n->workload->mix;
	double largest_kib =
		fmax(m->read_share > 0 ? m->read_kib : 0, m->read_share < 1 ? m->write_kib : 0);
	Setting s = SETTING_AS_FOUND;

	if (n->profile->kind == KIND_NVME) {
		s.power_state = (int)(r->value[SIM_POWER_STATE] & 0x1f);
		sim_power_limit_watts((uint32_t)r->value[SIM_POWER_LIMIT], &s.limit_w);
	}
	if ((double)r->value[SIM_MAX_SECTORS_KB] < largest_kib)
		s.chunk_kib = (unsigned)r->value[SIM_MAX_SECTORS_KB];
	s.depth = depth_limit(n, r);
	return s;
}

/* What the device sees of the mix once the kernel has split it. */
static Mix split(const Mix *mix, double chunk_kib)
{
	double reads = mix->read_share, writes = 1 - mix->read_share;
	Mix m = *mix;

	if (chunk_kib > 0 && reads > 0 && m.read_kib > chunk_kib) {
		reads *= m.read_kib / chunk_kib;
		m.read_kib = chunk_kib;
	}
	if (chunk_kib > 0 && writes > 0 && m.write_kib > chunk_kib) {
		writes *= m.write_kib / chunk_kib;
		m.write_kib = chunk_kib;
	}
	m.read_share = reads / (reads + writes);
	m.depth *= reads + writes;
	return m;
}

static void forecast(const SimNature *n, const Setting *s, SimForecast *f)
{
	Setting alone = *s;
	Prediction p;

	if (f->valid && setting_equal(&f->setting, s))
		return;
	predict(n->profile, &n->workload->mix, s, &p);
	f->setting = *s;
	f->watts = p.watts;
	f->mb_s = p.mb_s;
	alone.depth = 1;
	predict(n->profile, &n->workload->mix, &alone, &p);
	f->alone_us = p.iops > 0 ? 1e6 / p.iops : 0;
	f->valid = true;
}

/* The least of what the hardware itself enforces: state, power limit, rating. */
static double ceiling_watts(const SimNature *n, const Setting *s)
{
	double w = INFINITY;

	if (n->profile->kind == KIND_NVME && n->profile->states[s->power_state].present &&
	    n->profile->states[s->power_state].operational)
		w = n->profile->states[s->power_state].max_w;
	if (s->limit_w > 0)
		w = fmin(w, s->limit_w);
	w *= n->ceiling_factor;
	return n->within_rated ? fmin(w, n->profile->rated_w) : w;
}

/* Without IO. */
static double resting_watts(const SimNature *n, const SimRegisters *r)
{
	const Profile *p = n->profile;
	const ConditionPower *c = &p->conditions[r->value[SIM_CONDITION]];
	const PowerState *state = &p->states[r->value[SIM_POWER_STATE] & 0x1f];
	double w = p->idle_w;

	if (p->kind == KIND_NVME && state->present)
		w = fmin(w, state->max_w);
	else if (r->value[SIM_CONDITION] != CONDITION_ACTIVE && c->present)
		w = c->watts;
	else if (r->value[SIM_LINK] >= SIM_LINK_MED_POWER_WITH_DIPM)
		w -= p->link_saving_w;
	return fmax(w, 0) * n->watts_factor;
}

static double mix_bytes(const Mix *m)
{
	return 1024 * (m->read_share * m->read_kib + (1 - m->read_share) * m->write_kib);
}

/* MB/s that io.cost lets through. */
static double paced_mb_s(const SimRegisters *r, const Mix *at_device)
{
	return sim_cost_iops(&r->cost, at_device) * mix_bytes(at_device) / 1e6;
}

static void fill_rates(const Mix *m, double mb_s, const Profile *p, SimRates *ret)
{
	double iops = mb_s * 1e6 / mix_bytes(m);

	ret->mb_s = mb_s;
	ret->ios[READ_IO] = iops * m->read_share;
	ret->ios[WRITE_IO] = iops * (1 - m->read_share);
	ret->bytes[READ_IO] = ret->ios[READ_IO] * m->read_kib * 1024;
	ret->bytes[WRITE_IO] = ret->ios[WRITE_IO] * m->write_kib * 1024;
	ret->sequential_ios = iops * (1 - m->random_share);
	ret->io_joules = iops * mix_io_joules(p, m);
}

/* An open queue fills as 1 / (1 - utilisation), up to what may be outstanding. */
static double mean_depth(const SimForecast *f, const Mix *m, double iops, double used,
			 unsigned limit)
{
	double most = fmin(m->depth, limit);

	return used < 1 ? fmin(most, iops * f->alone_us / 1e6 / (1 - used)) : most;
}

/* Energy is what pacing is priced in, and the profile says how well it knows it: where pacing is
 * on, the true joules of an IO are within that error. */
static double dynamic_watts(const SimNature *n, const SimRegisters *r, double watts,
			    const SimRates *rates)
{
	double error = n->profile->energy_error;

	if (!r->cost.enabled || !n->within_rated)
		return watts;
	return CLAMP(watts, rates->io_joules * (1 - error), rates->io_joules * (1 + error));
}

void sim_rates(const SimNature *n, const SimRegisters *r, SimForecast *cache, double demand_mb_s,
	       SimRates *ret)
{
	Setting s = setting_of(n, r);
	double capacity, rest = resting_watts(n, r), dynamic, used, ceiling;
	Mix at_device = split(&n->workload->mix, s.chunk_kib);

	*ret = (SimRates){ .watts = rest };
	if (demand_mb_s <= 0)
		return;
	forecast(n, &s, cache);
	capacity = cache->mb_s * n->speed_factor;
	dynamic = fmax(cache->watts * n->watts_factor - rest, 0);

	/* hardware that would break its ceiling slows down instead */
	ceiling = fmax(ceiling_watts(n, &s) - rest, 0);
	if (dynamic > ceiling) {
		capacity *= fmax(ceiling, 0.01 * dynamic) / dynamic;
		dynamic = ceiling;
	}
	if (capacity <= 0)
		return;
	fill_rates(&at_device, fmin(fmin(demand_mb_s, capacity), paced_mb_s(r, &at_device)),
		   n->profile, ret);
	used = ret->mb_s / capacity;
	ret->depth = mean_depth(cache, &at_device, ret->ios[READ_IO] + ret->ios[WRITE_IO], used,
				s.depth);
	ret->watts = rest + fmin(dynamic_watts(n, r, dynamic * used, ret), ceiling);
}

double sim_nature_capacity(const SimNature *n, const SimRegisters *r)
{
	SimForecast cache = { 0 };
	SimRates rates;

	sim_rates(n, r, &cache, INFINITY, &rates);
	return rates.mb_s;
}

double sim_nature_demand(const SimNature *n, uint64_t now_us, uint64_t *ret_until_us)
{
	uint64_t since_us = now_us > n->epoch_us ? now_us - n->epoch_us : 0;
	double mb_s = sim_demand_at(&n->workload->demand, n->seed, since_us, ret_until_us);

	if (*ret_until_us != UINT64_MAX)
		*ret_until_us += n->epoch_us;
	return mb_s;
}
