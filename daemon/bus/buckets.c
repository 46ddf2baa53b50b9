/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bus/buckets.h"

#include <math.h>

#include "base/clock.h"

static void fill(Bucket *k, uint64_t now_us)
{
	double more = (double)(now_us - k->filled_us) / USEC_PER_SEC * BUCKET_RATE;

	k->tokens = fmin(k->tokens + more, BUCKET_MOST);
	k->filled_us = now_us;
}

/* A full bucket is like one that was never used: its place is given to another user. NULL: there
 * is none. */
static Bucket *free_place(Buckets *b, uint64_t now_us)
{
	if (b->n < BUCKETS_USERS)
		return &b->buckets[b->n++];
	for (size_t i = 0; i < b->n; i++) {
		fill(&b->buckets[i], now_us);
		if (b->buckets[i].tokens >= BUCKET_MOST)
			return &b->buckets[i];
	}
	return NULL;
}

static Bucket *bucket_of(Buckets *b, uid_t uid, uint64_t now_us)
{
	Bucket *k;

	for (size_t i = 0; i < b->n; i++)
		if (b->buckets[i].uid == uid)
			return &b->buckets[i];
	k = free_place(b, now_us);
	if (k)
		*k = (Bucket){ .uid = uid, .tokens = BUCKET_MOST, .filled_us = now_us };
	return k ?: &b->shared;
}

uint64_t buckets_take(Buckets *b, uid_t uid, double tokens, uint64_t now_us)
{
	Bucket *k = bucket_of(b, uid, now_us);

	fill(k, now_us);
	if (k->tokens < tokens)
		return (uint64_t)ceil((tokens - k->tokens) / BUCKET_RATE * USEC_PER_SEC);
	k->tokens -= tokens;
	return 0;
}
