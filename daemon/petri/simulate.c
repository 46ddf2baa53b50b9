/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "petri/simulate.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/splitmix.h"

#define STUDENT_99    2.7440 /* of PETRI_BATCHES - 1 degrees of freedom, both sides */
#define IMMEDIATE_MAX 1000000
#define SETTLING      2 /* batches */

typedef struct Simulation {
	const PetriNet *net;
	uint64_t random;
	uint16_t *marking, *fired;
	double *rates; /* of the transitions in the present marking */
} Simulation;

static void simulation_done(Simulation *s)
{
	free(s->marking);
	free(s->fired);
	free(s->rates);
}

/* Above 0, at most 1. */
static double draw(Simulation *s)
{
	s->random += SPLITMIX_STEP;
	return (double)((splitmix(s->random) >> 11) + 1) * 0x1p-53;
}

/* Fires one of the transitions by their rates, which sum up to `total`. */
static int fire_one(Simulation *s, double total)
{
	double left = draw(s) * total;
	size_t chosen = 0;
	uint16_t *swap = s->marking;
	int r;

	for (size_t i = 0; i < s->net->n_transitions && left > 0; i++) {
		left -= s->rates[i];
		if (s->rates[i] > 0)
			chosen = i;
	}
	r = petri_fire(s->net, &s->net->transitions[chosen], s->marking, s->fired);
	s->marking = s->fired;
	s->fired = swap;
	return r;
}

static int settle(Simulation *s)
{
	const PetriNet *n = s->net;
	int r = 0;

	for (unsigned fired = 0; r >= 0 && fired < IMMEDIATE_MAX; fired++) {
		double weight;
		unsigned urgency = petri_urgency(n, s->marking, &weight);

		if (urgency == 0)
			return 0;
		for (size_t i = 0; i < n->n_transitions; i++)
			s->rates[i] = petri_is_urgent(n, &n->transitions[i], urgency, s->marking)
					      ? n->transitions[i].rate
					      : 0;
		r = fire_one(s, weight);
	}
	return r < 0 ? r : -ELOOP;
}

/* The seconds until the next timed transition fires are exponential, and which one it is does not
 * depend on them. */
static int step(Simulation *s, const PetriRun *run, PetriMeans *means, double *seconds)
{
	double total = 0, passed;
	int r;

	for (size_t i = 0; i < s->net->n_transitions; i++) {
		const PetriTransition *t = &s->net->transitions[i];

		s->rates[i] = t->priority ? 0 : petri_rate(s->net, t, s->marking);
		total += s->rates[i];
	}
	if (!(total > 0))
		return -EDEADLK;
	passed = -log(draw(s)) / total;
	*seconds += passed;
	if (means) {
		petri_means_add(means, s->net, s->marking, passed);
		if (run->visit)
			run->visit(run->context, s->marking, passed);
	}
	r = fire_one(s, total);
	return r < 0 ? r : settle(s);
}

static int run_batch(Simulation *s, const PetriRun *run, PetriMeans *means)
{
	double seconds = 0;
	int r = means ? petri_means_new(s->net, means) : 0;

	for (uint64_t i = 0; r >= 0 && i < run->firings; i++)
		r = step(s, run, means, &seconds);
	if (r >= 0 && means)
		petri_means_divide(means, s->net, seconds);
	return r;
}

int petri_simulate(const PetriNet *n, const PetriRun *run, PetriMeans ret[PETRI_BATCHES])
{
	_cleanup_(simulation_done) Simulation s = {
		.net = n,
		.random = run->seed,
		.marking = calloc(n->n_places + 1, sizeof(uint16_t)),
		.fired = calloc(n->n_places + 1, sizeof(uint16_t)),
		.rates = calloc(n->n_transitions + 1, sizeof(double)),
	};
	int r;

	if (n->error < 0 || n->n_places == 0 || run->firings == 0)
		return n->error < 0 ? n->error : -EINVAL;
	if (!s.marking || !s.fired || !s.rates)
		return -ENOMEM;
	memset(ret, 0, PETRI_BATCHES * sizeof(*ret));
	memcpy(s.marking, n->initial, n->n_places * sizeof(*s.marking));
	r = settle(&s);
	for (int i = -SETTLING; r >= 0 && i < PETRI_BATCHES; i++)
		r = run_batch(&s, run, i < 0 ? NULL : &ret[i]);
	for (int i = 0; r < 0 && i < PETRI_BATCHES; i++)
		petri_means_done(&ret[i]);
	return r;
}

PetriInterval petri_interval(const double batches[PETRI_BATCHES])
{
	double mean = 0, square = 0;

	for (int i = 0; i < PETRI_BATCHES; i++)
		mean += batches[i] / PETRI_BATCHES;
	for (int i = 0; i < PETRI_BATCHES; i++)
		square += (batches[i] - mean) * (batches[i] - mean) / (PETRI_BATCHES - 1);
	return (PetriInterval){ mean, STUDENT_99 * sqrt(square / PETRI_BATCHES) };
}
