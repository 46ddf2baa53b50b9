/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Tells what happens to this machine's storage: devices come, go or are reset, file systems and
 * swap are mounted, the machine wakes from suspend. While nothing happens it wakes nobody. */

#include <stdbool.h>

#include "base/cleanup.h"

typedef struct BlockMonitor BlockMonitor;

typedef struct BlockNews {
	char **reset; /* controllers that are connected again, by name; strv */
	bool devices; /* something came, went or changed */
	bool missed;  /* there was more than could be kept: anything may have happened */
	bool resumed; /* the machine was suspended meanwhile */
} BlockNews;

int block_monitor_open(BlockMonitor **ret);
BlockMonitor *block_monitor_close(BlockMonitor *m); /* takes NULL; returns NULL */
DEFINE_CLEANUP(BlockMonitor *, block_monitor_close);

/* Readable when there is news. That mounts have changed is told by this alone. */
int block_monitor_fd(const BlockMonitor *m);
/* What happened since the last time. Free news->reset. */
void block_monitor_read(BlockMonitor *m, BlockNews *ret);
