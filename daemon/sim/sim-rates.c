/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "base/clock.h"
#include "sim/sim-truth.h"

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
static Setting setting_of(const SimNature *n, const SimRegisters *r, const Mix *m)
{
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

static bool same_mix(const Mix *a, const Mix *b)
{
	return a->read_share == b->read_share && a->random_share == b->random_share &&
	       a->read_kib == b->read_kib && a->write_kib == b->write_kib && a->depth == b->depth;
}

/* What is left of the throughput where each IO takes longer than the profile says. */
static double longer_io(const SimNature *n, const Mix *mix, const Setting *s, const Prediction *p)
{
	double depth = split(mix, s->chunk_kib).depth, io_us;

	if (!(n->io_longer_us + n->io_serial_us > 0) || !(p->iops > 0))
		return 1;
	depth = s->depth ? fmin(depth, s->depth) : depth;
	io_us = 1e6 * depth / p->iops;
	return io_us / (io_us + n->io_longer_us + n->io_serial_us * depth);
}

static void forecast(const SimNature *n, const Mix *mix, const Setting *s, struct SimForecastOf *f)
{
	Setting alone = *s;
	Prediction p;
	double part;

	if (f->valid && setting_equal(&f->setting, s) && same_mix(&f->mix, mix))
		return;
	predict(n->profile, mix, s, &p);
	f->setting = *s;
	f->mix = *mix;
	part = longer_io(n, mix, s, &p);
	f->watts = n->profile->idle_w + (p.watts - n->profile->idle_w) * part;
	f->mb_s = p.mb_s * part;
	alone.depth = 1;
	predict(n->profile, mix, &alone, &p);
	f->alone_us = p.iops > 0 ? 1e6 / p.iops + n->io_longer_us + n->io_serial_us : 0;
	f->valid = true;
}

/* The device's own error is in what it multiplies already. */
static double family_factor(const SimNature *n, const SimMoment *m)
{
	return fmax(1 + m->family_error / fmax(n->watts_factor, 0.01), 0);
}

/* What is rated was measured on another specimen: a family that draws more is rated more. */
static double rated_watts(const SimNature *n, double family)
{
	const Profile *p = n->profile;

	return p->rated_w + fmax(family - 1, 0) * fmax(p->rated_w - p->idle_w, 0);
}

/* The least of what the hardware itself enforces: state, power limit, rating. */
static double ceiling_watts(const SimNature *n, const Setting *s, double family)
{
	double w = INFINITY;

	if (n->profile->kind == KIND_NVME && n->profile->states[s->power_state].present &&
	    n->profile->states[s->power_state].operational)
		w = n->profile->states[s->power_state].max_w;
	if (s->limit_w > 0)
		w = fmin(w, s->limit_w);
	w *= n->ceiling_factor;
	return n->within_rated ? fmin(w, rated_watts(n, family)) : w;
}

/* What the device draws below its IO. A link sleeps only while it has nothing to carry. */
static double resting_watts(const SimNature *n, const SimRegisters *r, bool carries)
{
	const Profile *p = n->profile;
	const ConditionPower *c = &p->conditions[r->value[SIM_CONDITION]];
	const PowerState *state = &p->states[r->value[SIM_POWER_STATE] & 0x1f];
	double w = p->idle_w;

	if (p->kind == KIND_NVME && state->present)
		w = fmin(w, state->max_w);
	else if (r->value[SIM_CONDITION] != CONDITION_ACTIVE && c->present)
		w = c->watts;
	else if (r->value[SIM_LINK] >= SIM_LINK_MED_POWER_WITH_DIPM && !carries)
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

/* The depth of an open queue is 1 / (1 - utilisation), up to what may be outstanding. */
static double mean_depth(const struct SimForecastOf *f, const Mix *m, double iops, double used,
			 unsigned limit)
{
	double most = fmin(m->depth, limit);

	return used < 1 ? fmin(most, iops * f->alone_us / 1e6 / (1 - used)) : most;
}

/* Pacing is priced in energy, and the profile says how well it knows that. So where pacing is on,
 * the true joules of an IO are within that error. */
static double dynamic_watts(const SimNature *n, const SimRegisters *r, double watts,
			    const SimRates *rates)
{
	double error = n->profile->energy_error;

	if (!r->cost.enabled || !n->within_rated)
		return watts;
	return CLAMP(watts, rates->io_joules * (1 - error), rates->io_joules * (1 + error));
}

static void add_rates(SimRates *sum, const SimRates *part)
{
	for (int d = 0; d < _DIRECTION_MAX; d++) {
		sum->ios[d] += part->ios[d];
		sum->bytes[d] += part->bytes[d];
	}
	sum->sequential_ios += part->sequential_ios;
	sum->io_joules += part->io_joules;
	sum->depth += part->depth;
}

/* Serves one work in what is left of the device's time; the draw above rest is ret->watts. */
static void serve(const SimNature *n, const SimMoment *m, const SimStream *work,
		  struct SimForecastOf *f, double *left, SimRates *ret)
{
	const SimRegisters *r = m->registers;
	Setting s = setting_of(n, r, &work->mix);
	Mix at_device = split(&work->mix, s.chunk_kib);
	double family = family_factor(n, m), rest = resting_watts(n, r, true);
	double capacity, dynamic, ceiling, used, most;

	forecast(n, &work->mix, &s, f);
	capacity = f->mb_s * n->speed_factor;
	dynamic = fmax(f->watts * n->watts_factor - rest, 0);

	/* hardware that would break its ceiling slows down instead */
	ceiling = fmax(ceiling_watts(n, &s, family) - rest, 0);
	if (dynamic * family > ceiling) {
		capacity *= fmax(ceiling, 0.01 * dynamic * family) / (dynamic * family);
		dynamic = ceiling / family;
	}
	if (capacity <= 0)
		return;
	most = fmin(capacity, paced_mb_s(r, &at_device));
	fill_rates(&at_device, fmin(work->mb_s, most * *left), n->profile, ret);
	*left = most > 0 ? fmax(*left - ret->mb_s / most, 0) : 0;
	used = ret->mb_s / capacity;
	ret->depth =
		mean_depth(f, &at_device, ret->ios[READ_IO] + ret->ios[WRITE_IO], used, s.depth);
	ret->watts = fmin(dynamic_watts(n, r, dynamic * used, ret) * family, ceiling);
}

static void take_own(const SimRates *part, SimRates *ret)
{
	double ios = part->ios[READ_IO] + part->ios[WRITE_IO];

	ret->mb_s = part->mb_s;
	ret->own_reads = part->ios[READ_IO];
	ret->read_us = ios > 0 ? part->depth / ios * 1e6 : 0;
}

static bool any_work(const SimStream work[_SIM_WORK_MAX])
{
	for (int i = 0; i < _SIM_WORK_MAX; i++)
		if (work[i].mb_s > 0)
			return true;
	return false;
}

void sim_rates(const SimNature *n, const SimMoment *m, const SimStream work[_SIM_WORK_MAX],
	       SimRates *ret)
{
	Setting s = setting_of(n, m->registers, &n->workload->mix);
	double rest = resting_watts(n, m->registers, any_work(work)), left = 1, dynamic = 0;
	double ceiling = ceiling_watts(n, &s, family_factor(n, m));

	*ret = (SimRates){ .watts = rest };
	for (int i = 0; i < _SIM_WORK_MAX; i++) {
		SimRates part = { 0 };

		if (work[i].mb_s <= 0)
			continue;
		serve(n, m, &work[i], &m->cache->of[i], &left, &part);
		add_rates(ret, &part);
		ret->work_mb_s[i] = part.mb_s;
		dynamic += part.watts;
		if (i == SIM_OWN)
			take_own(&part, ret);
	}
	ret->watts = rest + fmin(dynamic, fmax(ceiling - rest, 0));
}

double sim_nature_capacity(const SimNature *n, const SimRegisters *r)
{
	SimStream work[_SIM_WORK_MAX] = { [SIM_OWN] = { n->workload->mix, INFINITY } };
	SimForecast cache = { 0 };
	SimMoment m = { .registers = r, .cache = &cache };
	SimRates rates;

	sim_rates(n, &m, work, &rates);
	return rates.mb_s;
}

static uint64_t since_epoch(const SimNature *n, uint64_t now_us)
{
	return now_us > n->epoch_us ? now_us - n->epoch_us : 0;
}

static void add_epoch(const SimNature *n, uint64_t *until_us)
{
	if (*until_us != UINT64_MAX)
		*until_us += n->epoch_us;
}

double sim_nature_family_error(const SimNature *n, uint64_t now_us, uint64_t *ret_until_us)
{
	double error = sim_family_at(&n->family, since_epoch(n, now_us), ret_until_us);

	add_epoch(n, ret_until_us);
	return error;
}

double sim_nature_demand(const SimNature *n, uint64_t now_us, uint64_t *ret_until_us)
{
	uint64_t since_us = since_epoch(n, now_us);
	double mb_s = sim_demand_at(&n->workload->demand, n->load_seed, since_us, ret_until_us);

	mb_s = sim_burst_at(&n->burst, since_us, mb_s, ret_until_us);
	add_epoch(n, ret_until_us);
	return mb_s;
}
