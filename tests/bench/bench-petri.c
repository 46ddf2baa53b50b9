/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How much of a processor it takes to solve a net, against the number of its states: bench-petri
 * [--json=FILE]. The nets are the hybrids of the study; more requests are more states. */

#include <math.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "petri/means.h"
#include "petri/predict.h"
#include "petri/steady.h"
#include "petri/study.h"

typedef struct Case {
	const char *what;
	unsigned n_ssd, n_hdd;
	StudyMix mix;
	unsigned requests[4];
} Case;

static const Case cases[] = {
	{ "1 + 1, random 4K", 1, 1, { 0.3, 1, 1 }, { 3, 8, 25, 80 } },
	{ "1 + 1, all kinds", 1, 1, { 0.3, 0.5, 0.5 }, { 2, 4, 7, 21 } },
	{ "2 + 2, random 4K", 2, 2, { 0.3, 1, 1 }, { 2, 4, 6, 10 } },
};

/* Of the processor: whatever else runs beside it takes none of these. */
static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int solve(const TierNet *n, size_t *ret_states, double *ret_explore_s, double *ret_solve_s)
{
	_cleanup_(petri_graph_done) PetriGraph g = { 0 };
	_cleanup_free_ double *shares = NULL;
	double start = now_s(), explored;
	int r = petri_explore(&n->net, NULL, 4000000, &g);

	explored = now_s();
	if (r >= 0)
		r = petri_steady(&g, &shares);
	*ret_states = g.states.n;
	*ret_explore_s = explored - start;
	*ret_solve_s = now_s() - explored;
	return r;
}

/* The steady state by itself, and the whole prediction with its percentiles. */
static int bench_case(const Case *c, unsigned requests, FILE *json)
{
	_cleanup_(tier_net_done) TierNet n = { 0 };
	double explore_s, solve_s, predict_s, start;
	TierPrediction p;
	size_t states;
	Tier t;
	int r = study_tier(requests, &c->mix, c->n_ssd, c->n_hdd, 0.9, &t);

	if (r >= 0)
		r = tier_net_build(&t, &n);
	if (r >= 0)
		r = solve(&n, &states, &explore_s, &solve_s);
	start = now_s();
	if (r >= 0)
		r = tier_predict(&t, &(TierEffort){ .max_states = 4000000 }, &p);
	predict_s = now_s() - start;
	if (r < 0)
		return r;
	fprintf(json,
		"{\"bench\":\"petri\",\"what\":\"%s\",\"requests\":%u,\"states\":%zu,"
		"\"explore_s\":%.4f,\"solve_s\":%.4f,\"predict_s\":%.4f}\n",
		c->what, requests, states, explore_s, solve_s, predict_s);
	printf("%-18s %8u %9zu %10.3f %10.3f %10.3f %10.2f %10.2f\n", c->what, requests, states,
	       explore_s, solve_s, predict_s, p.response_s.mean * 1e3, p.p99_s * 1e3);
	fflush(stdout);
	return 0;
}

int main(int argc, char *argv[])
{
	FILE *json = bench_json(&argc, argv);
	int r = 0;

	printf("%-18s %8s %9s %10s %10s %10s %10s %10s\n", "SSD + HDD", "requests", "states",
	       "explore s", "solve s", "predict s", "mean ms", "p99 ms");
	for (size_t i = 0; r >= 0 && i < ELEMENTSOF(cases); i++)
		for (size_t k = 0; r >= 0 && k < ELEMENTSOF(cases[i].requests); k++)
			r = bench_case(&cases[i], cases[i].requests[k], json);
	if (r < 0)
		fprintf(stderr, "bench-petri: %s\n", strerror(-r));
	return fclose(json) == 0 && r >= 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
