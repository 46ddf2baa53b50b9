/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Devices of which the planner is told the same: what is worked out for one of them holds for all.
 */

#include <errno.h>
#include <string.h>

#include "plan/plan-work.h"

static bool same_ceiling(const Ceiling *a, const Ceiling *b)
{
	return a->us == b->us && a->slow == b->slow;
}

static bool same_terms(const Terms *a, const Terms *b)
{
	return a->weight == b->weight && a->floor_mb_s == b->floor_mb_s &&
	       a->floor_share == b->floor_share && same_ceiling(&a->own, &b->own) &&
	       same_ceiling(&a->hits, &b->hits) && a->limit_w == b->limit_w &&
	       a->forbidden == b->forbidden && a->protect == b->protect &&
	       a->keep_awake == b->keep_awake && a->hold == b->hold;
}

static bool same_state(const PlanDevice *a, const PlanDevice *b)
{
	return a->held == b->held && a->held_w == b->held_w && a->starting == b->starting &&
	       setting_equal(&a->held_setting, &b->held_setting) &&
	       setting_equal(&a->current, &b->current) && a->deepest == b->deepest &&
	       a->deepest_needed == b->deepest_needed && a->rest == b->rest &&
	       a->must_sleep == b->must_sleep && a->holds_writes == b->holds_writes &&
	       a->awake_redirect == b->awake_redirect && a->is_pinned == b->is_pinned &&
	       a->pinned_state == b->pinned_state;
}

/* In all but name. */
static bool same_device(const PlanDevice *a, const PlanDevice *b)
{
	return a->profile == b->profile && a->demand_mb_s == b->demand_mb_s && a->bias == b->bias &&
	       a->correction == b->correction && a->measured == b->measured &&
	       a->limit_w == b->limit_w && a->group == b->group && a->pool == b->pool &&
	       mix_same(&a->mix, &b->mix) && offer_same(&a->offer, &b->offer) && same_state(a, b);
}

static uint64_t number_mixed_in(uint64_t hash, double value)
{
	uint64_t word;

	memcpy(&word, &value, sizeof(word));
	return mixed_in(hash, word);
}

static size_t hash_of(const PlanDevice *d)
{
	uint64_t h = number_mixed_in((uintptr_t)d->profile, d->demand_mb_s);

	h = number_mixed_in(number_mixed_in(h, d->bias), d->limit_w);
	h = number_mixed_in(number_mixed_in(h, d->mix.read_share), d->mix.read_kib);
	return h ^ h >> 32;
}

int alike_find(Work *w)
{
	const PlanDevice *d = w->in->devices;
	size_t n = w->in->n_devices, n_slots = 16;
	_cleanup_free_ size_t *slots = NULL; /* one more than the index; 0: free */

	while (n_slots < 2 * n)
		n_slots *= 2;
	slots = calloc(n_slots, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		size_t s = hash_of(&d[i]) & (n_slots - 1), k;

		for (; (k = slots[s]); s = (s + 1) & (n_slots - 1))
			if (same_device(&d[i], &d[k - 1]) &&
			    same_terms(&w->terms[i], &w->terms[k - 1]))
				break;
		if (!k)
			slots[s] = i + 1;
		w->alike[i] = k ? k - 1 : i;
		w->has_alike[w->alike[i]] |= k > 0;
	}
	return 0;
}

bool are_alike(const Work *w, size_t a, size_t b)
{
	return w->alike[a] == w->alike[b] && w->needed[a] == w->needed[b] && !w->pinned[a] &&
	       !w->pinned[b];
}

bool curve_take_kept(const Work *w, size_t i, Curve *ret)
{
	const Curve *kept = w->curves[w->alike[i]];

	if (!kept || !are_alike(w, i, w->alike[i]))
		return false;
	memcpy(ret, kept, offsetof(Curve, pieces[kept->n]));
	return true;
}

void curve_keep(const Work *w, size_t i, const Curve *c)
{
	size_t first = w->alike[i], size = offsetof(Curve, pieces[c->n]);
	Curve *kept;

	if (!w->has_alike[first] || w->curves[first] || !are_alike(w, i, first))
		return;
	kept = malloc(size);
	if (!kept)
		return; /* it is built again */
	memcpy(kept, c, size);
	w->curves[first] = kept;
}

void curves_forget(const Work *w)
{
	for (size_t i = 0; w->curves && i < w->in->n_devices; i++) {
		free(w->curves[i]);
		w->curves[i] = NULL;
	}
}
