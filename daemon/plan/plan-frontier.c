/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "plan/plan-work.h"

bool offer_same(const Offer *a, const Offer *b)
{
	return a->mechanisms == b->mechanisms && a->power_states == b->power_states &&
	       a->conditions == b->conditions && a->depth_one == b->depth_one &&
	       a->depth_min == b->depth_min && a->depth_max == b->depth_max &&
	       a->chunk_min_kib == b->chunk_min_kib && a->chunk_max_kib == b->chunk_max_kib &&
	       a->pace_min_w == b->pace_min_w && a->limit_min_w == b->limit_min_w &&
	       a->limit_max_w == b->limit_max_w;
}

bool mix_same(const Mix *a, const Mix *b)
{
	return a->read_share == b->read_share && a->random_share == b->random_share &&
	       a->read_kib == b->read_kib && a->write_kib == b->write_kib && a->depth == b->depth &&
	       a->learned == b->learned && a->pace_left == b->pace_left;
}

static bool fits(const Frontier *f, const PlanDevice *d, unsigned forbidden, Condition deepest)
{
	return f->profile == d->profile && f->forbidden == forbidden && f->deepest == deepest &&
	       mix_same(&f->mix, &d->mix) && offer_same(&f->offer, &d->offer);
}

static uint64_t hash_of(const Profile *profile, const Mix *mix, const Offer *offer,
			unsigned forbidden, Condition deepest)
{
	uint64_t words[sizeof(Mix) / sizeof(uint64_t)];
	uint64_t h = mixed_in(0xcbf29ce484222325ULL, (uintptr_t)profile);

	memcpy(words, mix, sizeof(words));
	for (size_t i = 0; i < ELEMENTSOF(words); i++)
		h = mixed_in(h, words[i]);
	h = mixed_in(h, (uint64_t)offer->mechanisms << 32 | offer->power_states);
	h = mixed_in(h, (uint64_t)forbidden << 32 | (unsigned)deepest);
	return h ^ h >> 32;
}

/* The slot where the frontier is, or where it belongs. */
static size_t slot_for(const FrontierStore *s, const PlanDevice *d, unsigned forbidden,
		       Condition deepest)
{
	size_t i = hash_of(d->profile, &d->mix, &d->offer, forbidden, deepest);

	for (i &= s->n_slots - 1; s->slots[i]; i = (i + 1) & (s->n_slots - 1))
		if (fits(s->slots[i], d, forbidden, deepest))
			break;
	return i;
}

static int grow(FrontierStore *s)
{
	FrontierStore bigger = { .n = s->n, .n_slots = s->n_slots ? 2 * s->n_slots : 16 };

	bigger.slots = calloc(bigger.n_slots, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_slots; i++) {
		const Frontier *f = s->slots[i];
		size_t k;

		if (!f)
			continue;
		k = hash_of(f->profile, &f->mix, &f->offer, f->forbidden, f->deepest);
		for (k &= bigger.n_slots - 1; bigger.slots[k];)
			k = (k + 1) & (bigger.n_slots - 1);
		bigger.slots[k] = s->slots[i];
	}
	free(s->slots);
	*s = bigger;
	return 0;
}

AsFound as_found_of(const Profile *p, const Mix *mix)
{
	Prediction full, idle;

	predict(p, mix, &SETTING_AS_FOUND, &full);
	predict_demand(p, mix, &SETTING_AS_FOUND, 0, &idle);
	return (AsFound){ full.mb_s, full.p99_us, full.watts - idle.watts };
}

static Frontier *frontier_new(const PlanDevice *d, unsigned forbidden, Condition deepest)
{
	Candidate candidates[FRONTIER_MAX];
	Frontier *f;
	size_t n;

	frontier_build(d->profile, &d->mix, &d->offer, forbidden, deepest, candidates, &n);
	f = malloc(sizeof(*f) + n * sizeof(*candidates));
	if (!f)
		return NULL;
	*f = (Frontier){ d->profile, d->mix, d->offer, forbidden, deepest };
	f->as_found = as_found_of(d->profile, &d->mix);
	f->n = n;
	memcpy(f->candidates, candidates, n * sizeof(*candidates));
	return f;
}

const Frontier *frontier_get(FrontierStore *s, const PlanDevice *d, unsigned forbidden,
			     Condition deepest)
{
	size_t i;

	if (2 * s->n >= s->n_slots && grow(s) < 0)
		return NULL;
	i = slot_for(s, d, forbidden, deepest);
	if (!s->slots[i]) {
		s->slots[i] = frontier_new(d, forbidden, deepest);
		s->n += s->slots[i] != NULL;
	}
	return s->slots[i];
}

void frontier_store_done(FrontierStore *s)
{
	for (size_t i = 0; i < s->n_slots; i++)
		free(s->slots[i]);
	free(s->slots);
}
