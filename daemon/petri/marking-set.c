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
static uint64_t hash(const uint16_t *marking, size_t width)
{
	uint64_t h = 0xcbf29ce484222325, four = 0;
	size_t i = 0;

	for (; i + 4 <= width; i += 4) {
		memcpy(&four, marking + i, sizeof(four));
		h = (h ^ four ^ h >> 29) * 0x9E3779B97F4A7C15;
	}
	for (; i < width; i++)
		h = (h ^ marking[i] ^ h >> 29) * 0x9E3779B97F4A7C15;
	return h >> 20;
}

/* The marking's slot, or the free one where it would be. */
static uint32_t *slot_of(const MarkingSet *s, const uint16_t *marking)
{
	size_t size = s->width * sizeof(*marking);

	for (size_t i = hash(marking, s->width);; i++) {
		uint32_t *slot = &s->slots[i & (s->n_slots - 1)];

		if (*slot == 0 || memcmp(marking_at(s, *slot - 1), marking, size) == 0)
			return slot;
	}
}

/* Doubles the room: half of the slots stay free. */
static int grow(MarkingSet *s)
{
	size_t n_slots = MAX(s->n_slots * 2, (size_t)SLOTS_MIN), room = n_slots / 2;
	uint16_t *markings = reallocarray(s->markings, room * s->width + 1, sizeof(*markings));
	double *weights;
	uint32_t *slots;

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
	free(s->slots);
	s->slots = slots;
	s->n_slots = n_slots;
	for (size_t i = 0; i < s->n; i++)
		*slot_of(s, marking_at(s, i)) = (uint32_t)i + 1;
	return 0;
}

static int append(MarkingSet *s, const uint16_t *marking)
{
	int r;

	if (s->n >= (s->max ? s->max : UINT32_MAX - 1))
		return -E2BIG;
	if (2 * s->n >= s->n_slots) {
		r = grow(s);
		if (r < 0)
			return r;
	}
	memcpy(s->markings + s->n * s->width, marking, s->width * sizeof(*marking));
	s->weights[s->n] = 0;
	*slot_of(s, marking) = (uint32_t)s->n + 1;
	s->n++;
	return 0;
}

int marking_set_add(MarkingSet *s, const uint16_t *marking, double weight, size_t *ret_index)
{
	size_t at = s->n_slots ? *slot_of(s, marking) : 0;
	int r;

	if (at == 0) {
		r = append(s, marking);
		if (r < 0)
			return r;
		at = s->n;
	}
	s->weights[at - 1] += weight;
	*ret_index = at - 1;
	return 0;
}
