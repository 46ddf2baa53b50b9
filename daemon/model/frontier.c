/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/frontier.h"

#include <math.h>
#include <string.h>

#include "model/pareto.h"
#include "model/predict-state.h"

#define LIMIT_STEPS 8
#define LADDER_MAX  24

/* The values worth trying of depth or chunk: 0 (as found), then powers of two. */
typedef struct Ladder {
	unsigned value[LADDER_MAX];
	unsigned n;
} Ladder;

static void ladder_add(Ladder *l, unsigned value)
{
	if (l->n < LADDER_MAX)
		l->value[l->n++] = value;
}

/* The values go up to the first that holds nothing back: those above can draw more and give no
 * more. They stay below the value as found, which somebody else may change and which therefore
 * bounds nothing. */
static void ladder_fill(Ladder *l, unsigned lowest, unsigned found, double enough)
{
	for (unsigned v = MAX(lowest, 1u); v < found; v = 1u << (32 - __builtin_clz(v))) {
		ladder_add(l, v);
		if (v >= enough)
			break;
	}
}

typedef struct Search {
	const Profile *profile;
	const Mix *mix;
	const Offer *offer;
	unsigned allowed;
	Ladder chunks;
	StateModel model;
	double most_mb_s; /* unshaped, in the model's power state */
	Pareto *pareto;
} Search;

static void evaluate(const StateModel *m, const Mix *mix, const Setting *s, double most_mb_s,
		     Candidate *ret)
{
	Prediction p;

	predict_in(m, mix, s, most_mb_s, &p);
	*ret = (Candidate){
		.setting = *s,
		.cap_w = cap_watts_in(m, s),
		.expect_w = p.watts,
		.mb_s = p.mb_s,
		.iops = p.iops,
		.p99_us = p.p99_us,
		.error = p.error,
	};
	ret->cap_hi_w = ret->cap_w;
	ret->mb_s_hi = ret->mb_s;
}

static void try_setting(Search *s, const Setting *setting)
{
	Candidate c;

	if (cap_watts_in(&s->model, setting) >= s->profile->rated_w)
		return;
	evaluate(&s->model, s->mix, setting, s->most_mb_s, &c);
	pareto_add(s->pareto, &c);
}

static void fill_chunks(Search *s)
{
	const Offer *o = s->offer;

	ladder_add(&s->chunks, 0);
	if (s->allowed & MECHANISM_CHUNK)
		ladder_fill(&s->chunks, MAX(o->chunk_min_kib, 1u), o->chunk_max_kib,
			    mix_largest_kib(s->mix));
}

/* A smaller chunk splits IOs, and the parts are outstanding together. */
static void fill_depths(const Search *s, unsigned chunk_kib, Ladder *ret)
{
	const Offer *o = s->offer;
	double parts = chunk_kib ? MAX(mix_largest_kib(s->mix) / chunk_kib, 1.0) : 1;

	ladder_add(ret, 0);
	if (s->allowed & MECHANISM_DEPTH && o->depth_one)
		ladder_add(ret, 1);
	if (s->allowed & MECHANISM_DEPTH && o->depth_min > 0)
		ladder_fill(ret, MAX(o->depth_min, 2u), o->depth_max, s->mix->depth * parts);
}

static void try_shapes(Search *s, int power_state)
{
	state_model_build(&s->model, s->profile, power_state);
	s->most_mb_s =
		predict_unshaped_mb_s(&s->model, s->mix, &(Setting){ .power_state = power_state });
	for (unsigned j = 0; j < s->chunks.n; j++) {
		Ladder depths = {};

		fill_depths(s, s->chunks.value[j], &depths);
		/* the parts of a split IO are outstanding together: never without a cap on depth */
		for (unsigned i = s->chunks.value[j] != 0; i < depths.n; i++)
			try_setting(s, &(Setting){ .power_state = power_state,
						   .depth = depths.value[i],
						   .chunk_kib = s->chunks.value[j] });
	}
}

static void try_limits(Search *s)
{
	const Offer *o = s->offer;

	for (unsigned i = 0; i < LIMIT_STEPS; i++)
		try_setting(s, &(Setting){ .power_state = -1,
					   .limit_w = o->limit_min_w +
						      i * (o->limit_max_w - o->limit_min_w) /
							      LIMIT_STEPS });
}

/* Sleeping conditions differ in nothing but their watts here, so the shallower ones stay out
 * because they draw more. idle_a, idle_b and link power save only where there is no IO. Their cap
 * is that of an active disk, so they are never on this frontier. */
static void try_sleeping(Search *s, Condition deepest)
{
	for (Condition c = CONDITION_IDLE_C; c <= deepest && c < _CONDITION_MAX; c++)
		if (s->offer->conditions & 1u << c && s->profile->conditions[c].present)
			try_setting(s, &(Setting){ .power_state = -1, .condition = c });
}

/* Pacing prices every IO alike in every power state, so that a lower state adds nothing to it. It
 * is one segment: from the least that the kernel can express to where pacing no longer holds
 * anything back. */
static bool paced_segment(Search *s, const Candidate *as_found, Candidate *ret)
{
	const Profile *p = s->profile;
	double joules = mix_price_joules(p, s->mix);
	double full_w = joules * as_found->iops / (1 - s->mix->pace_left);
	Setting paced = SETTING_AS_FOUND;
	double hi_w;

	paced.pace_w = MAX(s->offer->pace_min_w, full_w / 256);
	if (!(full_w > paced.pace_w))
		return false;
	evaluate(&s->model, s->mix, &paced, s->most_mb_s, ret);
	hi_w = MIN(paced_cap_watts(p, full_w), p->rated_w);
	if (!(hi_w > ret->cap_w) || ret->mb_s <= 0)
		return false;
	ret->paced = true;
	ret->cap_hi_w = hi_w;
	ret->mb_s_hi = ret->mb_s * pace_for_cap(p, hi_w) / paced.pace_w;
	return true;
}

/* A state that allows the rated power caps nothing. */
static bool state_useful(const Search *s, int n)
{
	const PowerState *ps = &s->profile->states[n];

	return s->offer->power_states & 1u << n && ps->present && ps->operational &&
	       ps->max_w < s->profile->rated_w;
}

void frontier_build(const Profile *p, const Mix *mix, const Offer *offer, unsigned forbidden,
		    Condition deepest, Candidate ret[FRONTIER_MAX], size_t *ret_n)
{
	Pareto pareto = {};
	Search s = { .profile = p,
		     .mix = mix,
		     .offer = offer,
		     .pareto = &pareto,
		     .allowed = offer->mechanisms & ~forbidden };
	Candidate as_found, segment;

	fill_chunks(&s);
	if (s.allowed & MECHANISM_POWER_STATE)
		for (int n = 0; n < PROFILE_STATES_MAX; n++)
			if (state_useful(&s, n))
				try_shapes(&s, n);
	try_shapes(&s, -1);
	if (s.allowed & MECHANISM_POWER_LIMIT)
		try_limits(&s);
	if (s.allowed & MECHANISM_CONDITION)
		try_sleeping(&s, deepest);

	evaluate(&s.model, mix, &SETTING_AS_FOUND, INFINITY, &as_found);
	if (s.allowed & MECHANISM_PACING && paced_segment(&s, &as_found, &segment))
		pareto_add_segment(&pareto, &segment, p, mix);
	pareto_thin(&pareto, FRONTIER_MAX - 1);
	memcpy(ret, pareto.c, pareto.n * sizeof(*ret));
	ret[pareto.n] = as_found;
	*ret_n = pareto.n + 1;
}

void candidate_at(const Profile *p, const Mix *mix, const Candidate *c, double watts,
		  Candidate *ret)
{
	Candidate at = *c;
	Prediction q;

	if (!c->paced) {
		*ret = at;
		return;
	}
	at.cap_w = isfinite(watts) ? CLAMP(watts, c->cap_w, c->cap_hi_w) : c->cap_w;
	at.setting.pace_w = pace_for_cap(p, at.cap_w);
	predict(p, mix, &at.setting, &q);
	at.expect_w = q.watts;
	at.mb_s = q.mb_s;
	at.iops = q.iops;
	at.p99_us = q.p99_us;
	at.error = q.error;
	at.paced = false;
	at.cap_hi_w = at.cap_w;
	at.mb_s_hi = at.mb_s;
	*ret = at;
}
