/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/cache-watch.h"

#include <errno.h>

#include "base/log.h"
#include "control/knob-set.h"
#include "control/waking.h"

#define READ_ASLEEP_US LOOK_US
#define READ_AWAKE_US  (5 * USEC_PER_SEC)
#define ROOM_LEAST     0.05                /* of its size: below that it is drained */
#define REACTION_US    (60 * USEC_PER_SEC) /* of writes that must fit until the disk is awake */
#define DRAINED        0.01                /* of its size may be left */
#define DRAINED_BYTES  (UINT64_C(1) << 20)
#define FILL_BLEND     0.3

/* Into the cache while it holds; else what reaches the disk, by way of the cache or not. */
static double expected_bytes_s(const Managed *md)
{
	return md->cache.held_us
		       ? md->cache.fill_bytes_s
		       : MAX(md->cache.fill_bytes_s, 1e6 * md->workload.rates.mb_s[WRITE_IO]);
}

bool cache_watch_has_room(const Managed *md, uint64_t asleep_us)
{
	const HeldKnob *hk = knob_set_redirect(md);
	double need = expected_bytes_s(md) * (double)asleep_us / USEC_PER_SEC;
	const CacheState *c = &md->cache.state;

	if (!hk || !hk->knob->cache || !md->knobs.offer.redirects_writes)
		return true;
	return md->cache.known && (double)c->room_bytes > need &&
	       (double)c->room_bytes > ROOM_LEAST * (double)c->size_bytes;
}

bool cache_watch_is_due(const Managed *md, uint64_t now_us)
{
	uint64_t every = md->cache.held_us || md->cache.draining ? READ_ASLEEP_US : READ_AWAKE_US;

	return !md->cache.known || now_us >= md->cache.read_us + every - USEC_PER_MSEC;
}

void cache_watch_take_hold(Managed *md, const Tools *t)
{
	md->cache.held_us = md->knobs.actual.redirect == REDIRECT_HOLD ? t->now_us : 0;
}

void cache_watch_take_over(Managed *md, const CacheState *state, const Tools *t)
{
	md->cache.state = *state;
	md->cache.known = true;
	md->cache.held_us = md->cache.read_us = t->now_us;
}

void cache_watch_forget(Managed *md)
{
	md->cache.known = false;
}

static bool is_drained(const CacheState *c)
{
	uint64_t little = (uint64_t)(DRAINED * (double)c->size_bytes);

	return c->dirty_bytes <= MAX(little, DRAINED_BYTES);
}

static bool is_full(const CacheWatch *c)
{
	double soon = c->fill_bytes_s * REACTION_US / USEC_PER_SEC;

	return (double)c->state.room_bytes <= MAX(ROOM_LEAST * (double)c->state.size_bytes, soon);
}

static Need begin_draining(Managed *md, const char *why, Tools *t)
{
	md->cache.draining = true;
	diary_decide(t->diary, md->device->name, why, "the cache above it is to be drained");
	log_info("%s: the cache above it is to be drained: %s", md->device->name, why);
	return need_more(need(NEED_TOLD_PLAN, CAUSE_CACHE_FULL), waking_want(md, WAKE_TO_DRAIN));
}

Need cache_watch_drain(Managed *md, Tools *t)
{
	return cache_watch_holds(md) && !md->cache.draining
		       ? begin_draining(md, "the budget has lifted", t)
		       : NOTHING_NEEDED;
}

static Need end_draining(Managed *md, Tools *t)
{
	md->cache.draining = false;
	waking_forget_time(md);
	diary_decide(t->diary, md->device->name, "what was held back is written",
		     "its cache is drained");
	return need(NEED_TOLD_PLAN, CAUSE_CACHE_DRAINED);
}

/* What is held for a disk that nobody wants asleep any longer goes to where it belongs. */
static Need act(Managed *md, Tools *t)
{
	const CacheWatch *c = &md->cache;
	bool drained = is_drained(&c->state), asleep = managed_asleep(md);

	if (c->draining)
		return drained && !asleep && !md->errands.busy ? end_draining(md, t)
							       : NOTHING_NEEDED;
	if (asleep && c->held_us && is_full(c))
		return begin_draining(md, "the cache above has little room left", t);
	if (c->held_us && !drained && !asleep && md->knobs.target.condition == CONDITION_ACTIVE)
		return begin_draining(md, "it is awake", t);
	return NOTHING_NEEDED;
}

static void note_fill(CacheWatch *c, const CacheState *now, uint64_t now_us)
{
	double grown = (double)now->dirty_bytes - (double)c->state.dirty_bytes;

	if (!c->known || now_us <= c->read_us)
		return;
	grown = MAX(grown, 0) * USEC_PER_SEC / (double)(now_us - c->read_us);
	c->fill_bytes_s += FILL_BLEND * (grown - c->fill_bytes_s);
}

Need cache_watch_take(Managed *md, int r, const CacheState *state, Tools *t, bool *ret_gone)
{
	CacheWatch *c = &md->cache;
	bool was_draining = c->draining;

	*ret_gone = r == -ENOENT;
	if (r >= 0) {
		note_fill(c, state, t->now_us);
		c->state = *state;
	}
	c->known = r >= 0;
	c->read_us = t->now_us;
	if (*ret_gone) { /* by its owner, who has it written back before */
		c->held_us = 0;
		c->draining = false;
	}
	if (c->known)
		return act(md, t);
	return was_draining && *ret_gone ? need(NEED_TOLD_PLAN, CAUSE_CACHE_DRAINED)
					 : NOTHING_NEEDED;
}

bool cache_watch_any_draining(const Fleet *f)
{
	for_each_device(const Managed, md, f) if (md->cache.draining) return true;
	return false;
}
