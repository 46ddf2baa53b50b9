/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Random problems for the knapsack's tests, and the promises that every solution keeps. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "plan/knapsack.h"

enum { CHOICES_MAX = 4096, CLASSES_MAX = 512 };

typedef struct Instance {
	Choice choices[CHOICES_MAX];
	size_t first[CLASSES_MAX + 1];
	Problem p;
} Instance;

/* xorshift64*: the same instances on every machine */
static inline uint64_t draw(uint64_t *seed)
{
	*seed ^= *seed >> 12;
	*seed ^= *seed << 25;
	*seed ^= *seed >> 27;
	return *seed * 0x2545F4914F6CDD1DULL;
}

static inline double uniform(uint64_t *seed)
{
	return (double)(draw(seed) >> 11) / 9007199254740992.0;
}

static inline unsigned below(uint64_t *seed, unsigned n)
{
	return draw(seed) % n;
}

typedef enum Kind {
	UNCORRELATED,
	STRONGLY_CORRELATED, /* value = watts + a constant a class: the hard ones */
	SMALL_NUMBERS,       /* many ties and equal sums */
	IDENTICAL,           /* every class the same */
	FRONTIER,            /* rising, roughly concave, with segments */
	_KIND_COUNT,
} Kind;

static inline Choice draw_choice(uint64_t *seed, Kind kind, bool segments, double constant)
{
	Choice c = { 0 };

	switch (kind) {
	case STRONGLY_CORRELATED:
		c.lo_w = 1 + below(seed, 1000);
		c.lo_value = c.lo_w + constant;
		break;
	case SMALL_NUMBERS:
		c.lo_w = below(seed, 6);
		c.lo_value = below(seed, 6);
		break;
	case FRONTIER:
		c.lo_w = 3 + 22 * uniform(seed);
		c.lo_value = 1000 * sqrt(c.lo_w - 3) * (0.8 + 0.2 * uniform(seed));
		break;
	default: c.lo_w = 100 * uniform(seed); c.lo_value = 100 * uniform(seed);
	}
	c.hi_w = c.lo_w;
	c.hi_value = c.lo_value;
	if (segments && below(seed, 3) == 0) {
		c.hi_w += kind == SMALL_NUMBERS ? 1 + below(seed, 3) : 1 + 10 * uniform(seed);
		c.hi_value +=
			kind == SMALL_NUMBERS ? below(seed, 4) : c.lo_value * 0.3 * uniform(seed);
	}
	return c;
}

static inline double least_watts(const Problem *p)
{
	double sum = 0;

	for (size_t i = 0; i < p->n_classes; i++) {
		double least = INFINITY;

		for (size_t k = p->first[i]; k < p->first[i + 1]; k++)
			least = MIN(least, p->choices[k].lo_w);
		sum += least;
	}
	return sum;
}

static inline double most_watts(const Problem *p)
{
	double sum = 0;

	for (size_t i = 0; i < p->n_classes; i++) {
		double most = 0;

		for (size_t k = p->first[i]; k < p->first[i + 1]; k++)
			most = MAX(most, p->choices[k].hi_w);
		sum += most;
	}
	return sum;
}

static inline void draw_instance(uint64_t *seed, Kind kind, bool segments, size_t n_classes,
				 size_t max_choices, Instance *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < n_classes; i++) {
		size_t k = 1 + below(seed, max_choices);
		double constant = 10 + below(seed, 50);

		ret->first[i] = n;
		if (kind == IDENTICAL && i > 0) {
			k = ret->first[1];
			memcpy(ret->choices + n, ret->choices, k * sizeof(Choice));
			n += k;
			continue;
		}
		for (; k > 0; k--)
			ret->choices[n++] = draw_choice(seed, kind, segments, constant);
		if (i == 0)
			ret->first[1] = n;
	}
	ret->first[n_classes] = n;
	ret->p = (Problem){ ret->choices, ret->first, n_classes, 0 };
	ret->p.budget_w = least_watts(&ret->p);
	ret->p.budget_w += (uniform(seed) * 1.1 - 0.05) * (most_watts(&ret->p) - ret->p.budget_w);
	if (kind == STRONGLY_CORRELATED || kind == SMALL_NUMBERS)
		ret->p.budget_w = floor(ret->p.budget_w);
	ret->p.budget_w = MAX(ret->p.budget_w, 0.0);
}

/* Every promise that can be checked without knowing the optimum. */
static inline void check_solution(const Problem *p, const Solution *s)
{
	double w = 0, v = 0;

	for (size_t i = 0; i < p->n_classes; i++) {
		const Choice *c = &p->choices[p->first[i] + s->choice[i]];
		double width = c->hi_w - c->lo_w;

		assert_true(s->choice[i] < p->first[i + 1] - p->first[i]);
		assert_true(s->watts[i] >= c->lo_w && s->watts[i] <= c->hi_w);
		w += s->watts[i];
		v += width > 0 ? c->lo_value + (c->hi_value - c->lo_value) *
						       ((s->watts[i] - c->lo_w) / width)
			       : c->lo_value;
	}
	assert_true(w == s->total_w);
	assert_true(fabs(v - s->total_value) <= 1e-12 * (1 + fabs(v)));
	assert_true(s->bound_value >= s->total_value);
	if (w <= p->budget_w) {
		assert_true(s->shortfall_w == 0);
	} else {
		assert_true(s->shortfall_w == w - p->budget_w);
		assert_true(fabs(w - least_watts(p)) <= 1e-12 * w);
	}
}
