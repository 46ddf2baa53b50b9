/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the manager needs of the world's time: the hour, a call later, work beside the loop. One
 * implementation runs on sd-event and threads (loop-event.c), one on virtual time in the tests. */

#include <stdbool.h>

#include "base/clock.h"

/* Work that may block. `run` is called off the loop, then `done` on the loop. Slow jobs (seconds)
 * have threads of their own and never stand in the way of fast ones. */
typedef struct Job {
	struct Job *next;
	bool slow;
	void (*run)(struct Job *job);
	void (*done)(struct Job *job);
} Job;

typedef struct Loop {
	Clock clock;
	int (*submit)(struct Loop *l, Job *job);
	/* Calls wake() once at that boot time; a new call replaces the former one; USEC_NEVER:
	 * none. */
	int (*wake_at)(struct Loop *l, uint64_t when_us);
	/* Runs until all jobs, or all but the slow ones, are done: the emergency path and the last
	 * restore. -ETIMEDOUT. */
	int (*drain)(struct Loop *l, uint64_t timeout_us, bool slow_too);
	void (*wake)(void *userdata);
	void *userdata;
} Loop;
