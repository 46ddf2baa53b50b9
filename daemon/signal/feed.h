/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Whether a feed of power fails, by what is seen of it from time to time. Pure; times are boot
 * time. */

#include <stdbool.h>
#include <stdint.h>

typedef enum FeedSeen { FEED_UNKNOWN, FEED_SOUND, FEED_FAILED } FeedSeen;

typedef struct FeedRules {
	uint64_t back_us; /* it must be sound for so long again */
	uint64_t lost_us; /* one of which nothing is known for so long is not waited for */
} FeedRules;

typedef struct FeedState {
	bool failing;
	uint64_t sound_since_us; /* 0: it was not sound when it was seen last */
	uint64_t seen_us;        /* when it was anything but unknown */
	char words[96];          /* how it fails */
} FeedState;

/* words: how it fails; needed with FEED_FAILED alone. */
void feed_see(FeedState *f, FeedSeen seen, const char *words, uint64_t now_us);

typedef enum FeedChange { FEED_STAYS, FEED_IS_BACK, FEED_IS_LOST } FeedChange;

/* Ends the failure whose time is over. */
FeedChange feed_settle(FeedState *f, const FeedRules *rules, uint64_t now_us);
/* When that may do something, if nothing is seen until then; USEC_NEVER: it does nothing. */
uint64_t feed_settles_at(const FeedState *f, const FeedRules *rules);
