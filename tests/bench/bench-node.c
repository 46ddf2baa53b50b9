/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Throughput kept under a budget over the same simulated hour of the same loads, and how evenly:
 * storpower with the node's policy and with `throughput`, beside every device capped to the same
 * share of its own rated power, each at its own best setting for that, and every device's bandwidth
 * throttled to the same share of its full one, the largest whose mean draw comes within the budget.
 * Shares are of what each device does without a budget. All watts are the hidden truth's, a mean
 * over the hour. Beside all of them stands what a clairvoyant would do
 * (tests/testbed/clairvoyant.h); that nobody does better than he could with the watts that were
 * drawn is asserted. */

#include <math.h>

#include "base/file.h"
#include "bench.h"
#include "node-outcome.h"
#include "node-promises.h"

#define FREE_S 30.0 /* before the limit */

#define TOLERATED_S 3
#define TOLERANT    ((Way){ .tolerance_s = TOLERATED_S })
#define BLIND       ((Way){ .tolerance_s = TOLERATED_S, .blind = true })
#define POOLED      ((Way){ .tolerance_s = TOLERATED_S, .pooled = true })

#define MORE_WATTS 1.05 /* than are drawn */

#define LEAST_SHARE 0.002 /* of the bandwidth */
#define BISECTIONS  8

/* How storpower is set: by the node's policy where that is NULL. */
typedef struct Way {
	const char *policy;
	double tolerance_s;
	bool blind;   /* without a power sensor */
	bool pooled;  /* the disks of [devices bulk] are one pool */
	double hours; /* 0: one */
} Way;

/* Everything is compared on one node. */
typedef struct Bench {
	const char *name, *path;
	double rated_w;
	Outcome full; /* without a budget */
	FILE *json;
	Promises promises;
	bool beaten; /* the clairvoyant was */
} Bench;

static bool starts_with(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

static void write_variant(FILE *to, char *text, Way way)
{
	bool sensor = false;

	for (char *line; (line = strsep(&text, "\n"));) {
		if (*line == '[')
			sensor = starts_with(line, "[sensor ");
		if (way.blind && (sensor || starts_with(line, "sensors =")))
			continue;
		fprintf(to, "%s\n", line);
		if (way.pooled && streq(line, "workload = bulk"))
			fputs("pool = bulk\n", to);
	}
}

/* The node with the sensors and the pool that the way wants. */
static void open_node(Fixture *f, const char *node, Way way)
{
	_cleanup_free_ char *text = NULL, *variant = NULL;
	size_t size;
	FILE *to;

	if (!way.blind && !way.pooled) {
		fixture_open(f, node);
		return;
	}
	to = open_memstream(&variant, &size);
	if (!to || read_file(node, &text) < 0) {
		log_error("%s cannot be read: name a node that exists", node);
		exit(EXIT_FAILURE);
	}
	write_variant(to, text, way);
	fclose(to);
	fixture_open_text(f, variant);
}

static void begin(Fixture *f, const char *node, Way way)
{
	open_node(f, node, way);
	fixture_start(f);
	fixture_run(f, FREE_S);
}

static Outcome run_free(const char *node, double *ret_rated_w)
{
	Outcome o;
	Fixture f;

	begin(&f, node, (Way){});
	*ret_rated_w = fixture_rated_w(&f);
	o = measure(&f, INFINITY, 1);
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

static Outcome run_storpower(const char *node, Way way, const Limit *l, double *ret_gap,
			     double *ret_shortfall_w)
{
	_cleanup_free_ char *error = NULL;
	Outcome o;
	Fixture f;

	begin(&f, node, way);
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
	o = measure(&f, l->budget_w, way.hours > 0 ? way.hours : 1);
	ask_plan(&f, l->budget_w, ret_gap, ret_shortfall_w);
	fixture_close(&f);
	return o;
}

static Outcome run_alike(const char *node, const Limit *l)
{
	DeviceState d;
	Outcome o;
	Fixture f;

	begin(&f, node, (Way){});
	for (size_t i = 0; control_device(f.control, i, &d) >= 0; i++)
		fixture_claim(&f, &(Claim){ .class = CLASS_OPERATOR,
					    .scope = SCOPE_DEVICE,
					    .target = d.device->name,
					    .limit = l->percent,
					    .unit = LIMIT_PERCENT,
					    .source = "bench",
					    .reason = "",
					    .expiry_us = USEC_NEVER });
	o = measure(&f, l->budget_w, 1);
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
	o = measure(&f, budget_w, 1);
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

static void show(Bench *b, const char *way, const Outcome *o, const Limit *l)
{
	print_row(way, o, &b->full, l);
	fflush(stdout);
	b->beaten |= !below_clairvoyant(o);
}

/* What is planned; a budget that no setting holds binds nobody to anything. */
static void judge(Bench *b, const Outcome *hard, const Outcome *sensed, const Outcome *blind,
		  const Limit *l)
{
	const Outcome *both[] = { sensed, blind };
	Promises *p = &b->promises;

	promise_judge(p, HARD, hard->over.above_s, b->name, l->percent);
	for (size_t i = 0; i < ELEMENTSOF(both); i++) {
		const Outcome *o = both[i];

		promise_judge(p, i ? BEST_BLIND : BEST_SENSED, of_clairvoyant(o), b->name,
			      l->percent);
		promise_judge(p, i ? FAIR_BLIND : FAIR_SENSED, of_fair(o), b->name, l->percent);
		promise_judge(p, i ? SPENT_BLIND : SPENT_SENSED,
			      o->binds_s > 0 ? o->unspent_w / l->budget_w : NAN, b->name,
			      l->percent);
		promise_judge(p, HEAT, o->over.most_heat_s, b->name, l->percent);
		promise_judge(p, FLOOR_KEPT,
			      o->satisfaction.unfair_s > 0 ? NAN : evenness(o, &b->full).least,
			      b->name, l->percent);
	}
	promise_judge(p, POOL_USABLE, sensed->pools.usable / sensed->pools.planned, b->name,
		      l->percent);
	if (streq(b->name, "mixed"))
		promise_judge(p, EVEN, evenness(sensed, &b->full).jain, b->name, l->percent);
}

static void bench_limit(Bench *b, const Limit *l)
{
	double gap, shortfall_w, share, ignored;
	Outcome s, z, n, t, a, m;

	printf("%s, %.0f %% = %.1f W\n", b->name, l->percent, l->budget_w);
	s = run_storpower(b->path, (Way){}, l, &gap, &shortfall_w);
	show(b, "storpower", &s, l);
	z = run_storpower(b->path, TOLERANT, l, &ignored, &ignored);
	show(b, "tolerating 3 s", &z, l);
	n = run_storpower(b->path, BLIND, l, &ignored, &ignored);
	show(b, "tolerating 3 s, no sensor", &n, l);
	t = run_storpower(b->path, (Way){ .policy = "throughput" }, l, &ignored, &ignored);
	show(b, "its policy throughput", &t, l);
	a = run_alike(b->path, l);
	show(b, "every drive capped alike", &a, l);
	m = throttle_to(b->path, l->budget_w, &share);
	show(b, "bandwidth throttled alike", &m, l);
	print_fair_row(&s);
	if (shortfall_w <= 0)
		judge(b, &s, &z, &n, l);

	fprintf(b->json, "{\"bench\":\"throughput\",\"node\":\"%s\"", b->name);
	write_number(b->json, "percent", l->percent);
	write_number(b->json, "budget_w", l->budget_w);
	write_number(b->json, "free_mb_s", b->full.mb_s);
	write_number(b->json, "free_w", b->full.watts);
	write_number(b->json, "shortfall_w", shortfall_w);
	write_number(b->json, "gap", gap);
	write_number(b->json, "throttle_share", share);
	write_outcome(b->json, "storpower", &s, &b->full, l->budget_w);
	write_outcome(b->json, "tolerant", &z, &b->full, l->budget_w);
	write_outcome(b->json, "tolerant_blind", &n, &b->full, l->budget_w);
	write_outcome(b->json, "by_throughput", &t, &b->full, l->budget_w);
	write_outcome(b->json, "capped_alike", &a, &b->full, l->budget_w);
	write_outcome(b->json, "throttled_alike", &m, &b->full, l->budget_w);
	fprintf(b->json, "}\n");
}

/* Storpower alone: what its margins cost and hold. */
static void bench_margins(Bench *b, const Limit *l)
{
	double shortfall_w, ignored;
	Outcome s, z, n;

	printf("%s, %.0f %% = %.1f W\n", b->name, l->percent, l->budget_w);
	s = run_storpower(b->path, (Way){}, l, &ignored, &shortfall_w);
	show(b, "storpower", &s, l);
	z = run_storpower(b->path, TOLERANT, l, &ignored, &ignored);
	show(b, "tolerating 3 s", &z, l);
	n = run_storpower(b->path, BLIND, l, &ignored, &ignored);
	show(b, "tolerating 3 s, no sensor", &n, l);
	print_fair_row(&s);
	if (shortfall_w <= 0)
		judge(b, &s, &z, &n, l);
}

/* Who draws less than the budget all the time is not held back. */
static void bench_no_harm(Bench *b)
{
	double budget_w = b->full.over.most_w * MORE_WATTS, ignored;
	Limit l = { 100 * budget_w / b->rated_w, budget_w };
	Outcome z = run_storpower(b->path, TOLERANT, &l, &ignored, &ignored);

	printf("%s, 5 %% above the highest draw of the hour = %.1f W\n", b->name, l.budget_w);
	show(b, "tolerating 3 s", &z, &l);
	promise_judge(&b->promises, NO_HARM, z.mb_s / b->full.mb_s, b->name, NAN);
}

static void bench_pool(Bench *b, const Limit *l)
{
	double ignored;
	Outcome z = run_storpower(b->path, POOLED, l, &ignored, &ignored);

	show(b, "tolerating 3 s, bulk a pool", &z, l);
	promise_judge(&b->promises, POOL_USABLE, z.pools.usable / z.pools.planned, b->name,
		      l->percent);
}

static void bench_hours(Bench *b, double hours)
{
	Limit l = { 80, 0.8 * b->rated_w };
	Way hard = { .hours = hours }, tolerant = TOLERANT;
	double ignored;
	Outcome o;

	tolerant.hours = hours;
	printf("%s, 80 %% = %.1f W, %.0f hours\n", b->name, l.budget_w, hours);
	o = run_storpower(b->path, tolerant, &l, &ignored, &ignored);
	show(b, "tolerating 3 s", &o, &l);
	promise_judge(&b->promises, HEAT, o.over.most_heat_s, b->name, l.percent);
	o = run_storpower(b->path, hard, &l, &ignored, &ignored);
	show(b, "storpower", &o, &l);
	promise_judge(&b->promises, HARD, o.over.above_s, b->name, l.percent);
}

/* What is to be done beside the table. */
typedef struct Wanted {
	bool margins; /* storpower alone */
	double hours; /* of `untrue`; 0: none */
} Wanted;

static void bench(Bench *b, const char *name, Wanted wanted)
{
	static const double percents[] = { 80, 60, 40 };
	_cleanup_free_ char *path =
		strchr(name, '/') ? strdup(name) : text_printf("policies/nodes/%s.node", name);

	b->name = name;
	b->path = path;
	b->full = run_free(path, &b->rated_w);
	printf("%s without a budget: %.0f MB/s, %.1f W\n", name, b->full.mb_s, b->full.watts);
	for (size_t i = 0; i < ELEMENTSOF(percents); i++) {
		Limit l = { percents[i], b->rated_w * percents[i] / 100 };

		if (wanted.margins)
			bench_margins(b, &l);
		else
			bench_limit(b, &l);
		if (streq(name, "mixed") && percents[i] > 40)
			bench_pool(b, &l);
	}
	bench_no_harm(b);
	if (wanted.hours > 0 && streq(name, "untrue"))
		bench_hours(b, wanted.hours);
}

static Wanted take_options(int *argc, char **argv)
{
	static const char hours[] = "--hours=";
	Wanted w = {};
	int n = 1;

	for (int i = 1; i < *argc; i++)
		if (streq(argv[i], "--margins"))
			w.margins = true;
		else if (starts_with(argv[i], hours))
			w.hours = strtod(argv[i] + strlen(hours), NULL);
		else
			argv[n++] = argv[i];
	*argc = n;
	return w;
}

static void explain(void)
{
	puts("Throughput kept, mean true draw, and seconds of the hour above the budget. !: the mean is\n"
	     "above it, and this way has nothing less. Z: the overload over all of them, the sum of\n"
	     "max(0, draw/budget - 1); heat: the highest that an account stood which (draw/budget)^2 - 1\n"
	     "fills and empties; unspent: the share of the budget that was left, a mean. The least\n"
	     "share that a busy device keeps, and Jain's index of all of them. Of best: satisfaction as\n"
	     "a share of the clairvoyant's, who knows the truth and the next second and takes whatever\n"
	     "satisfies most a watt. Of fair: of that of the clairvoyant who shares as `balanced` does.");
}

/* bench-node [--margins] [--hours=N] [NODE|PATH...] */
int main(int argc, char **argv)
{
	static const char *const shipped[] = { "mixed", "flash", "archive", "untrue" };
	_cleanup_free_ Bench *b = calloc(1, sizeof(*b));
	FILE *json = bench_json(&argc, argv);
	Wanted wanted = take_options(&argc, argv);
	size_t n = (size_t)(argc - 1);

	if (!b)
		return EXIT_FAILURE;
	b->json = json;
	print_heads();
	for (size_t i = 0; i < (n ? n : ELEMENTSOF(shipped)); i++)
		bench(b, n ? argv[i + 1] : shipped[i], wanted);
	explain();
	promises_print(&b->promises);
	promises_write(&b->promises, json);
	if (b->beaten)
		log_error("the clairvoyant was beaten with the same watts: he is no bound");
	return fclose(json) == 0 && !b->beaten ? EXIT_SUCCESS : EXIT_FAILURE;
}
