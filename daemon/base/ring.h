/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The last so many entries of something; what is older falls out. */

#include <stddef.h>

typedef struct Ring {
	char *entries;
	size_t capacity, entry_size;
	size_t n_ever;
	void (*entry_done)(void *entry);
} Ring;

/* entry_done releases what an entry owns; it is never called with an entry of zeroes. -ENOMEM. */
int ring_init(Ring *r, size_t capacity, size_t entry_size, void (*entry_done)(void *entry));
void ring_done(Ring *r);
/* Copies the entry, which is the ring's from then on. */
void ring_add(Ring *r, const void *entry);
size_t ring_count(const Ring *r);
/* Oldest first; NULL past the newest. Valid until the next ring_add(). */
const void *ring_get(const Ring *r, size_t index);
