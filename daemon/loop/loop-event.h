/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "loop/loop.h"

/* The loop of the real daemon: sd-event for time, worker threads for what blocks. Threads are
 * started when there is work and end when there has been none for a while. */
int loop_event_new(sd_event *event, Loop **ret);
Loop *loop_event_free(Loop *l); /* waits for the jobs; their done() is not called; returns NULL */
DEFINE_CLEANUP(Loop *, loop_event_free);
