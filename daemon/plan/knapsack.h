/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Multiple-choice knapsack with continuous segments: one choice a class (device), sum of watts
 * within the budget, sum of values highest. Pure and deterministic: of equal choices of a class the
 * one of lower watts is taken, then the one of lower index.
 *
 * Where feasible, total_w, the watts added up in the order of the classes, never exceeds the
 * budget, not by a bit. Where `optimal`, no solution for a budget less by rounding (1e-11 of it) is
 * worth more by over 1e-9 of total_value. So of two budgets further apart than rounding the higher
 * is worth no less, but for 1e-9, or where not proved, but for its own gap up to bound_value. */

#include <stdbool.h>
#include <stddef.h>

/* A discrete choice has hi_w == lo_w. A segment is linear between its ends, and hi_value >=
 * lo_value. */
typedef struct Choice {
	double lo_w, lo_value;
	double hi_w, hi_value;
} Choice;

typedef struct Problem {
	const Choice *choices; /* of all kinds, one kind after the other */
	const size_t *first;   /* n_kinds + 1 offsets into choices; none is empty */
	size_t n_classes;
	double budget_w;
	/* Classes of one kind have the same choices, which are listed once. NULL: each class is a
	 * kind of its own. */
	const size_t *kind;
	size_t n_kinds;
} Problem;

static inline size_t problem_kind(const Problem *p, size_t class)
{
	return p->kind ? p->kind[class] : class;
}

static inline size_t problem_kinds(const Problem *p)
{
	return p->kind ? p->n_kinds : p->n_classes;
}

/* The class's choices are those from here up to that of its kind's successor. */
static inline size_t problem_from(const Problem *p, size_t class)
{
	return p->first[problem_kind(p, class)];
}

static inline size_t problem_to(const Problem *p, size_t class)
{
	return p->first[problem_kind(p, class) + 1];
}

typedef struct Solution {
	size_t *choice; /* per class, index within the class */
	double *watts;  /* per class, within the choice's range */
	double total_w, total_value;
	double bound_value; /* no solution is worth more (Lagrangian bound, or what the search
			       proved) */
	double rate;        /* about what a watt more is worth; 0: there are enough */
	double shortfall_w; /* budget missed by so much: every class is at its least watts */
	bool optimal;       /* proved */
} Solution;

/* -EINVAL for NaN, negative watts or an empty class, -ENOMEM. An infeasible budget is not an error:
 * shortfall_w says by how much. `effort` bounds the exact search (states looked at; 0 for the
 * default, which is linear in the input, as the memory is); what it could not close is the gap
 * between total_value and bound_value. */
int knapsack_solve(const Problem *p, size_t effort, Solution *ret);
void solution_done(Solution *s);
