/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The settings that there are to choose from, for people to see. */

#include "plan/plan-work.h"

static double expected_w(const PlanDevice *d, double expect_w, double cap_w)
{
	return MIN(corrected_w(d, expect_w * bias_of(d), cap_w), cap_w);
}

static void count(const PlanDevice *d, const Candidate *c, PlanCandidate *ret)
{
	Candidate top = *c;

	if (c->paced)
		candidate_at(d->profile, &d->mix, c, c->cap_hi_w, &top);
	*ret = (PlanCandidate){ .at = *c };
	ret->at.cap_w *= bias_of(d);
	ret->at.cap_hi_w *= bias_of(d);
	ret->at.expect_w = expected_w(d, c->expect_w, ret->at.cap_w);
	ret->expect_hi_w = expected_w(d, top.expect_w, ret->at.cap_hi_w);
}

void plan_candidates(const PlanInput *in, size_t device, PlanCandidate ret[FRONTIER_MAX],
		     size_t *ret_n)
{
	const PlanDevice *d = &in->devices[device];
	Candidate candidates[FRONTIER_MAX];

	frontier_build(d->profile, &d->mix, &d->offer, forbidden_of(in, d), d->deepest, candidates,
		       ret_n);
	for (size_t i = 0; i < *ret_n; i++)
		count(d, &candidates[i], &ret[i]);
}
