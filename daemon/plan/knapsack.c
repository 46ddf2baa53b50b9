/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plan/knapsack.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "plan/knapsack-core.h"

/* The search ignores gains below this fraction of the value: it is below the 1e-9 promised and
 * above what adding 10 000 doubles loses. */
#define TOLERANCE 1e-10

/* The states take about 30 ms, and never more memory than a constant times the input's. */
#define EFFORT_BASE       ((size_t)1 << 20)
#define EFFORT_PER_CHOICE 4

static int check_choice(const Choice *c)
{
	if (!isfinite(c->lo_w) || !isfinite(c->hi_w) || !isfinite(c->lo_value) ||
	    !isfinite(c->hi_value))
		return -EINVAL;
	if (c->lo_w < 0 || c->hi_w < c->lo_w || c->hi_value < c->lo_value)
		return -EINVAL;
	return c->hi_w == c->lo_w && c->hi_value != c->lo_value ? -EINVAL : 0;
}

static int check(const Problem *p)
{
	if (isnan(p->budget_w) || p->n_classes >= UINT32_MAX)
		return -EINVAL;
	for (size_t i = 0; i < p->n_classes; i++)
		if (problem_kind(p, i) >= problem_kinds(p))
			return -EINVAL;
	for (size_t i = 0; i < problem_kinds(p); i++) {
		if (p->first[i + 1] <= p->first[i] || p->first[i + 1] - p->first[i] >= UINT32_MAX)
			return -EINVAL;
		for (size_t k = p->first[i]; k < p->first[i + 1]; k++)
			if (check_choice(&p->choices[k]) < 0)
				return -EINVAL;
	}
	return 0;
}

static size_t count_choices(const Problem *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_classes; i++)
		n += problem_to(p, i) - problem_from(p, i);
	return n;
}

/* No solution draws more, so an infinite budget is as good as this. */
static double most_watts(const Problem *p)
{
	double sum = 0;

	for (size_t i = 0; i < p->n_classes; i++) {
		double most = 0;

		for (size_t k = problem_from(p, i); k < problem_to(p, i); k++)
			most = MAX(most, p->choices[k].hi_w);
		sum += most;
	}
	return sum + 2 * rounding_of(p->n_classes, sum) + DBL_MIN;
}

static double sum_watts(const Problem *p, const Solution *s)
{
	double w = 0;

	for (size_t i = 0; i < p->n_classes; i++)
		w += s->watts[i];
	return w;
}

static double value_at(const Choice *c, double w)
{
	if (w <= c->lo_w)
		return c->lo_value;
	if (w >= c->hi_w)
		return c->hi_value;
	return c->lo_value + (c->hi_value - c->lo_value) * ((w - c->lo_w) / (c->hi_w - c->lo_w));
}

static void sum_up(const Problem *p, Solution *s)
{
	s->total_w = sum_watts(p, s);
	s->total_value = 0;
	for (size_t i = 0; i < p->n_classes; i++)
		s->total_value +=
			value_at(&p->choices[problem_from(p, i) + s->choice[i]], s->watts[i]);
}

static void take_base(const Problem *p, const Relaxation *r, Solution *s)
{
	for (size_t i = 0; i < p->n_classes; i++) {
		s->choice[i] = relaxation_base(r, i)->choice;
		s->watts[i] = relaxation_base(r, i)->w;
	}
}

static void take_move(const Problem *p, const Move *m, Solution *s)
{
	const Choice *c = &p->choices[problem_from(p, m->class) + m->choice];

	s->choice[m->class] = m->choice;
	s->watts[m->class] = m->top ? c->hi_w : c->lo_w;
}

/* Gives the open segment what is left: to the last bit, but never a bit more. */
static void fill_segment(const Problem *p, const Move *m, double budget_w, Solution *s)
{
	const Choice *c = &p->choices[problem_from(p, m->class) + m->choice];
	double *w = &s->watts[m->class], over;

	*w = CLAMP(c->lo_w + (budget_w - sum_watts(p, s)), c->lo_w, c->hi_w);
	while ((over = sum_watts(p, s) - budget_w) > 0 && *w > c->lo_w)
		*w = MAX(c->lo_w, *w - MAX(over, *w * DBL_EPSILON));
}

static void take_moves(const Problem *p, const Move *moves, size_t n, double budget_w, Solution *s)
{
	for (size_t i = 0; i < n; i++)
		take_move(p, &moves[i], s);
	for (size_t i = 0; i < n; i++)
		if (moves[i].len > 0)
			fill_segment(p, &moves[i], budget_w, s);
}

static int search(const Problem *p, const Relaxation *r, double budget_w, size_t effort,
		  Solution *s)
{
	_cleanup_(core_done) Core core = { 0 };
	_cleanup_free_ Move *moves = NULL;
	size_t n;
	double tolerance = TOLERANCE * fabs(r->base_v), bound;
	int e = core_build(p, r, budget_w, tolerance, &core);

	if (e < 0)
		return e;
	e = core_search(&core, effort, &moves, &n, &s->optimal);
	if (e < 0)
		return e;
	take_moves(p, moves, n, budget_w, s);
	sum_up(p, s);
	bound = r->base_v + r->rate * (p->budget_w - r->base_w);
	s->bound_value = MAX(s->total_value, bound);
	if (s->optimal && budget_w == p->budget_w)
		s->bound_value = MIN(s->bound_value, s->total_value + 4 * tolerance);
	return 0;
}

/* Solves for budget_w, which is the problem's or less by a margin for rounding. 1: cannot be met.
 */
static int solve(const Problem *p, double budget_w, size_t effort, Solution *s)
{
	_cleanup_(relaxation_done) Relaxation r = { 0 };
	int e = relax(p, budget_w, &r);

	if (e < 0)
		return e;
	take_base(p, &r, s);
	s->rate = r.break_class < p->n_classes ? r.rate : 0;
	if (r.least_w <= budget_w)
		return search(p, &r, budget_w, effort, s);
	sum_up(p, s);
	s->optimal = true;
	s->bound_value = s->total_value;
	return 1;
}

static int solution_new(size_t n, Solution *ret)
{
	Solution s = {
		.choice = calloc(n + 1, sizeof(*s.choice)),
		.watts = calloc(n + 1, sizeof(*s.watts)),
	};

	if (!s.choice || !s.watts) {
		solution_done(&s);
		return -ENOMEM;
	}
	*ret = s;
	return 0;
}

int knapsack_solve(const Problem *problem, size_t effort, Solution *ret)
{
	_cleanup_(solution_done) Solution s = { 0 };
	Problem p = *problem;
	double margin = 0;
	int r = check(&p);

	if (r < 0)
		return r;
	r = solution_new(p.n_classes, &s);
	if (r < 0)
		return r;
	p.budget_w = MIN(p.budget_w, most_watts(&p));
	if (effort == 0)
		effort = EFFORT_BASE + EFFORT_PER_CHOICE * count_choices(&p);
	/* A set of watts that meets the budget exactly may add up to more in doubles: look again
	 * with a bit less. Ends at the latest with every class at its least, which is what it is.
	 */
	for (;;) {
		double over;

		r = solve(&p, p.budget_w - margin, effort, &s);
		if (r < 0)
			return r;
		over = s.total_w - p.budget_w;
		if (r == 1 || over <= 0)
			break;
		margin = 2 * margin + over + rounding_of(p.n_classes, p.budget_w);
	}
	s.shortfall_w = MAX(0.0, s.total_w - problem->budget_w);
	*ret = s;
	s = (Solution){ 0 };
	return 0;
}

void solution_done(Solution *s)
{
	free(s->choice);
	free(s->watts);
	*s = (Solution){ 0 };
}
