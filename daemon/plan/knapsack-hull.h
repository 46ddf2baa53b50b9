/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The linear relaxation of the multiple-choice knapsack (Kellerer, Pferschy, Pisinger: Knapsack
 * Problems, 2004, section 11.2): upper hulls of the classes, their steps in order of value per
 * watt, and where the budget breaks that order. */

#include <float.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "plan/knapsack.h"

/* One end of a choice. */
typedef struct Item {
	double w, v;
	uint32_t choice; /* within its class */
	bool top;        /* the upper end of a segment */
} Item;

/* From one corner of a class's hull to the next. */
typedef struct Step {
	double rate; /* value per watt */
	double dw;
	uint32_t class, corner; /* the corner it leads to */
} Step;

typedef struct Relaxation {
	const Problem *problem;
	Item *corners; /* of all kinds, one after the other */
	size_t *first; /* n_kinds + 1 offsets into corners */
	uint32_t *at; /* per class, the corner chosen: the steps before the break taken, no other */
	double base_w, base_v; /* sums of the corners chosen */
	double least_w;        /* sum of the first corners */
	double rate;           /* of the break step: the price of a watt; 0 when all steps fit */
	size_t break_class;    /* n_classes: none */
} Relaxation;

/* -ENOMEM. The problem has been checked. With a budget below least_w all are at their first corner.
 */
int relax(const Problem *p, double budget_w, Relaxation *ret);
void relaxation_done(Relaxation *r);

/* What adding n doubles up to w, in whatever order, can be off by. */
static inline double rounding_of(size_t n, double w)
{
	return 4 * DBL_EPSILON * (double)(n + 1) * w;
}

static inline const Item *relaxation_base(const Relaxation *r, size_t class)
{
	return &r->corners[r->first[problem_kind(r->problem, class)] + r->at[class]];
}
