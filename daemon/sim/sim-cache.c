/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* After drivers/md/bcache/{request,writeback}.c of the kernel, simplified: it keeps to its target
 * of dirty data exactly instead of by a control loop, and every disk has a cache set of its own. */

#include "sim/sim-cache.h"

#include <math.h>

#include "base/clock.h"

#define BYPASS_ENDS 0.95    /* of the cutoff: the kernel counts what is dirty now and then */
#define AT_TARGET   1e6     /* bytes above the target that count as being there */
#define LEAST_MB_S  4096e-6 /* writeback_rate_minimum: 8 sectors a second */

static double cutoff_bytes(const SimNature *n)
{
	return n->cache_bytes * SIM_CACHE_CUTOFF_PERCENT / 100;
}

static double target_bytes(const SimTruth *t, const SimNature *n)
{
	return n->cache_bytes * (double)t->real.value[SIM_WRITEBACK_PERCENT] / 100;
}

/* The share of the writes that is held, by should_writeback() and check_should_bypass(). */
static double held_share(const SimTruth *t, const SimNature *n)
{
	if (t->real.value[SIM_CACHE_MODE] != SIM_CACHE_WRITEBACK || t->bypassed)
		return 0;
	return t->real.value[SIM_SEQUENTIAL_CUTOFF] ? n->workload->mix.random_share : 1;
}

static double cached_share(const SimTruth *t, const SimNature *n)
{
	return t->real.value[SIM_CACHE_MODE] == SIM_CACHE_NONE ? 0 : n->cached_reads;
}

/* Without a target, and where nothing is written, it writes back as fast as the disk takes it. */
static double writeback_mb_s(const SimTruth *t, const SimNature *n, double held_mb_s)
{
	double target = target_bytes(t, n);

	if (!t->real.value[SIM_WRITEBACK_RUNNING] || (t->dirty_bytes <= 0 && held_mb_s <= 0))
		return 0;
	if (held_mb_s <= 0 || t->dirty_bytes > target + AT_TARGET)
		return INFINITY;
	return t->dirty_bytes < target ? LEAST_MB_S : held_mb_s;
}

static double mix_mb(const Mix *m, double reads, double writes)
{
	return (reads * m->read_kib + writes * m->write_kib) * 1024 / 1e6;
}

/* What is left of the workload when some of its IOs a second go elsewhere. */
static SimStream without(const Mix *mix, double reads, double writes, double random_writes)
{
	double ios = reads + writes;
	SimStream s = { .mix = *mix, .mb_s = mix_mb(mix, reads, writes) };

	if (ios <= 0)
		return (SimStream){ .mix = *mix };
	s.mix.read_share = reads / ios;
	s.mix.random_share = (reads * mix->random_share + random_writes) / ios;
	return s;
}

void sim_cache_split(const SimTruth *t, const SimNature *n, double demand_mb_s, SimSplit *ret)
{
	const Mix *m = &n->workload->mix;
	double mb = mix_mb(m, m->read_share, 1 - m->read_share), held, cached;
	double reads, writes, random_writes;

	*ret = (SimSplit){ .direct = { *m, demand_mb_s } };
	if (n->cache_bytes <= 0)
		return;
	reads = demand_mb_s / mb * m->read_share;
	writes = demand_mb_s / mb * (1 - m->read_share);
	cached = reads * cached_share(t, n);
	held = writes * held_share(t, n);
	random_writes = fmax(writes * m->random_share - held, 0);
	if (cached > 0 || held > 0)
		ret->direct = without(m, reads - cached, writes - held, random_writes);
	ret->cached_reads = cached;
	ret->cached_mb_s = mix_mb(m, cached, 0);
	ret->held_mb_s = mix_mb(m, 0, held);
	ret->writeback = (SimStream){ .mix = { .write_kib = 256, .read_kib = 256, .depth = 16 },
				      .mb_s = writeback_mb_s(t, n, ret->held_mb_s) };
}

void sim_cache_notice(SimTruth *t, const SimNature *n)
{
	if (t->dirty_bytes >= cutoff_bytes(n))
		t->bypassed = 1;
	else if (t->dirty_bytes < BYPASS_ENDS * cutoff_bytes(n))
		t->bypassed = 0;
}

static uint64_t clean_us(const SimTruth *t)
{
	return t->drained_us + t->real.value[SIM_WRITEBACK_DELAY] * USEC_PER_SEC;
}

/* As bch_writeback_add(), which marks the disk dirty, and bch_writeback_thread(), which looks again
 * when all has been written and marks it clean. */
bool sim_cache_mark(SimTruth *t, const SimSplit *split)
{
	bool drained = t->marked_dirty && t->dirty_bytes <= 0 && split->held_mb_s <= 0 &&
		       t->real.value[SIM_WRITEBACK_RUNNING];

	if (!drained)
		t->drained_us = 0;
	else if (!t->drained_us)
		t->drained_us = t->t_us;
	if (t->marked_dirty ? !drained || t->t_us < clean_us(t) : split->held_mb_s <= 0)
		return false;
	t->marked_dirty = !t->marked_dirty;
	t->drained_us = 0;
	return true;
}

static uint64_t reached_us(uint64_t now_us, double bytes, double bytes_s)
{
	double s = bytes / bytes_s;

	/* a microsecond late rather than just not yet */
	return s >= 0 && s < 1e9 ? now_us + (uint64_t)(s * USEC_PER_SEC) + 1 : UINT64_MAX;
}

static double net_bytes_s(const SimTruth *t)
{
	return (t->rates.held_mb_s - t->rates.work_mb_s[SIM_WRITEBACK]) * 1e6;
}

uint64_t sim_cache_next_us(const SimTruth *t, const SimNature *n)
{
	double target = target_bytes(t, n), cutoff = cutoff_bytes(n);
	double marks[] = { 0, BYPASS_ENDS * cutoff, cutoff, target, target + AT_TARGET / 2 };
	double net = net_bytes_s(t);
	uint64_t next_us = t->drained_us ? clean_us(t) : UINT64_MAX;

	for (size_t i = 0; i < ELEMENTSOF(marks); i++)
		if (net != 0 && (marks[i] - t->dirty_bytes) / net > 0)
			next_us = MIN(next_us, reached_us(t->t_us, marks[i] - t->dirty_bytes, net));
	return next_us;
}

void sim_cache_pass(SimTruth *t, double s)
{
	t->dirty_bytes += net_bytes_s(t) * s;
	if (t->dirty_bytes < 1)
		t->dirty_bytes = 0;
}
