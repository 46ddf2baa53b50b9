/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "petri/passage.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define NOT_ENDED_MAX 1e-13
#define JUMPS_MAX     ((size_t)10000000)
#define POISSON_LEAST 1e-17 /* of the largest term */

void petri_passage_done(PetriPassage *p)
{
	free(p->ended);
	*p = (PetriPassage){ 0 };
}

static double leave_rate(const PetriGraph *g, size_t state)
{
	double sum = 0;

	for (size_t k = g->row[state]; k < g->row[state + 1]; k++)
		sum += g->rate[k];
	return sum;
}

/* One jump: what is in a state stays or follows its arcs. Returns how much has not ended, which is
 * where there are arcs. It is summed up by itself: what has ended gathers the rounding of all
 * jumps. */
static double jump(const PetriGraph *g, const double *leave, double rate, const double *from,
		   double *to)
{
	double left = 0;

	memset(to, 0, g->states.n * sizeof(*to));
	for (size_t i = 0; i < g->states.n; i++) {
		double part = from[i] / rate;

		if (from[i] < 1e-300)
			continue;
		to[i] += part * (rate - leave[i]);
		for (size_t k = g->row[i]; k < g->row[i + 1]; k++)
			to[g->to[k]] += part * g->rate[k];
	}
	for (size_t i = 0; i < g->states.n; i++)
		left += leave[i] > 0 ? to[i] : 0;
	return left;
}

static int add_jump(PetriPassage *p, double left)
{
	double *e = p->n < JUMPS_MAX ? ARRAY_GROW(p->ended, p->n) : NULL;

	if (!e)
		return p->n < JUMPS_MAX ? -ENOMEM : -E2BIG;
	*e = 1 - left;
	p->mean_s += left / p->jump_rate;
	return 0;
}

int petri_passage(const PetriGraph *g, PetriPassage *ret)
{
	size_t n = g->states.n;
	_cleanup_free_ double *leave = calloc(n, sizeof(*leave));
	_cleanup_free_ double *now = calloc(n, sizeof(*now)), *next = calloc(n, sizeof(*next));
	_cleanup_(petri_passage_done) PetriPassage p = { 0 };
	double left = 0;
	int r;

	if (!leave || !now || !next)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		now[i] = g->states.weights[i];
		leave[i] = leave_rate(g, i);
		p.jump_rate = MAX(p.jump_rate, leave[i]);
		left += leave[i] > 0 ? now[i] : 0;
	}
	for (r = add_jump(&p, left); r >= 0 && left > NOT_ENDED_MAX;) {
		double *swap = now;

		left = jump(g, leave, p.jump_rate, now, next);
		r = add_jump(&p, left);
		now = next;
		next = swap;
	}
	if (r < 0)
		return r;
	*ret = p;
	p = (PetriPassage){ 0 };
	return 0;
}

static double ended_after(const PetriPassage *p, size_t jumps)
{
	return jumps < p->n ? p->ended[jumps] : 1;
}

/* The mean of ended[] over a Poisson number of jumps, its terms from the largest outwards, so that
 * none of them underflows; their sum takes the place of e^-mean. */
double petri_passage_within(const PetriPassage *p, double seconds)
{
	double mean = p->jump_rate * seconds, weight = 1, sum = 0, ended = 0;
	size_t middle = (size_t)mean;

	if (!(seconds > 0) || p->n == 1)
		return p->ended[0];
	for (size_t k = middle; k <= middle || weight > POISSON_LEAST; k++) {
		sum += weight;
		ended += weight * ended_after(p, k);
		weight *= mean / (double)(k + 1);
	}
	weight = (double)middle / mean;
	for (size_t k = middle; k > 0 && weight > POISSON_LEAST; k--) {
		sum += weight;
		ended += weight * ended_after(p, k - 1);
		weight *= (double)(k - 1) / mean;
	}
	return ended / sum;
}

static double within(const PetriPassage *p, const double *weights, size_t n, double seconds)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += weights[i] > 0 ? weights[i] * petri_passage_within(&p[i], seconds) : 0;
	return sum;
}

double petri_passage_quantile(const PetriPassage *p, const double *weights, size_t n, double share)
{
	double low = 0, high = 1e-9;

	while (within(p, weights, n, high) < share && high < 1e9)
		high *= 2;
	while (high - low > 1e-10 * high) {
		double middle = (low + high) / 2;

		if (within(p, weights, n, middle) < share)
			low = middle;
		else
			high = middle;
	}
	return high;
}
