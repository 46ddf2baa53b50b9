/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/learned.h"

/* What an IO misses of its time by the profile: so much, so much for each that is outstanding with
 * it (what serves them serves one at a time), and such a part of its time. Before anything was
 * measured nothing is expected to be missed, to within these. */
#define TERMS     3
#define FIXED_US  300.0
#define PER_IO_US 30.0
#define PART      1.0
/* Of the time that an IO was measured to take. */
#define MEASURED_DOUBT 0.1

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

static bool state_no_tighter(const Profile *p, int a, int b)
{
	if (a < 0 || a == b)
		return true;
	return b >= 0 && p->states[a].max_w >= p->states[b].max_w;
}

/* As found, which is 0, holds nothing back. What a tighter state costs tells nothing of a looser.
 */
static bool tells_of(const Profile *p, const Setting *a, const Setting *b)
{
	bool limit_no_tighter = a->limit_w == 0 || (b->limit_w > 0 && a->limit_w >= b->limit_w);

	return limit_no_tighter && state_no_tighter(p, a->power_state, b->power_state);
}

/* What is believed of the terms, and how firmly: recursive least squares. */
typedef struct Belief {
	double mean[TERMS], covariance[TERMS][TERMS];
} Belief;

static double dot(const double *a, const double *b)
{
	return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void add_measured(Belief *b, const LearnedFactor *m)
{
	const double x[TERMS] = { 1, m->setting.depth ?: m->found_depth, m->io_us };
	double is_us = m->io_us / m->factor, doubt_us = MEASURED_DOUBT * is_us;
	double off_us = is_us - m->io_us - dot(b->mean, x), gain[TERMS], variance;

	for (int i = 0; i < TERMS; i++)
		gain[i] = dot(b->covariance[i], x);
	variance = doubt_us * doubt_us + dot(gain, x);
	for (int i = 0; i < TERMS; i++) {
		b->mean[i] += gain[i] / variance * off_us;
		for (int k = 0; k < TERMS; k++)
			b->covariance[i][k] -= gain[i] * gain[k] / variance;
	}
}

static void believe(const Learned *l, const Profile *p, const Setting *s, const double *terms,
		    Belief *ret)
{
	*ret = (Belief){};
	for (int i = 0; i < TERMS; i++)
		ret->covariance[i][i] = terms[i] * terms[i];
	for (size_t i = 0; i < l->n; i++)
		if (tells_of(p, &l->of[i].setting, s))
			add_measured(ret, &l->of[i]);
}

/* No term makes an IO faster: one that seems to is left out, or short IOs would be believed to take
 * no time at all. */
static void believe_slower(const Learned *l, const Profile *p, const Setting *s, Belief *ret)
{
	double terms[TERMS] = { FIXED_US, PER_IO_US, PART };

	for (int left = TERMS; left > 0; left--) {
		int least = 0;

		believe(l, p, s, terms, ret);
		for (int i = 1; i < TERMS; i++)
			if (ret->mean[i] * terms[i] < ret->mean[least] * terms[least])
				least = i;
		if (ret->mean[least] >= 0)
			return;
		terms[least] = 0;
	}
	*ret = (Belief){};
}

double learned_factor(const Learned *l, const Profile *p, const Setting *s, double io_us)
{
	const LearnedFactor *own = l ? learned_at(l, s) : NULL;
	const double x[TERMS] = { 1, s->depth, io_us };
	Belief b;

	if (own)
		return own->factor;
	if (!l || !s->depth)
		return 1;
	believe_slower(l, p, s, &b);
	return io_us / (io_us + MAX(dot(b.mean, x), 0.0));
}
