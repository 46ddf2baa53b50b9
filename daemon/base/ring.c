/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

int ring_init(Ring *r, size_t capacity, size_t entry_size, void (*entry_done)(void *entry))
{
	*r = (Ring){ .capacity = capacity, .entry_size = entry_size, .entry_done = entry_done };
	r->entries = calloc(capacity, entry_size);
	return r->entries ? 0 : -ENOMEM;
}

size_t ring_count(const Ring *r)
{
	return MIN(r->n_ever, r->capacity);
}

static char *slot(const Ring *r, size_t place)
{
	return r->entries + place % r->capacity * r->entry_size;
}

const void *ring_get(const Ring *r, size_t index)
{
	size_t n = ring_count(r);

	return index < n ? slot(r, r->n_ever - n + index) : NULL;
}

void ring_add(Ring *r, const void *entry)
{
	char *at = slot(r, r->n_ever);

	if (r->n_ever >= r->capacity)
		r->entry_done(at);
	memcpy(at, entry, r->entry_size);
	r->n_ever++;
}

void ring_done(Ring *r)
{
	for (size_t i = 0; i < ring_count(r); i++)
		r->entry_done(slot(r, i));
	free(r->entries);
	r->entries = NULL;
	r->n_ever = 0;
}
