/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/cache-hits.h"

#include <math.h>
#include <string.h>

/* bcache itself counts four times a minute. */
#define COUNT_US     (15 * USEC_PER_SEC)
#define HALF_LIFE_US (300.0 * USEC_PER_SEC) /* as bcache's own averages of five minutes have */
/* Of one in a hundred, so many reads tell. */
#define READS_LEAST 1000
#define SHARE_MOVED 0.25 /* of itself */
#define SHARE_LEAST 0.002

bool cache_hits_are_due(const Managed *md, uint64_t now_us)
{
	const CacheHits *h = &md->cache.hits;

	return *md->device->behind && (!h->read_us || now_us >= h->read_us + COUNT_US);
}

double cache_hits_missed(const Managed *md)
{
	const CacheHits *h = &md->cache.hits;
	double reads = h->hits + h->misses;

	return *md->device->behind && reads >= READS_LEAST ? h->misses / reads : NAN;
}

/* Counts that are less than before are another device's, or were reset. */
static void add(CacheHits *h, const CacheReads *now, uint64_t now_us)
{
	double left = exp2(-(double)(now_us - h->read_us) / HALF_LIFE_US);

	if (now->hits < h->last.hits || now->misses < h->last.misses) {
		h->hits = h->misses = 0;
		return;
	}
	h->hits = h->hits * left + (double)(now->hits - h->last.hits);
	h->misses = h->misses * left + (double)(now->misses - h->last.misses);
}

static bool has_moved(double was, double is)
{
	if (isnan(was) || isnan(is))
		return isnan(was) != isnan(is);
	return fabs(is - was) > MAX(SHARE_MOVED * was, SHARE_LEAST);
}

Need cache_hits_take(Managed *md, int r, const CacheReads *reads, const Tools *t)
{
	CacheHits *h = &md->cache.hits;
	double was = h->counting ? h->planned : NAN, is;

	if (r >= 0 && h->counting)
		add(h, reads, t->now_us);
	else
		h->hits = h->misses = 0;
	h->counting = r >= 0;
	if (r >= 0)
		h->last = *reads;
	h->read_us = t->now_us;
	is = cache_hits_missed(md);
	if (!has_moved(was, is)) {
		h->planned = was;
		return NOTHING_NEEDED;
	}
	h->planned = is;
	/* the plan in force may break a promise now, and one that keeps it is no better by its MB/s
	 */
	return need(NEED_PLAN, CAUSE_HITS);
}
