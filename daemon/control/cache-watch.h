/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The cache that keeps writes off a sleeping disk: how full it is, and when it is drained. */

#include "control/tools.h"

/* Writes are held back that have to reach the disk. */
static inline bool cache_watch_holds(const Managed *md)
{
	return md->cache.held_us && md->cache.known && md->cache.state.dirty_bytes;
}

/* Is there room for what will be written while it sleeps for so long? */
bool cache_watch_has_room(const Managed *md, uint64_t asleep_us);
/* Is it time to read it again? */
bool cache_watch_is_due(const Managed *md, uint64_t now_us);
/* A knob has begun, or ceased, to hold writes back. */
void cache_watch_take_hold(Managed *md, const Tools *t);
/* What an earlier run had it hold. */
void cache_watch_take_over(Managed *md, const CacheState *state, const Tools *t);
/* What lies above the disk has been asked anew. */
void cache_watch_forget(Managed *md);
/* It has been read. *ret_gone: its owner has taken it away. */
Need cache_watch_take(Managed *md, int r, const CacheState *state, Tools *t, bool *ret_gone);
/* No budget is in force any longer. */
Need cache_watch_drain(Managed *md, Tools *t);
bool cache_watch_any_draining(const Fleet *f);
