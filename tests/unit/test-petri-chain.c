/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How large chains are solved: their levels, and the leaps between the cycles. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "petri-solved.h"
#include "petri/aggregate.h"
#include "petri/anderson.h"
#include "petri/levels.h"
#include "petri/study.h"

#define EXACT 1e-9

/* The graph's states by what flows into them, as they are. */
static Chain chain_of(const PetriGraph *g)
{
	size_t n = g->states.n;
	Chain c;

	assert_int_equal(chain_new(n, g->n_arcs, &c), 0);
	for (size_t k = 0; k < g->n_arcs; k++)
		c.row[g->to[k] + 2]++;
	for (size_t i = 0; i < n; i++)
		c.row[i + 2] += c.row[i + 1];
	for (size_t i = 0; i < n; i++)
		for (size_t k = g->row[i]; k < g->row[i + 1]; k++) {
			size_t at = c.row[g->to[k] + 1]++;

			c.from[at] = (uint32_t)i;
			c.rate[at] = g->rate[k];
			c.leave[i] += g->rate[k];
		}
	return c;
}

/* So many requests that go round between SSDs and HDDs, whose rates are four decades apart. */
static Chain hybrid_chain(unsigned requests, unsigned n_ssd, unsigned n_hdd)
{
	const StudyMix mix = { .write = 0.3, .random = 1, .small = 1 };
	_cleanup_(petri_graph_done) PetriGraph g = { 0 };
	_cleanup_(tier_net_done) TierNet n = { 0 };
	Tier t;

	assert_int_equal(study_tier(requests, &mix, n_ssd, n_hdd, 0.9, &t), 0);
	assert_int_equal(tier_net_build(&t, &n), 0);
	assert_int_equal(petri_explore(&n.net, NULL, 100000, &g), 0);
	return chain_of(&g);
}

static void each_share_of_a_chain_of_levels_agrees_with_elimination(void **state)
{
	static const unsigned requests[][3] = { { 2, 1, 1 }, { 4, 1, 1 }, { 2, 2, 2 } };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(requests); i++) {
		_cleanup_(chain_done) Chain c =
			hybrid_chain(requests[i][0], requests[i][1], requests[i][2]);
		_cleanup_free_ double *q = calloc(c.n * c.n, sizeof(*q));
		_cleanup_free_ double *exact = calloc(c.n, sizeof(*exact));
		_cleanup_free_ double *x = calloc(c.n, sizeof(*x));

		assert_true(q && exact && x && c.n > EXACT_MAX);
		chain_solve_exactly(&c, q, exact);
		assert_int_equal(chain_solve(&c, x), 0);
		for (size_t s = 0; s < c.n; s++)
			assert_true(fabs(x[s] - exact[s]) <= EXACT * exact[s] + 1e-12);
	}
}

static void a_level_has_a_quarter_of_the_states_at_most_and_all_of_their_time(void **state)
{
	_cleanup_(chain_done) Chain c = hybrid_chain(4, 2, 2);
	_cleanup_free_ double *x = calloc(c.n, sizeof(*x));
	_cleanup_(levels_done) Levels l = {};

	(void)state;
	assert_non_null(x);
	for (size_t i = 0; i < c.n; i++)
		x[i] = 1.0 / (double)c.n;
	chain_sweep(&c, x);
	chain_normalize(x, c.n);
	assert_int_equal(levels_new(&c, x, &l), 0);
	assert_true(l.n > 2);
	assert_true(l.of[l.n - 1].chain.n <= EXACT_MAX);
	for (size_t i = 1; i < l.n; i++) {
		const Level *fine = &l.of[i - 1], *coarse = &l.of[i];
		double sum = 0;

		assert_true(4 * coarse->chain.n <= fine->chain.n);
		for (size_t s = 0; s < coarse->chain.n; s++)
			sum += coarse->x[s];
		assert_near(sum, 1, EXACT);
	}
}

/* What flows from group to group is what flows between their states. */
static void groups_keep_the_flows_between_them(void **state)
{
	_cleanup_(chain_done) Chain c = hybrid_chain(4, 1, 1);
	_cleanup_free_ double *x = calloc(c.n, sizeof(*x));
	_cleanup_(levels_done) Levels l = {};
	const uint32_t *group;
	const Level *coarse;
	double between = 0, all = 0;

	(void)state;
	assert_non_null(x);
	for (size_t i = 0; i < c.n; i++)
		x[i] = (double)(i + 1);
	assert_int_equal(levels_new(&c, x, &l), 0);
	group = l.of[0].group;
	coarse = &l.of[1];
	for (size_t s = 0; s < c.n; s++)
		for (size_t k = c.row[s]; k < c.row[s + 1]; k++)
			if (group[s] != group[c.from[k]])
				between += x[c.from[k]] * c.rate[k];
	for (size_t s = 0; s < coarse->chain.n; s++)
		all += coarse->x[s] * coarse->chain.leave[s];
	assert_true(between > 0);
	assert_near(all, between, EXACT);
}

/* x = A x + b, where A has so many eigenvalues of its own: as many leaps and one find the end. */
static void a_linear_iteration_of_three_paces_ends_after_four_leaps(void **state)
{
	static const double paces[] = { 0.9, 0.5, 0.1 };
	_cleanup_(anderson_done) Anderson a = {};
	double from[30], x[30];

	(void)state;
	assert_int_equal(anderson_new(ELEMENTSOF(x), &a), 0);
	for (size_t i = 0; i < ELEMENTSOF(x); i++)
		x[i] = 0.9 + 0.01 * (double)i;
	for (unsigned leap = 0; leap < 4; leap++) {
		memcpy(from, x, sizeof(x));
		for (size_t i = 0; i < ELEMENTSOF(x); i++)
			x[i] = 1 + paces[i % 3] * (from[i] - 1);
		anderson_leap(&a, from, x);
	}
	for (size_t i = 0; i < ELEMENTSOF(x); i++)
		assert_near(x[i], 1, 1e-6);
}

static void an_iteration_that_stands_still_is_left_where_it_is(void **state)
{
	_cleanup_(anderson_done) Anderson a = {};
	double from[] = { 0.25, 0.75 }, x[] = { 0.25, 0.75 };

	(void)state;
	assert_int_equal(anderson_new(ELEMENTSOF(x), &a), 0);
	for (unsigned i = 0; i < 9; i++) {
		anderson_leap(&a, from, x);
		assert_true(x[0] == 0.25 && x[1] == 0.75);
	}
}

/* More than one place, so that hashes of markings differ in more than one of them. */
static void a_marking_is_found_again_however_many_came_after_it(void **state)
{
	_cleanup_(marking_set_done) MarkingSet s = { .width = 5 };
	const unsigned side = 40;
	size_t at;

	(void)state;
	for (unsigned round = 0; round < 2; round++)
		for (unsigned i = 0; i < side * side * side; i++) {
			uint16_t marking[] = { (uint16_t)(i % side), 0, (uint16_t)(i / side % side),
					       1, (uint16_t)(i / side / side) };

			assert_int_equal(marking_set_add(&s, marking, 0.5, &at), 0);
			assert_int_equal(at, i);
			assert_true(s.weights[at] == 0.5 * (round + 1));
		}
	assert_int_equal(s.n, side * side * side);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_share_of_a_chain_of_levels_agrees_with_elimination),
		cmocka_unit_test(a_level_has_a_quarter_of_the_states_at_most_and_all_of_their_time),
		cmocka_unit_test(groups_keep_the_flows_between_them),
		cmocka_unit_test(a_linear_iteration_of_three_paces_ends_after_four_leaps),
		cmocka_unit_test(an_iteration_that_stands_still_is_left_where_it_is),
		cmocka_unit_test(a_marking_is_found_again_however_many_came_after_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
