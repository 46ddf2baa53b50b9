/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "petri/marking-set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define SLOTS_MIN 16

void marking_set_done(MarkingSet *s)
{
	free(s->markings);
	free(s->weights);
	free(s->slots);
	*s = (MarkingSet){ .width = s->width, .max = s->max };
}

void marking_set_clear(MarkingSet *s)
{
	s->n = 0;
	if (s->slots)
		memset(s->slots, 0, s->n_slots * sizeof(*s->slots));
}

/* Four tokens at a time, each multiplied into all bits above it; the high bits are the best. */
static uint32_t hash(const uint16_t *marking, size_t width)
{
	uint64_t h = 0xcbf29ce484222325, four = 0;
	size_t i = 0;

	for (; i + 4 <= width; i += 4) {
		memcpy(&four, marking + i, sizeof(four));
		h = (h ^ four ^ h >> 29) * 0x9E3779B97F4A7C15;
	}
	for (; i < width; i++)
		h = (h ^ marking[i] ^ h >> 29) * 0x9E3779B97F4A7C15;
	return (uint32_t)(h >> 32);
}

/* The marking's slot, or the free one where it would be. */
static MarkingSlot *slot_of(const MarkingSet *s, const uint16_t *marking, uint32_t hash)
{
	size_t size = s->width * sizeof(*marking);

	for (size_t i = hash;; i++) {
		MarkingSlot *slot = &s->slots[i & (s->n_slots - 1)];

		if (slot->index == 0 ||
		    (slot->hash == hash &&
		     memcmp(marking_at(s, slot->index - 1), marking, size) == 0))
			return slot;
	}
}

static MarkingSlot *free_slot(MarkingSlot *slots, size_t n_slots, uint32_t hash)
{
	size_t i = hash;

	while (slots[i & (n_slots - 1)].index != 0)
		i++;
	return &slots[i & (n_slots - 1)];
}

/* Doubles the room: half of the slots stay free. */
static int grow(MarkingSet *s)
{
	size_t n_slots = MAX(s->n_slots * 2, (size_t)SLOTS_MIN), room = n_slots / 2;
	uint16_t *markings = reallocarray(s->markings, room * s->width + 1, sizeof(*markings));
	double *weights;
	MarkingSlot *slots;

	if (!markings)
		return -ENOMEM;
	s->markings = markings;
	weights = reallocarray(s->weights, room, sizeof(*weights));
	if (!weights)
		return -ENOMEM;
	s->weights = weights;
	slots = calloc(n_slots, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_slots; i++)
		if (s->slots[i].index != 0)
			*free_slot(slots, n_slots, s->slots[i].hash) = s->slots[i];
	free(s->slots);
	s->slots = slots;
	s->n_slots = n_slots;
	return 0;
}

static int append(MarkingSet *s, const uint16_t *marking, uint32_t hash, MarkingSlot *slot)
{
	int r;

	if (s->n >= (s->max ? s->max : UINT32_MAX - 1))
		return -E2BIG;
	if (!slot || 2 * s->n >= s->n_slots) {
		r = grow(s);
		if (r < 0)
			return r;
		slot = free_slot(s->slots, s->n_slots, hash);
	}
	memcpy(s->markings + s->n * s->width, marking, s->width * sizeof(*marking));
	s->weights[s->n] = 0;
	*slot = (MarkingSlot){ (uint32_t)s->n + 1, hash };
	s->n++;
	return 0;
}

int marking_set_add(MarkingSet *s, const uint16_t *marking, double weight, size_t *ret_index)
{
	uint32_t h = hash(marking, s->width);
	MarkingSlot *slot = s->n_slots ? slot_of(s, marking, h) : NULL;
	size_t at = slot ? slot->index : 0;
	int r;

	if (at == 0) {
		r = append(s, marking, h, slot);
		if (r < 0)
			return r;
		at = s->n;
	}
	if (weight != 0)
		s->weights[at - 1] += weight;
	*ret_index = at - 1;
	return 0;
}
