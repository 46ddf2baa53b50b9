/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How times are distributed: phase-type fits, passages, and the response times of a tier. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "petri-solved.h"
#include "petri/passage.h"
#include "petri/predict.h"

#define EXACT 1e-9

static double deviation_of(const PhaseType *p)
{
	double m[3];

	phase_moments(p, m);
	return sqrt(m[1] - m[0] * m[0]);
}

static double mean_of(const PhaseType *p)
{
	double m[3];

	phase_moments(p, m);
	return m[0];
}

static void a_fit_has_the_mean_and_the_deviation_that_were_asked_for(void **state)
{
	static const double ratios[] = {
		0.302,    0.31, 0.35,     0.4, 0.5, 0.6, 0.70710678118654752, 0.75, 0.9,
		0.999999, 1,    1.000001, 1.5, 3,   30
	};

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(ratios); i++) {
		PhaseType p;

		assert_int_equal(phase_fit(0.004, 0.004 * ratios[i], &p), 0);
		assert_near(mean_of(&p), 0.004, EXACT);
		assert_near(deviation_of(&p), 0.004 * ratios[i], 1e-6);
		for (unsigned k = 0; k < p.n; k++)
			assert_true(p.rate[k] > 0 && p.enter[k] >= 0 && p.next[k] >= 0);
	}
}

/* Eleven equal stages have 1 / sqrt(11) of their mean. */
static void a_deviation_too_small_for_the_phases_keeps_the_mean(void **state)
{
	static const double ratios[] = { 0, 0.01, 0.2, 0.3015 };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(ratios); i++) {
		PhaseType p;

		assert_int_equal(phase_fit(2, 2 * ratios[i], &p), 0);
		assert_int_equal(p.n, 11);
		assert_near(mean_of(&p), 2, EXACT);
		assert_near(deviation_of(&p), 2 / sqrt(11), EXACT);
	}
}

static void an_exponential_time_is_one_phase_and_an_erlang_time_its_own(void **state)
{
	PhaseType p;

	(void)state;
	assert_int_equal(phase_fit(3, 3, &p), 0);
	assert_int_equal(p.n, 1);
	assert_near(p.rate[0], 1.0 / 3, EXACT);
	assert_int_equal(phase_fit(3, 1.5, &p), 0);
	assert_int_equal(p.n, 4);
	assert_near(p.rate[0], 4.0 / 3, 1e-6);
}

static void nonsense_is_not_fitted(void **state)
{
	static const double wrong[][2] = { { 0, 1 },   { -1, 1 },       { 1, -1 },      { NAN, 1 },
					   { 1, NAN }, { INFINITY, 1 }, { 1, INFINITY } };
	static const double flat[] = { 1, 1.9, 5.0 }, light[] = { 1, 4, 20 };
	PhaseType p;

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(wrong); i++)
		assert_int_equal(phase_fit(wrong[i][0], wrong[i][1], &p), -EINVAL);
	assert_int_equal(phase_fit_moments(flat, &p), -EDOM);
	assert_int_equal(phase_fit_moments(light, &p), -EDOM);
}

static void three_moments_are_met_where_two_times_can_meet_them(void **state)
{
	static const double wanted[][3] = { { 1, 4, 40 }, { 1, 2.2, 8 }, { 0.002, 2e-5, 5e-7 } };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(wanted); i++) {
		PhaseType p;
		double found[3];

		assert_int_equal(phase_fit_moments(wanted[i], &p), 0);
		phase_moments(&p, found);
		for (unsigned k = 0; k < 3; k++)
			assert_near(found[k], wanted[i][k], EXACT);
	}
}

/* P(T > t) of k exponential stages of this rate. */
static double erlang_beyond(unsigned k, double rate, double t)
{
	double term = exp(-rate * t), sum = 0;

	for (unsigned i = 0; i < k; i++) {
		sum += term;
		term *= rate * t / (i + 1);
	}
	return sum;
}

static void a_passage_through_stages_is_erlang(void **state)
{
	static const unsigned stages[] = { 1, 2, 11, 300 };
	const double one = 1;

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(stages); i++) {
		_cleanup_(petri_net_done) PetriNet n = { 0 };
		_cleanup_(petri_graph_done) PetriGraph g = { 0 };
		_cleanup_(petri_passage_done) PetriPassage p = { 0 };
		unsigned left = petri_place(&n, stages[i]);
		double mean_s = stages[i] / 5.0, p99_s;

		petri_timed(&n, 5, 1);
		petri_input(&n, left, 1);
		assert_int_equal(petri_explore(&n, NULL, 1000, &g), 0);
		assert_int_equal(petri_passage(&g, &p), 0);
		assert_near(p.mean_s, mean_s, EXACT);
		for (double t = mean_s / 4; t < 3 * mean_s; t += mean_s / 4)
			assert_near(1 + petri_passage_within(&p, t),
				    2 - erlang_beyond(stages[i], 5, t), EXACT);
		p99_s = petri_passage_quantile(&p, &one, 1, 0.99);
		assert_near(erlang_beyond(stages[i], 5, p99_s), 0.01, 1e-7);
	}
}

static void a_passage_that_never_ends_is_refused(void **state)
{
	_cleanup_(petri_net_done) PetriNet n = { 0 };
	_cleanup_(petri_graph_done) PetriGraph g = { 0 };
	PetriPassage p;
	unsigned a = petri_place(&n, 1), b = petri_place(&n, 0);

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		petri_timed(&n, 1, 1);
		petri_input(&n, i ? b : a, 1);
		petri_output(&n, i ? a : b, 1);
	}
	assert_int_equal(petri_explore(&n, NULL, 10, &g), 0);
	assert_int_equal(petri_passage(&g, &p), -E2BIG);
}

/* Exponential service by so many devices, each request alone in thinking. */
static Tier exponential_tier(unsigned requests, unsigned devices, double service_s, double think_s)
{
	Tier t = { .requests = requests, .think_s = think_s, .n_stations = 1 };

	t.stations[0] = (Station){ .devices = devices, .share = 1, .n_classes = 1 };
	t.stations[0].classes[0].share = 1;
	assert_int_equal(phase_fit(service_s, service_s, &t.stations[0].classes[0].service), 0);
	return t;
}

/* P(wait for k services by c devices, then one's own > t), by Simpson's rule over the wait. */
static double served_beyond(unsigned k, unsigned c, double rate, double t)
{
	const int pieces = 4000;
	double sum = 0, h = t / pieces;

	if (k == 0)
		return exp(-rate * t);
	for (int i = 0; i <= pieces; i++) {
		double s = i * h, x = c * rate * s;
		double density = c * rate * exp((k - 1) * log(MAX(x, 1e-300)) - x - lgamma(k));

		sum += density * exp(-rate * (t - s)) * (i == 0 || i == pieces ? 1 : i % 2 ? 4 : 2);
	}
	return sum * h / 3 + erlang_beyond(k, c * rate, t);
}

/* A request of a closed net finds it as it is with one request less (Lavenberg and Reiser; Sevcik
 * and Mitrani), which here is the repairers' queue. */
static double response_beyond(unsigned requests, unsigned devices, double service_s, double think_s,
			      double t)
{
	double p = 1, sum = 0, beyond = 0;

	for (unsigned found = 0; found < requests; found++) {
		unsigned ahead = found < devices ? 0 : found - devices + 1;

		beyond += p * served_beyond(ahead, devices, 1 / service_s, t);
		sum += p;
		p *= (requests - 1 - found) / think_s * service_s /
		     MIN((double)devices, found + 1.0);
	}
	return beyond / sum;
}

static void the_p99_of_exponential_devices_agrees_with_the_arrival_theorem(void **state)
{
	static const struct {
		unsigned requests, devices;
		double service_s, think_s;
	} tiers[] = { { 1, 1, 0.004, 0.001 },
		      { 8, 1, 0.004, 0.02 },
		      { 32, 1, 1e-4, 1e-3 },
		      { 12, 3, 0.004, 0.005 },
		      { 64, 8, 8e-5, 1e-4 } };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(tiers); i++) {
		Tier t = exponential_tier(tiers[i].requests, tiers[i].devices, tiers[i].service_s,
					  tiers[i].think_s);
		TierPrediction p;

		assert_int_equal(tier_predict(&t, &TIER_EFFORT_DEFAULT, &p), 0);
		assert_near(response_beyond(tiers[i].requests, tiers[i].devices, tiers[i].service_s,
					    tiers[i].think_s, p.p99_s),
			    0.01, 1e-6);
		assert_near(response_beyond(tiers[i].requests, tiers[i].devices, tiers[i].service_s,
					    tiers[i].think_s, p.p50_s),
			    0.5, 1e-6);
	}
}

/* At a depth of N without pauses a request waits for N services, the first of them begun. */
static void the_p99_at_a_depth_is_that_of_so_many_services(void **state)
{
	Tier t = exponential_tier(16, 1, 0.001, 1e-10);
	TierPrediction p;

	(void)state;
	assert_int_equal(tier_predict(&t, &TIER_EFFORT_DEFAULT, &p), 0);
	assert_near(erlang_beyond(16, 1000, p.p99_s), 0.01, 1e-4);
	assert_near(p.response_s.mean, 0.016, 1e-6);
	assert_near(p.iops.mean, 1000, 1e-6);
	assert_near(p.busy[0], 1, 1e-6);
}

static uint64_t random_state = 88172645463325252;

static double draw(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return ((double)(random_state >> 11) + 0.5) / 9007199254740992.0;
}

static double draw_service(const PhaseType *p)
{
	double which = draw(), seconds = 0;
	unsigned i = 0;

	while (i + 1 < p->n && which > p->enter[i])
		which -= p->enter[i++];
	for (;; i++) {
		seconds -= log(draw()) / p->rate[i];
		if (draw() >= p->next[i])
			return seconds;
	}
}

/* One device and N requests with pauses, customer by customer and without a net: whoever is ready
 * first is served next. Returns the share of responses longer than `limit_s`. */
static double simulate_beyond(const Tier *t, double limit_s, unsigned n)
{
	double ready[64], free_s = 0;
	unsigned beyond = 0;

	for (unsigned i = 0; i < t->requests; i++)
		ready[i] = -log(draw()) * t->think_s;
	for (unsigned k = 0; k < n; k++) {
		const Station *s = &t->stations[0];
		unsigned next = 0, kind = draw() < s->classes[0].share ? 0 : 1;

		for (unsigned i = 1; i < t->requests; i++)
			if (ready[i] < ready[next])
				next = i;
		free_s = MAX(free_s, ready[next]) + draw_service(&s->classes[kind].service) -
			 log(draw()) * t->transfer_s;
		beyond += free_s - ready[next] > limit_s;
		ready[next] = free_s - log(draw()) * t->think_s;
	}
	return (double)beyond / n;
}

/* Two kinds of requests, one rare and slow with a long tail. */
static void the_p99_of_mixed_requests_agrees_with_a_simulation_without_a_net(void **state)
{
	static const unsigned depths[] = { 1, 4, 24 };

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(depths); i++) {
		Tier t = exponential_tier(depths[i], 1, 0.001, 0.01);
		Station *s = &t.stations[0];
		TierPrediction p;

		t.transfer_s = 1e-4;
		s->n_classes = 2;
		s->classes[0].share = 0.9;
		s->classes[1].share = 0.1;
		assert_int_equal(phase_fit(0.0005, 0.0002, &s->classes[0].service), 0);
		assert_int_equal(phase_fit(0.005, 0.008, &s->classes[1].service), 0);
		assert_int_equal(tier_predict(&t, &TIER_EFFORT_DEFAULT, &p), 0);
		/* Responses follow each other closely at a depth: the tolerance is ten times what
		 * it would be of as many independent ones. */
		assert_near(simulate_beyond(&t, p.p99_s, 1000000), 0.01, 0.1);
		assert_near(simulate_beyond(&t, p.p50_s, 1000000), 0.5, 0.02);
	}
}

static void a_tier_that_makes_no_sense_is_refused(void **state)
{
	Tier t[6];
	TierPrediction p;

	(void)state;
	for (size_t i = 0; i < ELEMENTSOF(t); i++)
		t[i] = exponential_tier(4, 1, 0.001, 0.001);
	t[0].requests = 0;
	t[1].think_s = 0;
	t[2].n_stations = TIER_STATIONS_MAX + 1;
	t[3].stations[0].devices = 0;
	t[4].stations[0].share = NAN;
	t[5].stations[0].n_classes = 0;
	for (size_t i = 0; i < ELEMENTSOF(t); i++)
		assert_int_equal(tier_predict(&t[i], &TIER_EFFORT_DEFAULT, &p), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fit_has_the_mean_and_the_deviation_that_were_asked_for),
		cmocka_unit_test(a_deviation_too_small_for_the_phases_keeps_the_mean),
		cmocka_unit_test(an_exponential_time_is_one_phase_and_an_erlang_time_its_own),
		cmocka_unit_test(nonsense_is_not_fitted),
		cmocka_unit_test(three_moments_are_met_where_two_times_can_meet_them),
		cmocka_unit_test(a_passage_through_stages_is_erlang),
		cmocka_unit_test(a_passage_that_never_ends_is_refused),
		cmocka_unit_test(the_p99_of_exponential_devices_agrees_with_the_arrival_theorem),
		cmocka_unit_test(the_p99_at_a_depth_is_that_of_so_many_services),
		cmocka_unit_test(the_p99_of_mixed_requests_agrees_with_a_simulation_without_a_net),
		cmocka_unit_test(a_tier_that_makes_no_sense_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
