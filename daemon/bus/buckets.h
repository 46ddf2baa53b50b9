/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How often a user may ask for what is costly: each has a bucket of tokens, which fills steadily,
 * and pays with them. Pure: no clock of its own, no memory but the struct. */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define BUCKET_MOST   50.0 /* tokens of who has not asked for long */
#define BUCKET_RATE   5.0  /* tokens a second */
#define BUCKETS_USERS 256  /* who are remembered; all others share one bucket */

typedef struct Bucket {
	uid_t uid;
	double tokens;
	uint64_t filled_us;
} Bucket;

typedef struct Buckets {
	Bucket buckets[BUCKETS_USERS];
	size_t n;
	Bucket shared;
} Buckets;

/* Takes so many tokens, BUCKET_MOST at most, from the user's bucket. Returns 0, or for how many
 * microseconds they are not there yet: then none was taken. now_us is boot time and never falls. */
uint64_t buckets_take(Buckets *b, uid_t uid, double tokens, uint64_t now_us);
