/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model/mixing.h"

#include <math.h>

#include "model/predict-state.h"

/* A mix tells how far off its parts' mean is at chunks up to twice or half its own. */
#define NEAR 1.0

static bool is_candidate(const MixPoint *m, int power_state, const Point *at)
{
	return m->at.power_state == MAX(power_state, 0) && m->at.pattern == at->pattern;
}

static double apart(unsigned a, unsigned b)
{
	return fabs(log2((double)MAX(a, 1u)) - log2((double)MAX(b, 1u)));
}

static const MixPoint *nearest(const Profile *p, int power_state, const Point *at)
{
	double least = INFINITY, least_depth = INFINITY;
	const MixPoint *best = NULL;

	for (const MixPoint *m = p->mixes; m < p->mixes + p->n_mixes; m++) {
		double chunk = apart(m->at.chunk_kib, at->chunk_kib);
		double depth = apart(m->at.depth, at->depth);

		if (!is_candidate(m, power_state, at) || chunk > least ||
		    (chunk == least && depth >= least_depth))
			continue;
		least = chunk;
		least_depth = depth;
		best = m;
	}
	return best;
}

Mixing mixing_at(const Profile *p, int power_state, const Point *at)
{
	const MixPoint *at_hand = nearest(p, power_state, at);
	MixPoint lo = { .mb_s_part = 1, .watts_part = 1 };
	MixPoint hi = { { .read_share = 1 }, 1, 1 };
	double t;

	if (!at_hand)
		return (Mixing){ 1, 1, NAN };
	for (const MixPoint *m = p->mixes; m < p->mixes + p->n_mixes; m++) {
		if (!is_candidate(m, power_state, at) || m->at.depth != at_hand->at.depth ||
		    m->at.chunk_kib != at_hand->at.chunk_kib)
			continue;
		if (m->at.read_share <= at->read_share && m->at.read_share > lo.at.read_share)
			lo = *m;
		if (m->at.read_share >= at->read_share && m->at.read_share < hi.at.read_share)
			hi = *m;
	}
	t = hi.at.read_share > lo.at.read_share
		    ? (at->read_share - lo.at.read_share) / (hi.at.read_share - lo.at.read_share)
		    : 0;
	return (Mixing){
		.mb_s_part = lo.mb_s_part + t * (hi.mb_s_part - lo.mb_s_part),
		.watts_part = lo.watts_part + t * (hi.watts_part - lo.watts_part),
		.error = apart(at_hand->at.chunk_kib, at->chunk_kib) <= NEAR
				 ? MAX(lo.at.error, hi.at.error)
				 : NAN,
	};
}

double mixing_most(const Profile *p)
{
	double most = 1;

	for (size_t i = 0; i < p->n_mixes; i++)
		most = MAX(most, p->mixes[i].watts_part);
	return most;
}

void mixes_relate(Profile *p)
{
	size_t n = p->n_mixes;

	p->n_mixes = 0; /* the parts alone */
	for (MixPoint *m = p->mixes; m && m < p->mixes + n; m++) {
		const Point *q = &m->at;
		const Mix mix = { q->read_share, q->pattern == RANDOM_IO,
				  q->chunk_kib,  q->chunk_kib,
				  q->depth,      NULL };
		Setting s = SETTING_AS_FOUND;
		Prediction parts;

		s.power_state = q->power_state > 0 ? q->power_state : -1;
		predict(p, &mix, &s, &parts);
		m->mb_s_part = q->mb_s / parts.mb_s;
		m->watts_part = parts.watts > p->idle_w
					? (q->watts - p->idle_w) / (parts.watts - p->idle_w)
					: 1;
	}
	p->n_mixes = n;
}
