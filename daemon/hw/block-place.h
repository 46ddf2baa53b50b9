/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a device is a part of and what follows from that. This changes while the device stays. */

#include "hw/block-slot.h"

typedef struct BlockPlace {
	char *stack, *pool, *protection; /* as in Device */
	char *cached_by_it, *behind;
	uint64_t size_bytes;
	char *keep_awake_why;
	char *protected_why;
} BlockPlace;

/* Finds the place of the device in b->topology. -ENOMEM. */
int block_place_find(const BlockInventory *b, const BlockSlot *s, BlockPlace *ret);
void block_place_done(BlockPlace *p);
/* The device gets that place, and *p the one it had. */
void block_place_swap(BlockPlace *p, Device *d);
