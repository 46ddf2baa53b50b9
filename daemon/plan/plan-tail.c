/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How long IOs may take. What an application sees of a disk behind a cache is a mixture: a read is
 * a hit, and takes what the cache needs for it, or a miss, and takes what the disk needs (what lies
 * where is looked up in memory). A 99th percentile of both together leaves it open who is slow in
 * one IO of a hundred, so that each gets a part of that by itself, and neither setting depends on
 * the other. */

#include <math.h>

#include "model/service.h"
#include "plan/plan-work.h"

/* Of all reads. A cache is so much faster than the disk that it hardly needs any of the hundredth:
 * the disk has the rest, and where even all of its misses are less than that, the cache has more.
 */
#define HITS_SLOW 0.001

/* The hits that may be slow, of all reads. */
static double slow_hits(double misses)
{
	return misses < 1 ? MAX(P99_SLOW - misses, HITS_SLOW) : 0;
}

static void tighten(Ceiling *c, double us, double slow)
{
	c->us = MIN(c->us, us);
	c->slow = MIN(c->slow, slow);
}

void tails_fill(const PlanInput *in, Terms *terms)
{
	for (size_t k = 0; k < in->n_tiers; k++) {
		const PlanTier *t = &in->tiers[k];
		Ceiling *disk = &terms[t->disk].own;
		double hits = slow_hits(t->misses);

		if (isinf(disk->us))
			continue;
		disk->slow = t->misses > P99_SLOW - hits ? (P99_SLOW - hits) / t->misses : 1;
		if (t->misses < 1)
			tighten(&terms[t->cache].hits, disk->us, hits / (1 - t->misses));
	}
}

static bool keeps(const Work *w, size_t i, const Setting *s, double p99_us, const Ceiling *c)
{
	const PlanDevice *d = &w->in->devices[i];
	Prediction p;
	double mean_us;

	if (c->slow >= 1 || isinf(c->us) || (c->slow >= P99_SLOW && p99_us <= c->us))
		return true;
	if (c->slow == P99_SLOW)
		return false;
	predict(d->profile, &d->mix, s, &p);
	if (!(p.iops > 0)) /* it sleeps: each of them waits for it */
		return p99_us <= c->us;
	mean_us = 1e6 * p.depth / p.iops;
	return service_slower(p99_us / mean_us, c->us / mean_us) <= c->slow;
}

bool tail_keeps(const Work *w, size_t i, const Setting *s, double p99_us)
{
	return keeps(w, i, s, p99_us, &w->terms[i].own) &&
	       keeps(w, i, s, p99_us, &w->terms[i].hits);
}

PlanReason tail_reason(const Work *w, size_t i, const PlannedDevice *d)
{
	const Terms *t = &w->terms[i];

	if (!keeps(w, i, &d->setting, d->p99_us, &t->own))
		return t->own.slow == P99_SLOW ? PLAN_SLOW : PLAN_SLOW_MISSES;
	return keeps(w, i, &d->setting, d->p99_us, &t->hits) ? PLAN_SHARE : PLAN_SLOW_HITS;
}

double longest_wait_us(const Work *w, size_t i)
{
	const Terms *t = &w->terms[i];

	return MIN(t->own.slow < 1 ? t->own.us : INFINITY, t->hits.us);
}
