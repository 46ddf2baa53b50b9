/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How long the planner takes and how near to the optimum it comes, against the number of devices:
 * bench-planner [--json=FILE] [PROFILE-DIRECTORY]. Each figure is the median over nine budgets
 * between the floor and the rated power. */

#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/text.h"
#include "bench.h"
#include "plan/knapsack.h"
#include "plan/plan.h"

enum { CHOICES = 64, BUDGETS = 9 };

typedef struct Result {
	const char *what;
	size_t n, choices;
	double ms[BUDGETS], gap;
	unsigned n_optimal;
} Result;

static uint64_t draw_state = 0x9E3779B97F4A7C15ULL;

static double uniform(void)
{
	draw_state ^= draw_state >> 12;
	draw_state ^= draw_state << 25;
	draw_state ^= draw_state >> 27;
	return (double)(draw_state * 0x2545F4914F6CDD1DULL >> 11) / 9007199254740992.0;
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static void record(Result *r, int i, double ms, double value, double bound, bool optimal)
{
	r->ms[i] = ms;
	r->n_optimal += optimal;
	if (value > 0)
		r->gap = MAX(r->gap, bound / value - 1);
}

static void print(Result *r, FILE *json)
{
	qsort(r->ms, BUDGETS, sizeof(double), compare_doubles);
	fprintf(json,
		"{\"bench\":\"planner\",\"what\":\"%s\",\"devices\":%zu,\"choices\":%zu,"
		"\"ms\":%.4f,\"ms_worst\":%.4f,\"gap\":%.3g,\"optimal\":%u,\"runs\":%d}\n",
		r->what, r->n, r->choices, r->ms[BUDGETS / 2], r->ms[BUDGETS - 1], r->gap,
		r->n_optimal, BUDGETS);
	printf("%-20s %8zu %9zu %10.3f %10.3f %10.2g %6u/%d\n", r->what, r->n, r->choices,
	       r->ms[BUDGETS / 2], r->ms[BUDGETS - 1], r->gap, r->n_optimal, BUDGETS);
	fflush(stdout);
}

static const char *const profile_names[] = {
	"samsung-pm9a3", "intel-p5510", "seagate-exos-7e2000", "intel-d3-s4510", "dell-ps1010",
};

/* A device's frontier as measured ones look: rising, roughly concave, every third step paced. */
static void draw_class(Choice *c, bool paced)
{
	double w = 3 + uniform(), full = 500 + 6000 * uniform(), v = 0;

	for (int k = 0; k < CHOICES; k++) {
		double step = 0.6 * uniform();

		c[k] = (Choice){ w, v, w, v };
		if (paced && k % 3 == 0) {
			c[k].hi_w = w + step;
			c[k].hi_value = v + full * step / 20 * (0.5 + 0.5 * uniform());
		}
		w += step;
		v = c[k].hi_value + full * step / 20 * 2 * uniform() / (1 + k / 16.0);
	}
}

static int bench_knapsack(size_t n, bool paced, FILE *json)
{
	_cleanup_free_ Choice *choices = calloc(n * CHOICES, sizeof(*choices));
	_cleanup_free_ size_t *first = calloc(n + 1, sizeof(*first));
	Problem p = { choices, first, n, 0 };
	Result r = { .what = paced ? "knapsack, paced" : "knapsack",
		     .n = n,
		     .choices = n * CHOICES };
	double least = 0, most = 0;

	if (!choices || !first)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		draw_class(choices + i * CHOICES, paced);
		first[i + 1] = (i + 1) * CHOICES;
		least += choices[i * CHOICES].lo_w;
		most += choices[first[i + 1] - 1].hi_w;
	}
	for (int b = 0; b < BUDGETS; b++) {
		_cleanup_(solution_done) Solution s = { 0 };
		double start = now_ms();
		int e;

		p.budget_w = least + (most - least) * (b + 1) / (BUDGETS + 1);
		e = knapsack_solve(&p, 0, &s);
		if (e < 0)
			return e;
		record(&r, b, now_ms() - start, s.total_value, s.bound_value, s.optimal);
	}
	print(&r, json);
	return 0;
}

static void make_device(const ProfileStore *store, size_t i, bool own_mix, PlanDevice *d)
{
	const Profile *p = profile_store_get(store, profile_names[i % ELEMENTSOF(profile_names)]);

	*d = (PlanDevice){
		.name = "disk",
		.model = "model",
		.profile = p,
		.mix = MIX_UNKNOWN,
		.demand_mb_s = i % 4 ? INFINITY : 100,
		.limit_w = INFINITY,
		.group = PLAN_NO_GROUP,
		.pool = PLAN_NO_POOL,
		.current = SETTING_AS_FOUND,
		.bias = 1,
		.offer = { .mechanisms = MECHANISM_DEPTH | MECHANISM_CHUNK | MECHANISM_PACING |
					 MECHANISM_POWER_STATE | MECHANISM_CONDITION,
			   .power_states = UINT32_MAX,
			   .conditions = 0x3f,
			   .depth_one = true,
			   .depth_min = 4,
			   .depth_max = 1024,
			   .chunk_min_kib = 4,
			   .chunk_max_kib = 1024,
			   .pace_min_w = 0.1 },
	};
	d->mix.write_kib = d->mix.read_kib = 16 << i % 3;
	if (own_mix)
		d->mix.read_share = uniform();
}

static size_t count_choices(const PlanDevice *devices, size_t n)
{
	Candidate candidates[FRONTIER_MAX];
	size_t total = 0, k;

	for (size_t i = 0; i < n; i++) {
		frontier_build(devices[i].profile, &devices[i].mix, &devices[i].offer, 0,
			       CONDITION_IDLE_B, candidates, &k);
		total += k;
	}
	return total;
}

typedef struct Planned {
	const char *what;
	bool own_mix;
	double fairness, floor, at_once; /* at_once: over the budget; 0: nothing is tolerated */
} Planned;

static const Planned by_throughput = { "plan", false, 0, 0, 0 };
static const Planned own_mixes = { "plan, own mixes", true, 0, 0, 0 };
static const Planned fair = { "plan, fair", false, 1, 0.25, 0 };
static const Planned tolerant = { "plan, tolerant", false, 1, 0.25, 1.1 };
static const Planned tolerant_own_mixes = { "plan, tolerant, own", true, 1, 0.25, 1.1 };
static const Planned fair_own_mixes = { "plan, fair, own", true, 1, 0.25, 0 };

static int bench_plan(const ProfileStore *store, size_t n, const Planned *by, FILE *json)
{
	_cleanup_free_ PlanDevice *devices = calloc(n, sizeof(*devices));
	Policy policy = { .deepest = CONDITION_STANDBY_Z,
			  .hysteresis = 0.03,
			  .fairness = by->fairness,
			  .floor = { .share = by->floor } };
	PlanInput in = { .devices = devices, .n_devices = n, .policy = &policy };
	Result r = { .what = by->what, .n = n };
	double rated = 0;

	if (!devices)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		make_device(store, i, by->own_mix, &devices[i]);
		rated += devices[i].profile->rated_w;
	}
	r.choices = count_choices(devices, n);
	for (int b = 0; b < BUDGETS; b++) {
		_cleanup_(plan_freep) Plan *p = NULL;
		double start = now_ms();
		int e;

		in.budget_w = rated * (0.5 + 0.05 * b);
		in.at_once_w = in.budget_w * by->at_once;
		e = plan_make(&in, &p);
		if (e < 0)
			return e;
		record(&r, b, now_ms() - start, p->value, p->bound_value, p->optimal);
	}
	print(&r, json);
	return 0;
}

int main(int argc, char *argv[])
{
	FILE *json = bench_json(&argc, argv);
	const char *directories[] = { argc > 1 ? argv[1] : "policies/profiles", NULL };
	_cleanup_(profile_store_freep) ProfileStore *store = NULL;
	int r;

	log_set_max_level(LOG_ERR);
	r = profile_store_read(directories, &store);
	for (size_t i = 0; r >= 0 && i < ELEMENTSOF(profile_names); i++)
		if (!profile_store_get(store, profile_names[i]))
			r = -ENOENT;
	if (r < 0) {
		fprintf(stderr, "%s: needs the shipped profiles: %s\n", directories[0],
			strerror(-r));
		return EXIT_FAILURE;
	}
	printf("%-20s %8s %9s %10s %10s %10s %8s\n", "", "devices", "choices", "median ms",
	       "worst ms", "gap", "optimal");
	for (size_t n = 10; r >= 0 && n <= 10000; n *= 10)
		r = bench_knapsack(n, false, json);
	for (size_t n = 10; r >= 0 && n <= 10000; n *= 10)
		r = bench_knapsack(n, true, json);
	for (size_t n = 10; r >= 0 && n <= 10000; n *= 10)
		r = bench_plan(store, n, &by_throughput, json);
	for (size_t n = 10; r >= 0 && n <= 1000; n *= 10)
		r = bench_plan(store, n, &own_mixes, json);
	for (size_t n = 10; r >= 0 && n <= 10000; n *= 10)
		r = bench_plan(store, n, &fair, json);
	for (size_t n = 10; r >= 0 && n <= 10000; n *= 10)
		r = bench_plan(store, n, &tolerant, json);
	for (size_t n = 10; r >= 0 && n <= 1000; n *= 10)
		r = bench_plan(store, n, &fair_own_mixes, json);
	for (size_t n = 10; r >= 0 && n <= 1000; n *= 10)
		r = bench_plan(store, n, &tolerant_own_mixes, json);
	if (r < 0)
		fprintf(stderr, "bench-planner: %s\n", strerror(-r));
	return fclose(json) == 0 && r >= 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
