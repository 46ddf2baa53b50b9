/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What control/ needs of time and threads: the clock, a call later, work beside the loop. One
 * implementation runs on sd-event and threads (loop-event.c), one on virtual time in the tests. */

#include <stdbool.h>

#include "base/clock.h"

/* Work that may block. `run` is called off the loop, then `done` on the loop. Slow jobs (seconds)
 * have threads of their own and never stand in the way of fast ones. */
typedef struct Work {
	struct Work *next;
	bool slow;
	void (*run)(struct Work *work);
	void (*done)(struct Work *work);
} Work;

typedef struct Loop {
	Clock clock;
	int (*submit)(struct Loop *l, Work *work);
	/* Calls wake() once at that boot time; a new call replaces the former one; USEC_NEVER:
	 * none. */
	int (*wake_at)(struct Loop *l, uint64_t when_us);
	/* Runs until all work, or all but the slow, is done: at the start and at the end of the
	 * daemon. -ETIMEDOUT. */
	int (*drain)(struct Loop *l, uint64_t timeout_us, bool slow_too);
	/* Called when the time of wake_at() has come, and after done() of all work that has come
	 * back at once. */
	void (*wake)(void *userdata);
	void *userdata;
} Loop;
