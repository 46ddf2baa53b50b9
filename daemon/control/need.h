/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What has to follow from what has happened. Whoever takes an event returns it; of several the most
 * urgent one wins, and of equally urgent ones the first. */

typedef enum NeedLevel {
	NEED_NOTHING,
	NEED_STEPS,       /* a knob may be turned that could not be before */
	NEED_BETTER_PLAN, /* a plan, adopted where it is enough better than the one in force */
	NEED_PLAN,        /* a plan, told of where it changes something */
	NEED_TOLD_PLAN,   /* a plan, told of in any case */
} NeedLevel;

typedef enum Cause {
	CAUSE_NONE,
	CAUSE_START,
	CAUSE_CLAIM_ADDED,
	CAUSE_CLAIM_CHANGED,
	CAUSE_CLAIM_RELEASED,
	CAUSE_CLAIM_BEGAN,
	CAUSE_CLAIM_EXPIRED,
	CAUSE_OWNER_LEFT,
	CAUSE_POLICY,
	CAUSE_MODE,
	CAUSE_RELOAD,
	CAUSE_DESCRIBED,
	CAUSE_DEMAND,
	CAUSE_DUE,
	CAUSE_IO_WOKE,
	CAUSE_WAKE_ASKED,
	CAUSE_WAKE_SEEN,
	CAUSE_SPENT_TOO_MUCH,
	CAUSE_SERVES_OTHERWISE,
	CAUSE_KNOB_FAILED,
	CAUSE_VETOED,
	CAUSE_SLOW_SAVING,
	CAUSE_LOST,
	CAUSE_CACHE_FULL,
	CAUSE_CACHE_DRAINED,
	CAUSE_HITS,
	CAUSE_ADDED,
	CAUSE_REMOVED,
	CAUSE_CHANGED,
	CAUSE_MOVED,
	CAUSE_RESET,
	CAUSE_PROBED,
	CAUSE_TEST_BEGINS,
	CAUSE_TEST_ENDED,
	_CAUSE_MAX,
} Cause;

typedef struct Need {
	NeedLevel level;
	Cause cause;
} Need;

#define NOTHING_NEEDED ((Need){ NEED_NOTHING, CAUSE_NONE })

static inline Need need(NeedLevel level, Cause cause)
{
	return (Need){ level, cause };
}

static inline Need need_more(Need a, Need b)
{
	return b.level > a.level ? b : a;
}

const char *cause_text(Cause c);
