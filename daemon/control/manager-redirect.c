/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The caches that keep writes off sleeping disks: how full they are, and when one is drained. Read
 * off the loop, because a device mapper that is suspended makes its reader wait. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "control/manager-internal.h"

#define READ_ASLEEP_US LOOK_US
#define READ_AWAKE_US  (5 * USEC_PER_SEC)
#define ROOM_LEAST     0.05                /* of its size: below that it is drained */
#define REACTION_US    (60 * USEC_PER_SEC) /* of writes that must fit until the disk is awake */
#define DRAINED        0.01                /* of its size may be left */
#define DRAINED_BYTES  (UINT64_C(1) << 20)
#define FILL_BLEND     0.3

const ManagedKnob *managed_redirect(const ManagedDevice *md)
{
	for (size_t i = 0; i < knob_count(); i++)
		if (md->knobs[i].offered && md->knobs[i].knob->mechanism == MECHANISM_REDIRECT)
			return &md->knobs[i];
	return NULL;
}

/* Into the cache while it holds; else what reaches the disk, by way of the cache or not. */
static double expected_bytes_s(const ManagedDevice *md)
{
	return md->held_us ? md->fill_bytes_s
			   : MAX(md->fill_bytes_s, 1e6 * md->rates.mb_s[WRITE_IO]);
}

bool managed_has_room(const ManagedDevice *md, uint64_t asleep_us)
{
	const ManagedKnob *mk = managed_redirect(md);
	double need = expected_bytes_s(md) * (double)asleep_us / USEC_PER_SEC;

	if (!mk || !mk->knob->cache || !md->offer.redirects_writes)
		return true;
	return md->has_cache && (double)md->cache_state.room_bytes > need &&
	       (double)md->cache_state.room_bytes > ROOM_LEAST * (double)md->cache_state.size_bytes;
}

bool managed_holds(const ManagedDevice *md)
{
	return md->held_us && md->has_cache && md->cache_state.dirty_bytes;
}

static bool is_drained(const CacheState *c)
{
	uint64_t little = (uint64_t)(DRAINED * (double)c->size_bytes);

	return c->dirty_bytes <= MAX(little, DRAINED_BYTES);
}

static bool is_full(const ManagedDevice *md)
{
	const CacheState *c = &md->cache_state;
	double soon = md->fill_bytes_s * REACTION_US / USEC_PER_SEC;

	return (double)c->room_bytes <= MAX(ROOM_LEAST * (double)c->size_bytes, soon);
}

static void begin_draining(Manager *m, ManagedDevice *md, const char *why)
{
	md->draining = true;
	manager_decide(m, md->device->name, why, "the cache above it is to be drained");
	log_info("%s: the cache above it is to be drained: %s", md->device->name, why);
	managed_want_awake(m, md, "its cache is drained");
}

void manager_drain_held(Manager *m)
{
	for (size_t i = 0; i < m->n_devices; i++)
		if (managed_holds(m->devices[i]) && !m->devices[i]->draining)
			begin_draining(m, m->devices[i], "the budget has lifted");
}

static void end_draining(Manager *m, ManagedDevice *md)
{
	md->draining = false;
	md->woke_us = 0; /* for a task of ours: it may sleep again as soon as it is due */
	manager_decide(m, md->device->name, "what was held back is written",
		       "its cache is drained");
}

/* What is held for a disk that nobody wants asleep any longer goes to where it belongs. */
static void act_on_cache(Manager *m, ManagedDevice *md)
{
	bool drained = is_drained(&md->cache_state);

	if (md->draining && drained && !managed_asleep(md) && !md->busy)
		end_draining(m, md);
	else if (!md->draining && managed_asleep(md) && md->held_us && is_full(md))
		begin_draining(m, md, "the cache above has little room left");
	else if (!md->draining && md->held_us && !drained && !managed_asleep(md) &&
		 md->target.condition == CONDITION_ACTIVE)
		begin_draining(m, md, "it is awake");
}

static void note_fill(ManagedDevice *md, const CacheState *now, uint64_t us)
{
	double grown = (double)now->dirty_bytes - (double)md->cache_state.dirty_bytes;

	if (!md->has_cache || us <= md->cache_us)
		return;
	grown = MAX(grown, 0) * USEC_PER_SEC / (double)(us - md->cache_us);
	md->fill_bytes_s += FILL_BLEND * (grown - md->fill_bytes_s);
}

/* Taken away meanwhile, by its owner, who has it written back before. */
static void forget_cache(ManagedDevice *md)
{
	md->held_us = 0;
	md->draining = false;
	managed_probe_redirects(md);
}

static void cache_run(Job *job)
{
	CacheReading *c = (CacheReading *)job;

	c->result = c->knob->cache(c->md->device, &c->state);
}

static void cache_done(Job *job)
{
	CacheReading *c = (CacheReading *)job;
	Manager *m = c->manager;
	ManagedDevice *md = c->md;
	uint64_t now = manager_now_us(m);
	bool was_draining = md->draining;

	c->busy = false;
	if (md->gone) {
		manager_forget_gone(m, md);
		return;
	}
	if (c->result >= 0) {
		note_fill(md, &c->state, now);
		md->cache_state = c->state;
	}
	md->has_cache = c->result >= 0;
	md->cache_us = now;
	if (c->result == -ENOENT)
		forget_cache(md);
	if (md->has_cache)
		act_on_cache(m, md);
	if (md->draining != was_draining) /* with the last, nobody need look any longer */
		manager_react(m, was_draining ? "a cache is drained" : "a cache is to be drained");
	else if (m->woken || m->news)
		manager_arm(m);
}

void managed_take_over_hold(const Manager *m, ManagedDevice *md)
{
	for (size_t i = 0; i < knob_count(); i++) {
		const ManagedKnob *mk = &md->knobs[i];

		if (!mk->touched || mk->knob->mechanism != MECHANISM_REDIRECT || !mk->knob->cache ||
		    mk->knob->cache(md->device, &md->cache_state) < 0)
			continue;
		md->has_cache = true;
		md->held_us = md->cache_us = manager_now_us(m);
	}
}

void managed_look_at_cache(Manager *m, ManagedDevice *md)
{
	const ManagedKnob *mk = managed_redirect(md);
	uint64_t every = md->held_us || md->draining ? READ_ASLEEP_US : READ_AWAKE_US;

	if (!mk || !mk->knob->cache || md->cache.busy ||
	    (md->has_cache && manager_now_us(m) < md->cache_us + every - USEC_PER_MSEC))
		return;
	md->cache = (CacheReading){ .job = { .slow = true, .run = cache_run, .done = cache_done },
				    .manager = m,
				    .md = md,
				    .knob = mk->knob,
				    .busy = true };
	if (m->loop->submit(m->loop, &md->cache.job) < 0)
		md->cache.busy = false;
}

bool manager_draining(const Manager *m)
{
	for (size_t i = 0; i < m->n_devices; i++)
		if (m->devices[i]->draining)
			return true;
	return false;
}
