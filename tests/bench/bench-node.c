/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Throughput kept under a budget over the same simulated hour of the same loads, and how evenly:
 * storpower with the node's policy and with `throughput`, beside every device capped to the same
 * share of its own rated power, each at its own best setting for that, and every device's bandwidth
 * throttled to the same share of its full one, the largest whose mean draw comes within the budget.
 * Shares are of what each device does without a budget. All watts are the hidden truth's, a mean
 * over the hour. */

#include <math.h>

#include "bench.h"
#include "sim-fixture.h"

#define FREE_S   30.0   /* before the limit */
#define SETTLE_S 1200.0 /* longer than any policy waits before a disk may sleep */
#define RUN_S    3600.0
#define LOOK_S   1.0

#define TOLERANT ((Way){ .tolerance_s = 3 })

#define DEVICES_MAX 256
#define BUSY_MB_S   0.1 /* without a budget; who does less has no share to speak of */

#define LEAST_SHARE 0.002 /* of the bandwidth */
#define BISECTIONS  8

typedef struct Outcome {
	double mb_s, watts;     /* means */
	SimOverload over;       /* above_s NAN: the draw changed too often to tell */
	double of[DEVICES_MAX]; /* MB/s of each device */
} Outcome;

typedef struct Limit {
	double percent, budget_w;
} Limit;

/* Adds what each device has done so far, times `sign`. */
static void add_bytes(Inventory *node, double sign, Outcome *o)
{
	DeviceCounters c;

	for (size_t i = 0; i < MIN(sim_node_size(node), (size_t)DEVICES_MAX); i++) {
		Device *d = (Device *)sim_node_device(node, i);

		if (d->ops->counters(d, &c) >= 0)
			o->of[i] +=
				sign * (double)(c.bytes[READ_IO] + c.bytes[WRITE_IO]) / 1e6 / RUN_S;
	}
}

static Outcome measure(Fixture *f, double budget_w)
{
	double start_j;
	Outcome o = {};

	fixture_run(f, SETTLE_S);
	add_bytes(f->node, -1, &o);
	start_j = sim_node_joules(f->node);
	sim_node_over_seconds(f->node, budget_w);
	for (double t = 0; t < RUN_S; t += LOOK_S) {
		fixture_run(f, LOOK_S);
		o.mb_s += sim_node_true_mb_s(f->node) * LOOK_S / RUN_S;
		if (sim_node_overload(f->node, budget_w, &o.over) < 0)
			o.over.above_s = NAN;
	}
	o.watts = (sim_node_joules(f->node) - start_j) / RUN_S;
	add_bytes(f->node, 1, &o);
	return o;
}

static void begin(Fixture *f, const char *node)
{
	fixture_open(f, node);
	fixture_start(f);
	fixture_run(f, FREE_S);
}

static Outcome run_free(const char *node, double *ret_rated_w)
{
	Outcome o;
	Fixture f;

	begin(&f, node);
	*ret_rated_w = fixture_rated_w(&f);
	o = measure(&f, INFINITY);
	fixture_close(&f);
	return o;
}

/* How far the last plan may be from the optimum; the watts that it misses the budget by. */
static void ask_plan(Fixture *f, double budget_w, double *ret_gap, double *ret_shortfall_w)
{
	_cleanup_(plan_freep) Plan *plan = NULL;
	_cleanup_free_ char *why = NULL;

	*ret_gap = *ret_shortfall_w = NAN;
	if (control_plan(f->control, &(PlanQuery){ .budget_w = budget_w }, &plan, &why) < 0)
		return;
	*ret_gap = plan->value > 0 ? plan->bound_value / plan->value - 1 : 0;
	*ret_shortfall_w = plan->shortfall_w;
}

/* How storpower is set: by the node's policy where that is NULL. */
typedef struct Way {
	const char *policy;
	double tolerance_s;
} Way;

static Outcome run_storpower(const char *node, Way way, const Limit *l, double *ret_gap,
			     double *ret_shortfall_w)
{
	_cleanup_free_ char *error = NULL;
	Outcome o;
	Fixture f;

	begin(&f, node);
	if (way.policy && control_set_policy(f.control, way.policy, &error) < 0) {
		log_error("%s", error);
		exit(EXIT_FAILURE);
	}
	fixture_claim(&f, &(Claim){ .class = CLASS_OPERATOR,
				    .limit = l->budget_w,
				    .unit = LIMIT_WATTS,
				    .tolerance_s = way.tolerance_s,
				    .source = "bench",
				    .reason = "",
				    .expiry_us = USEC_NEVER });
	o = measure(&f, l->budget_w);
	ask_plan(&f, l->budget_w, ret_gap, ret_shortfall_w);
	fixture_close(&f);
	return o;
}

static Outcome run_alike(const char *node, const Limit *l)
{
	DeviceState d;
	Outcome o;
	Fixture f;

	begin(&f, node);
	for (size_t i = 0; control_device(f.control, i, &d) >= 0; i++)
		fixture_claim(&f, &(Claim){ .class = CLASS_OPERATOR,
					    .scope = SCOPE_DEVICE,
					    .target = d.device->name,
					    .limit = l->percent / 100 * d.watts.rated_w,
					    .unit = LIMIT_WATTS,
					    .source = "bench",
					    .reason = "",
					    .expiry_us = USEC_NEVER });
	o = measure(&f, l->budget_w);
	fixture_close(&f);
	return o;
}

static double full_mb_s(const Device *d, double read_share)
{
	Mix mix = { .read_share = read_share, .read_kib = 256, .write_kib = 256, .depth = 64 };
	Prediction p;

	predict(d->profile, &mix, &SETTING_AS_FOUND, &p);
	return p.mb_s;
}

/* io.cost with bandwidth coefficients alone lets through what io.max would. */
static void throttle_device(Device *d, DeviceEvent event, void *userdata)
{
	static const char qos[] = "enable=1 ctrl=user rpct=0 rlat=1000 wpct=0 wlat=1000 "
				  "min=100.00 max=100.00";
	double share = *(const double *)userdata;
	char model[256];

	if (event != DEVICE_ADDED)
		return;
	snprintf(model, sizeof(model),
		 "ctrl=user model=linear rbps=%.0f rseqiops=10000000 rrandiops=10000000 wbps=%.0f "
		 "wseqiops=10000000 wrandiops=10000000",
		 full_mb_s(d, 1) * 1e6 * share, full_mb_s(d, 0) * 1e6 * share);
	if (d->ops->cgroup_write(d, "io.cost.model", model) < 0 ||
	    d->ops->cgroup_write(d, "io.cost.qos", qos) < 0) {
		log_error("%s takes no throttle", d->name);
		exit(EXIT_FAILURE);
	}
}

static Outcome run_throttled(const char *node, double share, double budget_w)
{
	Outcome o;
	Fixture f;

	fixture_open(&f, node);
	fixture_run(&f, FREE_S);
	if (inventory_start(f.node, throttle_device, &share) < 0) {
		log_error("%s: no devices", node);
		exit(EXIT_FAILURE);
	}
	o = measure(&f, budget_w);
	fixture_close(&f);
	return o;
}

/* Its mean is held against the budget, though it goes above at times: what storpower may not do. */
static Outcome throttle_to(const char *node, double budget_w, double *ret_share)
{
	double lo = LEAST_SHARE, hi = 1;
	Outcome best = run_throttled(node, lo, budget_w);

	for (int i = 0; i < BISECTIONS && best.watts <= budget_w; i++) {
		double share = sqrt(lo * hi);
		Outcome o = run_throttled(node, share, budget_w);

		if (o.watts <= budget_w) {
			lo = share;
			best = o;
		} else {
			hi = share;
		}
	}
	*ret_share = lo;
	return best;
}

static bool within(const Outcome *o, double budget_w)
{
	return o->watts <= budget_w * 1.0001;
}

typedef struct Evenness {
	double least, jain;
} Evenness;

/* Jain's index: 1 where all shares are equal, 1/n where one has all (Jain, Chiu and Hawe, 1984). */
static Evenness evenness(const Outcome *o, const Outcome *full)
{
	double sum = 0, squares = 0, n = 0;
	Evenness e = { .least = INFINITY };

	for (size_t i = 0; i < DEVICES_MAX; i++) {
		double x = MIN(o->of[i] / full->of[i], 1.0);

		if (!(full->of[i] > BUSY_MB_S))
			continue;
		e.least = MIN(e.least, x);
		sum += x;
		squares += x * x;
		n++;
	}
	e.jain = squares > 0 ? sum * sum / (n * squares) : NAN;
	return e;
}

/* Share of the budget, a mean over the hour. */
static double unspent(const Outcome *o, double budget_w)
{
	return o->over.unspent_j / (budget_w * o->over.seconds);
}

static void print_row(const char *way, const Outcome *o, const Outcome *full, const Limit *l)
{
	Evenness e = evenness(o, full);

	printf("  %-26s %5.1f %% %6.1f W %c%5.0f s %6.1f s %5.1f s %5.1f %% %5.1f %% %5.2f\n", way,
	       100 * o->mb_s / full->mb_s, o->watts, within(o, l->budget_w) ? ' ' : '!',
	       o->over.above_s, o->over.overload_s, o->over.most_heat_s,
	       100 * unspent(o, l->budget_w), 100 * e.least, e.jain);
}

static void write_number(FILE *json, const char *name, double v)
{
	if (isfinite(v))
		fprintf(json, ",\"%s\":%.6g", name, v);
	else
		fprintf(json, ",\"%s\":null", name);
}

static void write_outcome(FILE *json, const char *name, const Outcome *o, const Outcome *full,
			  double budget_w)
{
	fprintf(json, ",\"%s\":{\"within\":%s", name, within(o, budget_w) ? "true" : "false");
	write_number(json, "kept", o->mb_s / full->mb_s);
	write_number(json, "watts", o->watts);
	write_number(json, "over_s", o->over.above_s);
	write_number(json, "overload_s", o->over.overload_s);
	write_number(json, "most_heat_s", o->over.most_heat_s);
	write_number(json, "unspent", unspent(o, budget_w));
	write_number(json, "least_share", evenness(o, full).least);
	write_number(json, "jain", evenness(o, full).jain);
	fprintf(json, "}");
}

static void bench_limit(const char *name, const char *node, const Limit *l, const Outcome *full,
			FILE *json)
{
	double gap, shortfall_w, share, ignored;
	Outcome s = run_storpower(node, (Way){}, l, &gap, &shortfall_w);
	Outcome z = run_storpower(node, TOLERANT, l, &ignored, &ignored);
	Outcome t = run_storpower(node, (Way){ .policy = "throughput" }, l, &ignored, &ignored);
	Outcome a = run_alike(node, l);
	Outcome b = throttle_to(node, l->budget_w, &share);

	printf("%s, %.0f %% = %.1f W\n", name, l->percent, l->budget_w);
	print_row("storpower", &s, full, l);
	print_row("storpower, tolerating 3 s", &z, full, l);
	print_row("its policy throughput", &t, full, l);
	print_row("every drive capped alike", &a, full, l);
	print_row("bandwidth throttled alike", &b, full, l);
	fflush(stdout);

	fprintf(json, "{\"bench\":\"throughput\",\"node\":\"%s\"", name);
	write_number(json, "percent", l->percent);
	write_number(json, "budget_w", l->budget_w);
	write_number(json, "free_mb_s", full->mb_s);
	write_number(json, "free_w", full->watts);
	write_number(json, "shortfall_w", shortfall_w);
	write_number(json, "gap", gap);
	write_number(json, "throttle_share", share);
	write_outcome(json, "storpower", &s, full, l->budget_w);
	write_outcome(json, "tolerant", &z, full, l->budget_w);
	write_outcome(json, "by_throughput", &t, full, l->budget_w);
	write_outcome(json, "capped_alike", &a, full, l->budget_w);
	write_outcome(json, "throttled_alike", &b, full, l->budget_w);
	fprintf(json, "}\n");
}

/* Storpower alone: what its margins cost and hold. */
static void bench_margins(const char *name, const char *node, const Limit *l, const Outcome *full)
{
	double ignored;
	Outcome s = run_storpower(node, (Way){}, l, &ignored, &ignored);
	Outcome z = run_storpower(node, TOLERANT, l, &ignored, &ignored);

	printf("%s, %.0f %% = %.1f W\n", name, l->percent, l->budget_w);
	print_row("storpower", &s, full, l);
	print_row("storpower, tolerating 3 s", &z, full, l);
	fflush(stdout);
}

static void bench(const char *name, bool margins, FILE *json)
{
	static const double percents[] = { 80, 60, 40 };
	_cleanup_free_ char *node =
		strchr(name, '/') ? strdup(name) : text_printf("policies/nodes/%s.node", name);
	double rated_w;
	Outcome full = run_free(node, &rated_w);

	printf("%s without a budget: %.0f MB/s, %.1f W\n", name, full.mb_s, full.watts);
	for (size_t i = 0; i < ELEMENTSOF(percents); i++) {
		Limit l = { percents[i], rated_w * percents[i] / 100 };

		if (margins)
			bench_margins(name, node, &l, &full);
		else
			bench_limit(name, node, &l, &full, json);
	}
}

/* bench-node [--margins] [NODE|PATH...] */
int main(int argc, char **argv)
{
	static const char *const shipped[] = { "mixed", "flash", "archive", "untrue" };
	FILE *json = bench_json(&argc, argv);
	bool margins = argc > 1 && streq(argv[1], "--margins");
	char **names = argv + 1 + margins;
	size_t n = (size_t)(argc - 1 - margins);

	printf("  %-26s %7s %8s %9s %8s %7s %7s %7s %5s\n", "", "kept", "drawn", "above", "Z",
	       "heat", "unspent", "least", "Jain");
	for (size_t i = 0; i < (n ? n : ELEMENTSOF(shipped)); i++)
		bench(n ? names[i] : shipped[i], margins, json);
	printf("Throughput kept, mean true draw, and seconds of the %.0f above the budget. !: the mean "
	       "is\nabove it, and this way has nothing less. Z: the overload over all of them, the sum of\n"
	       "max(0, draw/budget - 1); heat: the highest that an account stood which (draw/budget)^2 - 1\n"
	       "fills and empties; unspent: the share of the budget that was left, a mean. The least\n"
	       "share that a busy device keeps, and Jain's index of all of them.\n",
	       RUN_S);
	return fclose(json) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
