/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "petri/predict.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "petri/passage.h"
#include "petri/steady.h"

/* A station and what its requests find there when they come. */
typedef struct View {
	PetriNet passage;
	MarkingSet arrivals; /* markings of the passage, by how often */
	PetriPassage time;
} View;

typedef struct Prediction {
	const Tier *tier;
	TierNet net;
	View views[TIER_STATIONS_MAX];
	int error; /* of the views */
} Prediction;

static void prediction_done(Prediction *p)
{
	tier_net_done(&p->net);
	for (unsigned i = 0; i < TIER_STATIONS_MAX; i++) {
		petri_net_done(&p->views[i].passage);
		marking_set_done(&p->views[i].arrivals);
		petri_passage_done(&p->views[i].time);
	}
}

static int add_views(Prediction *p, size_t max_states)
{
	int r = 0;

	for (unsigned i = 0; r >= 0 && i < p->tier->n_stations; i++) {
		View *v = &p->views[i];

		r = station_passage_build(p->tier, &p->tier->stations[i], &v->passage);
		v->arrivals = (MarkingSet){ .width = v->passage.n_places, .max = max_states };
	}
	return r;
}

static int add_arrival(View *v, const StationPlaces *places, const uint16_t *marking, double weight)
{
	/* A marking of the passage: its own start, with the station's places over it. */
	_cleanup_free_ uint16_t *met = malloc(v->passage.n_places * sizeof(*met));
	size_t at;

	if (!met)
		return -ENOMEM;
	memcpy(met, v->passage.initial, v->passage.n_places * sizeof(*met));
	memcpy(met + PASSAGE_STATION, marking + places->first, places->n * sizeof(*met));
	return marking_set_add(&v->arrivals, met, weight, &at);
}

/* A request that sets out in a marking finds the stations as they are in it. */
static void see(void *context, const uint16_t *marking, double weight)
{
	Prediction *p = context;
	double sets_out = weight * marking[p->net.thinking];

	for (unsigned i = 0; sets_out > 0 && p->error >= 0 && i < p->tier->n_stations; i++)
		p->error = add_arrival(&p->views[i], &p->net.stations[i], marking, sets_out);
}

static double iops_of(const Prediction *p, const PetriMeans *m)
{
	return m->flow[p->net.requesting];
}

static double response_of(const Prediction *p, const PetriMeans *m)
{
	return petri_response_s(p->tier->requests - m->tokens[p->net.thinking], iops_of(p, m));
}

static double busy_of(const Prediction *p, const PetriMeans *m, unsigned station)
{
	return 1 - m->tokens[p->net.stations[station].idle] / p->tier->stations[station].devices;
}

static int solve(Prediction *p, const TierEffort *effort, TierPrediction *ret)
{
	_cleanup_(petri_graph_done) PetriGraph g = { 0 };
	_cleanup_(petri_means_done) PetriMeans means = { 0 };
	_cleanup_free_ double *shares = NULL;
	int r = petri_explore(&p->net.net, NULL, effort->max_states, &g);

	if (r >= 0)
		r = petri_steady(&g, &shares);
	if (r >= 0)
		r = petri_means_of(&p->net.net, &g, shares, &means);
	if (r < 0)
		return r;
	for (size_t i = 0; i < g.states.n; i++)
		see(p, marking_at(&g.states, i), shares[i]);
	ret->iops.mean = iops_of(p, &means);
	ret->response_s.mean = response_of(p, &means);
	for (unsigned i = 0; i < p->tier->n_stations; i++)
		ret->busy[i] = busy_of(p, &means, i);
	ret->n_states = g.states.n;
	return 0;
}

static int simulate(Prediction *p, const TierEffort *effort, TierPrediction *ret)
{
	const PetriRun run = { effort->seed, effort->firings, see, p };
	double iops[PETRI_BATCHES], response[PETRI_BATCHES];
	PetriMeans means[PETRI_BATCHES];
	int r = petri_simulate(&p->net.net, &run, means);

	if (r < 0)
		return r;
	for (int i = 0; i < PETRI_BATCHES; i++) {
		iops[i] = iops_of(p, &means[i]);
		response[i] = response_of(p, &means[i]);
		for (unsigned k = 0; k < p->tier->n_stations; k++)
			ret->busy[k] += busy_of(p, &means[i], k) / PETRI_BATCHES;
		petri_means_done(&means[i]);
	}
	ret->iops = petri_interval(iops);
	ret->response_s = petri_interval(response);
	return 0;
}

static double energy_of_a_request(const Tier *t)
{
	double sum = 0;

	for (unsigned i = 0; i < t->n_stations; i++)
		for (unsigned k = 0; k < t->stations[i].n_classes; k++)
			sum += t->stations[i].share * t->stations[i].classes[k].share *
			       t->stations[i].classes[k].energy_j;
	return sum;
}

static int distribute(Prediction *p, const TierEffort *effort, TierPrediction *ret)
{
	PetriPassage times[TIER_STATIONS_MAX];
	double shares[TIER_STATIONS_MAX];
	int r = p->error;

	for (unsigned i = 0; r >= 0 && i < p->tier->n_stations; i++) {
		_cleanup_(petri_graph_done) PetriGraph g = { 0 };
		View *v = &p->views[i];

		r = petri_explore(&v->passage, &v->arrivals, effort->max_states, &g);
		if (r >= 0)
			r = petri_passage(&g, &v->time);
		times[i] = v->time;
		shares[i] = p->tier->stations[i].share;
	}
	if (r < 0)
		return r;
	ret->p50_s = petri_passage_quantile(times, shares, p->tier->n_stations, 0.5);
	ret->p99_s = petri_passage_quantile(times, shares, p->tier->n_stations, 0.99);
	return 0;
}

int tier_predict(const Tier *t, const TierEffort *effort, TierPrediction *ret)
{
	_cleanup_(prediction_done) Prediction p = { .tier = t };
	TierPrediction made = { .p50_s = NAN, .p99_s = NAN };
	int r = tier_net_build(t, &p.net);

	if (r >= 0)
		r = add_views(&p, effort->max_states);
	if (r >= 0)
		r = solve(&p, effort, &made);
	if (r == -E2BIG || r == -ETIME)
		r = simulate(&p, effort, &made);
	if (r < 0)
		return r;
	made.operations_w = made.iops.mean * energy_of_a_request(t);
	r = distribute(&p, effort, &made);
	if (r < 0 && r != -E2BIG)
		return r;
	*ret = made;
	return 0;
}
