/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Calls at a time of the wall clock, and at once when that clock is set. */

#include <systemd/sd-event.h>
#include <time.h>

#include "base/cleanup.h"

typedef struct WallTimer WallTimer;

/* callback() calls wall_timer_set() for the next time. */
int wall_timer_new(sd_event *event, void (*callback)(void *userdata), void *userdata,
		   WallTimer **ret);
WallTimer *wall_timer_free(WallTimer *t); /* returns NULL */
DEFINE_CLEANUP(WallTimer *, wall_timer_free);

/* -ECANCELED: the clock was set since the last call or callback; the timer is set all the same. */
int wall_timer_set(WallTimer *t, time_t at);
