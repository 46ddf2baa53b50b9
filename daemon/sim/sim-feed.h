/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The load that disks put on the device that is their cache. Each disk remembers in its history
 * when it asked for how much; the cache looks there whenever it moves on in time. Locks are taken
 * in this order alone: the cache's, then one disk's. */

#include "sim/sim-device.h"

/* s becomes the cache of the disk. -E2BIG: of more than SIM_FEEDS_MAX. */
int sim_feed_add(SimDevice *s, SimDevice *disk);
/* Moves the device to now_us, with what its disks asked of it until then. Its record is locked. */
void sim_feed_advance(SimDevice *s, uint64_t now_us);
