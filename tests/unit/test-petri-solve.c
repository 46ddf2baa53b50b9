/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Nets against the closed forms of queueing theory. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "petri-solved.h"

#define EXACT 1e-9

/* A queue of at most `room` customers: what comes, waits, and is served by so many servers. */
static unsigned build_queue(PetriNet *n, double arrivals, double service, unsigned servers,
			    unsigned room)
{
	unsigned queue = petri_place(n, 0);

	petri_timed(n, arrivals, 1);
	petri_output(n, queue, 1);
	petri_inhibitor(n, queue, room);
	petri_timed(n, service, servers);
	petri_input(n, queue, 1);
	return queue;
}

typedef struct Birth {
	double tokens, flow, empty;
} Birth;

/* A birth and death chain of `n` states above the empty one, by the product of its rates. */
static Birth solve_birth(unsigned n, double (*up)(unsigned, const double *),
			 double (*down)(unsigned, const double *), const double *args)
{
	double p = 1, empty = 1, sum = 1;
	Birth b = { 0 };

	for (unsigned i = 0; i < n; i++) {
		p *= up(i, args) / down(i + 1, args);
		sum += p;
		b.tokens += (i + 1) * p;
		b.flow += p * down(i + 1, args);
		if (p > 1e100) { /* before it overflows */
			b.tokens /= p;
			b.flow /= p;
			sum /= p;
			empty /= p;
			p = 1;
		}
	}
	return (Birth){ b.tokens / sum, b.flow / sum, empty / sum };
}

static double steady_up(unsigned i, const double *args)
{
	(void)i;
	return args[0];
}

static double served_down(unsigned i, const double *args)
{
	return args[1] * MIN((double)i, args[2]);
}

static double machines_up(unsigned i, const double *args)
{
	return args[0] * (args[3] - i);
}

static void truncated_queues_agree_with_their_closed_forms(void **state)
{
	static const struct {
		double arrivals, service;
		unsigned servers, room;
	} queues[] = {
		{ 0.5, 1, 1, 10 },   { 0.9, 1, 1, 200 },  { 1, 1, 1, 299 },    { 1.2, 1, 1, 300 },
		{ 0.5, 1, 1, 2000 }, { 0.99, 1, 1, 900 }, { 1, 1, 1, 1000 },   { 1.5, 1, 1, 1000 },
		{ 2.5, 1, 3, 50 },   { 30, 1, 40, 600 },  { 7.9, 1, 8, 5000 }, { 1e5, 2e4, 6, 64 },
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(queues); i++) {
		double args[] = { queues[i].arrivals, queues[i].service, queues[i].servers };
		Birth b = solve_birth(queues[i].room, steady_up, served_down, args);
		_cleanup_(petri_net_done) PetriNet n = { 0 };
		unsigned queue =
			build_queue(&n, args[0], args[1], queues[i].servers, queues[i].room);
		_cleanup_(petri_means_done) PetriMeans m = solved(&n, 100000, NULL);

		assert_near(m.tokens[queue], b.tokens, EXACT);
		assert_near(m.flow[1], b.flow, EXACT);
		assert_near(m.flow[0], b.flow, EXACT);
		assert_near(m.busy[1], 1 - b.empty, EXACT);
		assert_near(petri_response_s(m.tokens[queue], m.flow[1]), b.tokens / b.flow, EXACT);
	}
}

/* The formula in the textbooks, and not the recursion that the others are held against. */
static void a_truncated_single_server_has_the_textbook_length(void **state)
{
	const double rho = 0.8;
	const unsigned room = 40;
	_cleanup_(petri_net_done) PetriNet n = { 0 };
	unsigned queue = build_queue(&n, rho, 1, 1, room);
	_cleanup_(petri_means_done) PetriMeans m = solved(&n, 100, NULL);

	(void)state;
	assert_near(m.tokens[queue],
		    rho / (1 - rho) - (room + 1) * pow(rho, room + 1) / (1 - pow(rho, room + 1)),
		    EXACT);
}

static void machines_and_their_repairers_agree_with_the_closed_form(void **state)
{
	static const unsigned machines[] = { 1, 4, 50, 400, 3000 }, repairers[] = { 1, 3 };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(machines) * ELEMENTSOF(repairers); i++) {
		unsigned many = machines[i / 2], crew = repairers[i % 2];
		double args[] = { 0.02, 1, crew, many };
		Birth b = solve_birth(many, machines_up, served_down, args);
		_cleanup_(petri_net_done) PetriNet n = { 0 };
		unsigned up = petri_place(&n, many), down = petri_place(&n, 0);
		PetriMeans m;

		petri_timed(&n, args[0], PETRI_INFINITE);
		petri_input(&n, up, 1);
		petri_output(&n, down, 1);
		petri_timed(&n, args[1], crew);
		petri_input(&n, down, 1);
		petri_output(&n, up, 1);
		m = solved(&n, 100000, NULL);
		assert_near(m.tokens[down], b.tokens, EXACT);
		assert_near(m.tokens[up], many - b.tokens, EXACT);
		assert_near(m.flow[1], b.flow, EXACT);
		petri_means_done(&m);
	}
}

/* The likeliest and the least likely number of a hundred machines are further apart than doubles
 * can tell. */
static void shares_further_apart_than_doubles_can_tell_do_no_harm(void **state)
{
	static const unsigned machines[] = { 100, 250, 2000 };

	(void)state;
	for (size_t i = 0; i < 2 * ELEMENTSOF(machines); i++) {
		double args[] = { i % 2 ? 1e-6 : 1e6, 1, 1, machines[i / 2] };
		Birth b = solve_birth(machines[i / 2], machines_up, served_down, args);
		_cleanup_(petri_net_done) PetriNet n = repair_net(machines[i / 2], args[0], 1);
		PetriMeans m = solved(&n, 100000, NULL);

		assert_near(m.tokens[1], b.tokens, EXACT);
		assert_near(m.flow[1], b.flow, EXACT);
		petri_means_done(&m);
	}
}

/* Buzen's convolution, for so many customers in a ring with a routing. */
static double buzen_flow(const double *demands, size_t n_stations, unsigned customers)
{
	double g[101] = { 1 };

	assert_true(customers < ELEMENTSOF(g));
	for (size_t s = 0; s < n_stations; s++)
		for (unsigned k = 1; k <= customers; k++)
			g[k] += demands[s] * g[k - 1];
	return g[customers - 1] / g[customers];
}

/* One station sends its customers by immediate transitions to four others. */
static void a_closed_network_with_routing_agrees_with_buzen(void **state)
{
	static const double weights[] = { 5, 3, 1.5, 0.5 }, rates[] = { 7, 2.9, 2, 0.4 };
	static const unsigned customers[] = { 1, 3, 8, 14 };
	double demands[5] = { 0.1 };

	(void)state;
	for (size_t i = 0; i < 4; i++)
		demands[i + 1] = weights[i] / 10 / rates[i];
	for (size_t c = 0; c < ELEMENTSOF(customers); c++) {
		_cleanup_(petri_net_done) PetriNet n = { 0 };
		unsigned first = petri_place(&n, customers[c]), sent = petri_place(&n, 0);
		PetriMeans m;

		petri_timed(&n, 10, 1);
		petri_input(&n, first, 1);
		petri_output(&n, sent, 1);
		for (size_t i = 0; i < 4; i++) {
			unsigned queue = petri_place(&n, 0);

			petri_immediate(&n, weights[i], 1);
			petri_input(&n, sent, 1);
			petri_output(&n, queue, 1);
			petri_timed(&n, rates[i], 1);
			petri_input(&n, queue, 1);
			petri_output(&n, first, 1);
		}
		m = solved(&n, 100000, NULL);
		assert_near(m.flow[0], buzen_flow(demands, 5, customers[c]), EXACT);
		assert_near(m.tokens[sent] + 1, 1, 0);
		petri_means_done(&m);
	}
}

static void of_immediate_transitions_the_highest_priority_goes_first(void **state)
{
	_cleanup_(petri_net_done) PetriNet n = { 0 };
	unsigned start = petri_place(&n, 1), chosen = petri_place(&n, 0);
	unsigned low = petri_place(&n, 0), high = petri_place(&n, 0);
	PetriMeans m;

	(void)state;
	petri_timed(&n, 1, 1);
	petri_input(&n, start, 1);
	petri_output(&n, chosen, 1);
	petri_immediate(&n, 1000, 1);
	petri_input(&n, chosen, 1);
	petri_output(&n, low, 1);
	petri_immediate(&n, 0.001, 2);
	petri_input(&n, chosen, 1);
	petri_output(&n, high, 1);
	petri_timed(&n, 1, 1);
	petri_input(&n, low, 1);
	petri_output(&n, start, 1);
	petri_timed(&n, 1, 1);
	petri_input(&n, high, 1);
	petri_output(&n, start, 1);
	m = solved(&n, 10, NULL);
	assert_true(m.tokens[low] == 0);
	assert_near(m.tokens[high], 0.5, EXACT);
	assert_true(isnan(m.flow[1]));
	petri_means_done(&m);
}

/* A token goes round in no time until, one time in four, it leaves the loop. */
static void a_loop_of_immediate_transitions_with_a_way_out_is_followed_to_it(void **state)
{
	_cleanup_(petri_net_done) PetriNet n = { 0 };
	unsigned start = petri_place(&n, 1), a = petri_place(&n, 0), b = petri_place(&n, 0);
	unsigned laps = petri_place(&n, 0);
	PetriMeans m;

	(void)state;
	petri_timed(&n, 1, 1);
	petri_input(&n, start, 1);
	petri_output(&n, a, 1);
	petri_immediate(&n, 3, 1);
	petri_input(&n, a, 1);
	petri_output(&n, b, 1);
	petri_immediate(&n, 1, 1);
	petri_input(&n, a, 1);
	petri_output(&n, laps, 1);
	petri_immediate(&n, 1, 1);
	petri_input(&n, b, 1);
	petri_output(&n, a, 1);
	petri_timed(&n, 3, 1);
	petri_input(&n, laps, 1);
	petri_output(&n, start, 1);
	m = solved(&n, 10, NULL);
	assert_near(m.tokens[start], 0.75, EXACT);
	assert_near(m.tokens[laps], 0.25, EXACT);
	petri_means_done(&m);
}

/* Forty tokens that each choose for themselves: 2^40 ways, 41 ends. */
static void many_independent_choices_end_binomially(void **state)
{
	_cleanup_(petri_net_done) PetriNet n = { 0 };
	_cleanup_(petri_graph_done) PetriGraph g = { 0 };
	unsigned from = petri_place(&n, 40), left = petri_place(&n, 0), right = petri_place(&n, 0);
	double p = pow(0.3, 40);

	(void)state;
	petri_immediate(&n, 7, 1);
	petri_input(&n, from, 1);
	petri_output(&n, left, 1);
	petri_immediate(&n, 3, 1);
	petri_input(&n, from, 1);
	petri_output(&n, right, 1);
	assert_int_equal(petri_explore(&n, NULL, 100, &g), 0);
	assert_int_equal(g.states.n, 41);
	for (unsigned k = 0; k <= 40; k++, p *= (41.0 - k) / k * 7 / 3) {
		for (size_t i = 0; i < g.states.n; i++)
			if (marking_at(&g.states, i)[left] == k)
				assert_near(g.states.weights[i], p, EXACT);
		assert_true(marking_at(&g.states, k)[right] <= 40);
	}
}

static void states_that_are_left_for_good_have_no_share(void **state)
{
	_cleanup_(petri_net_done) PetriNet n = { 0 };
	unsigned once = petri_place(&n, 400), a = petri_place(&n, 1), b = petri_place(&n, 0);
	PetriMeans m;

	(void)state;
	petri_timed(&n, 0.001, 1);
	petri_input(&n, once, 1);
	petri_timed(&n, 3, 1);
	petri_input(&n, a, 1);
	petri_output(&n, b, 1);
	petri_timed(&n, 1, 1);
	petri_input(&n, b, 1);
	petri_output(&n, a, 1);
	m = solved(&n, 1000, NULL);
	assert_true(m.tokens[once] == 0 && m.flow[0] == 0);
	assert_near(m.tokens[b], 0.75, EXACT);
	petri_means_done(&m);
}

static void a_net_that_stops_is_where_it_stopped(void **state)
{
	_cleanup_(petri_net_done) PetriNet n = { 0 };
	unsigned left = petri_place(&n, 700), gone = petri_place(&n, 0);
	PetriMeans m;

	(void)state;
	petri_timed(&n, 5, 1);
	petri_input(&n, left, 1);
	petri_output(&n, gone, 1);
	m = solved(&n, 1000, NULL);
	assert_true(m.tokens[left] == 0 && m.flow[0] == 0);
	assert_near(m.tokens[gone], 700, EXACT);
	petri_means_done(&m);
}

static int outcome(const PetriNet *n)
{
	_cleanup_(petri_graph_done) PetriGraph g = { 0 };
	_cleanup_free_ double *shares = NULL;
	int r = petri_explore(n, NULL, 1000, &g);

	return r < 0 ? r : petri_steady(&g, &shares);
}

static void a_net_that_cannot_be_solved_says_why(void **state)
{
	_cleanup_(petri_net_done) PetriNet endless = { 0 }, trap = { 0 }, fork = { 0 };
	_cleanup_(petri_net_done) PetriNet flood = { 0 }, empty = { 0 }, wrong = { 0 };
	unsigned p, q;

	(void)state;
	build_queue(&endless, 1, 2, 1, 5000);
	assert_int_equal(outcome(&endless), -E2BIG);

	p = petri_place(&trap, 1);
	q = petri_place(&trap, 0);
	petri_immediate(&trap, 1, 1);
	petri_input(&trap, p, 1);
	petri_output(&trap, q, 1);
	petri_immediate(&trap, 1, 1);
	petri_input(&trap, q, 1);
	petri_output(&trap, p, 1);
	assert_int_equal(outcome(&trap), -ELOOP);

	p = petri_place(&fork, 1);
	for (unsigned i = 0; i < 2; i++) {
		q = petri_place(&fork, 0);
		petri_timed(&fork, 1, 1);
		petri_input(&fork, p, 1);
		petri_output(&fork, q, 1);
	}
	assert_int_equal(outcome(&fork), -ENOTUNIQ);

	p = petri_place(&flood, 60000);
	petri_timed(&flood, 1, 1);
	petri_output(&flood, p, 6000);
	assert_int_equal(outcome(&flood), -EOVERFLOW);

	assert_int_equal(outcome(&empty), -EINVAL);
	petri_place(&wrong, 1);
	petri_timed(&wrong, -1, 1);
	assert_int_equal(outcome(&wrong), -EINVAL);
}

static void what_takes_two_tokens_is_served_half_as_often(void **state)
{
	_cleanup_(petri_net_done) PetriNet n = { 0 };
	unsigned p = petri_place(&n, 5), q = petri_place(&n, 0);
	uint16_t marking[] = { 5, 0 }, after[2];

	(void)state;
	petri_timed(&n, 10, PETRI_INFINITE);
	petri_input(&n, p, 2);
	petri_output(&n, q, 3);
	petri_inhibitor(&n, q, 4);
	assert_int_equal(petri_degree(&n, &n.transitions[0], marking), 2);
	assert_near(petri_rate(&n, &n.transitions[0], marking), 20, EXACT);
	assert_int_equal(petri_fire(&n, &n.transitions[0], marking, after), 0);
	assert_int_equal(after[p], 3);
	assert_int_equal(after[q], 3);
	assert_int_equal(petri_degree(&n, &n.transitions[0], after), 1);
	after[q] = 4;
	assert_int_equal(petri_degree(&n, &n.transitions[0], after), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(truncated_queues_agree_with_their_closed_forms),
		cmocka_unit_test(a_truncated_single_server_has_the_textbook_length),
		cmocka_unit_test(machines_and_their_repairers_agree_with_the_closed_form),
		cmocka_unit_test(shares_further_apart_than_doubles_can_tell_do_no_harm),
		cmocka_unit_test(a_closed_network_with_routing_agrees_with_buzen),
		cmocka_unit_test(of_immediate_transitions_the_highest_priority_goes_first),
		cmocka_unit_test(a_loop_of_immediate_transitions_with_a_way_out_is_followed_to_it),
		cmocka_unit_test(many_independent_choices_end_binomially),
		cmocka_unit_test(states_that_are_left_for_good_have_no_share),
		cmocka_unit_test(a_net_that_stops_is_where_it_stopped),
		cmocka_unit_test(a_net_that_cannot_be_solved_says_why),
		cmocka_unit_test(what_takes_two_tokens_is_served_half_as_often),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
