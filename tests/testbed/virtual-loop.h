/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A Loop on virtual time: an hour passes in the time its events take to compute. Jobs overlap as
 * threads do: each runs at once when submitted, its sleeps move only its own time ahead, and its
 * done() comes when the loop's time has got there. Deterministic. */

#include "loop/loop.h"

#define FAST_THREADS_MOST 8

Loop *virtual_loop_new(uint64_t start_us);
Loop *virtual_loop_free(Loop *l);
/* Lets events happen until that time. */
void virtual_loop_run_until(Loop *l, uint64_t when_us);
/* Whatever is next: work that comes back, or the time of wake_at(). False: nothing is. */
bool virtual_loop_step(Loop *loop);
/* How long the loop itself has waited for something, ever: it ought not to. */
uint64_t virtual_loop_blocked_us(const Loop *loop);
/* The next n submits fail with -EAGAIN, as where no thread can be started. */
void virtual_loop_refuse(Loop *l, unsigned n);
/* Only so many fast jobs run at a time, the others after them; at most FAST_THREADS_MOST; 0: all at
 * once. */
void virtual_loop_limit_fast(Loop *l, unsigned n_threads);
