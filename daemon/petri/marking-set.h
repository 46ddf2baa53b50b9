/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A set of markings, each with a weight, in the order in which they came; found by hash. */

#include <stddef.h>
#include <stdint.h>

/* Where a marking is; its hash, so that others need not be looked at. */
typedef struct MarkingSlot {
	uint32_t index; /* + 1; 0: free */
	uint32_t hash;
} MarkingSlot;

typedef struct MarkingSet {
	size_t width; /* places of a marking; set by the owner, like max */
	size_t max;   /* how many there may be; 0: as many as 32 bits can name */
	size_t n;
	uint16_t *markings; /* n by width */
	double *weights;
	MarkingSlot *slots;
	size_t n_slots;
} MarkingSet;

void marking_set_done(MarkingSet *s);
/* Empties the set and keeps its memory. */
void marking_set_clear(MarkingSet *s);

/* Adds the weight to the marking's, which begins at 0. Fails with -E2BIG beyond `max`, -ENOMEM. */
int marking_set_add(MarkingSet *s, const uint16_t *marking, double weight, size_t *ret_index);

static inline const uint16_t *marking_at(const MarkingSet *s, size_t i)
{
	return s->markings + i * s->width;
}
