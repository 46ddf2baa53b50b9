/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "signal/feed.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "base/clock.h"

void feed_see(FeedState *f, FeedSeen seen, const char *words, uint64_t now_us)
{
	if (seen == FEED_UNKNOWN)
		return;
	f->seen_us = now_us;
	if (seen == FEED_FAILED) {
		f->failing = true;
		f->sound_since_us = 0;
		snprintf(f->words, sizeof(f->words), "%s", words);
	} else if (!f->sound_since_us) {
		f->sound_since_us = MAX(now_us, 1ULL);
	}
}

FeedChange feed_settle(FeedState *f, const FeedRules *rules, uint64_t now_us)
{
	if (!f->failing)
		return FEED_STAYS;
	if (f->sound_since_us && now_us >= f->sound_since_us + rules->back_us) {
		f->failing = false;
		return FEED_IS_BACK;
	}
	if (now_us < f->seen_us + rules->lost_us)
		return FEED_STAYS;
	f->failing = false;
	return FEED_IS_LOST;
}

uint64_t feed_settles_at(const FeedState *f, const FeedRules *rules)
{
	uint64_t lost = f->seen_us + rules->lost_us;

	if (!f->failing)
		return USEC_NEVER;
	return f->sound_since_us ? MIN(lost, f->sound_since_us + rules->back_us) : lost;
}
