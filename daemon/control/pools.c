/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/pools.h"

#include <errno.h>

#include "base/log.h"

/* FNV-1a. */
static uint64_t hash_of(const char *name)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 0x100000001b3u;
	return h ^ h >> 32;
}

/* The slot of the device's pool, or the free one where it belongs. */
static size_t *slot_for(const Fleet *f, size_t *slots, size_t n_slots, const Managed *md)
{
	size_t s = hash_of(md->device->pool) & (n_slots - 1);

	while (slots[s] && !managed_in_one_pool(f->devices[slots[s] - 1], md))
		s = (s + 1) & (n_slots - 1);
	return &slots[s];
}

int pools_number(const Fleet *f, size_t *ret)
{
	_cleanup_free_ size_t *slots = NULL; /* numbers; 0: free */
	size_t n_slots = 16;

	while (n_slots < 2 * f->n)
		n_slots *= 2;
	slots = calloc(n_slots, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < f->n; i++) {
		const Managed *md = f->devices[i];
		size_t *slot = *md->device->pool ? slot_for(f, slots, n_slots, md) : NULL;

		if (slot && !*slot)
			*slot = i + 1;
		ret[i] = slot ? *slot : 0;
	}
	return 0;
}

bool pools_spread(const ControlConfig *c, const char *name)
{
	for (size_t i = 0; i < c->limit.n_pools; i++)
		if (streq(c->limit.pools[i].name, name))
			return c->limit.pools[i].spreads;
	return false;
}

static void take_number(Fleet *f, size_t i, size_t number, size_t *last)
{
	PoolPlace *place = &f->devices[i]->place;

	place->number = number;
	place->next = 0;
	if (!number)
		return;
	if (place->held)
		f->n_held[number]++;
	if (last[number])
		f->devices[last[number] - 1]->place.next = i + 1;
	last[number] = i + 1;
}

void pools_find(Fleet *f, const ControlConfig *c)
{
	_cleanup_free_ size_t *numbers = calloc(f->n + 1, sizeof(*numbers));
	_cleanup_free_ size_t *last = calloc(f->n + 1, sizeof(*last));
	unsigned *n_held = calloc(f->n + 1, sizeof(*n_held));
	bool known = numbers && last && n_held && pools_number(f, numbers) >= 0;

	if (!known)
		log_oom();
	free(f->n_held);
	f->n_held = n_held;
	for (size_t i = 0; i < f->n; i++)
		take_number(f, i,
			    known && !pools_spread(c, f->devices[i]->device->pool) ? numbers[i] : 0,
			    last);
}

static Managed *at(const Fleet *f, size_t place)
{
	return place ? f->devices[place - 1] : NULL;
}

Managed *pools_first(const Fleet *f, const Managed *md)
{
	return at(f, md->place.number);
}

Managed *pools_next(const Fleet *f, const Managed *md)
{
	return at(f, md->place.next);
}

void pools_done(Fleet *f)
{
	free(f->n_held);
	f->n_held = NULL;
}

void pools_note_held(Fleet *f, Managed *md, bool held)
{
	PoolPlace *place = &md->place;

	if (place->number && held != place->held)
		f->n_held[place->number] += held ? 1 : -1;
	place->held = held;
}

bool pools_hold_back(const Fleet *f, const Managed *md)
{
	const PoolPlace *place = &md->place;

	return place->number && f->n_held[place->number] > place->held;
}
