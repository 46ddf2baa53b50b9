/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/learned.h"

#include <math.h>

Setting learned_part(const Setting *s)
{
	return (Setting){ .power_state = s->power_state,
			  .limit_w = s->limit_w,
			  .depth = s->depth,
			  .chunk_kib = s->chunk_kib };
}

const LearnedFactor *learned_at(const Learned *l, const Setting *s)
{
	Setting part = learned_part(s);

	for (size_t i = 0; i < l->n; i++)
		if (setting_equal(&l->of[i].setting, &part))
			return &l->of[i];
	return NULL;
}

/* As found, which is 0, holds nothing back. */
static bool no_tighter(double a, double b)
{
	return a == 0 || (b > 0 && a >= b);
}

static bool state_no_tighter(const Profile *p, int a, int b)
{
	if (a < 0 || a == b)
		return true;
	return b >= 0 && p->states[a].max_w >= p->states[b].max_w;
}

static bool is_as_loose(const Profile *p, const Setting *a, const Setting *b)
{
	return no_tighter(a->depth, b->depth) && no_tighter(a->chunk_kib, b->chunk_kib) &&
	       no_tighter(a->limit_w, b->limit_w) &&
	       state_no_tighter(p, a->power_state, b->power_state);
}

double learned_factor(const Learned *l, const Profile *p, const Setting *s)
{
	const LearnedFactor *own = l ? learned_at(l, s) : NULL;
	double factor = 1;

	if (own)
		return own->factor;
	for (size_t i = 0; l && i < l->n; i++)
		if (is_as_loose(p, &l->of[i].setting, s))
			factor = MIN(factor, l->of[i].factor);
	return factor;
}

/* A chunk of 0 is as found: the whole IO. */
static double part_kib(const Setting *s, double kib)
{
	return s->chunk_kib ? MIN((double)s->chunk_kib, kib) : kib;
}

double learned_most_mb_s(const Learned *l, const Profile *p, const Setting *s, double kib)
{
	double most_mb_s = INFINITY;

	if (!l || !s->depth || learned_at(l, s))
		return INFINITY;
	for (size_t i = 0; i < l->n; i++) {
		const LearnedFactor *f = &l->of[i];
		const Setting *t = &f->setting;
		double deeper = t->depth ? (double)s->depth / t->depth : INFINITY;

		if (s->power_state == t->power_state && s->limit_w == t->limit_w &&
		    is_as_loose(p, s, t))
			most_mb_s = MIN(most_mb_s,
					f->mb_s * deeper * part_kib(s, kib) / part_kib(t, kib));
	}
	return most_mb_s;
}
