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

#include "bench.h"
#include "node-promises.h"
#include "node-ways.h"

#define TOLERATED_S 3
#define TOLERANT    ((Way){ .tolerance_s = TOLERATED_S })
#define BLIND       ((Way){ .tolerance_s = TOLERATED_S, .blind = true })
#define POOLED      ((Way){ .tolerance_s = TOLERATED_S, .pooled = true })

#define MORE_WATTS 1.05 /* than are drawn */

/* Everything is compared on one node. */
typedef struct Bench {
	const char *name, *path;
	double rated_w;
	Outcome full; /* without a budget */
	FILE *json;
	Promises promises;
	bool beaten; /* the clairvoyant was */
} Bench;

typedef enum Row {
	ROW_HARD, /* nothing above the budget is tolerated */
	ROW_SENSED,
	ROW_BLIND,
	ROW_THROUGHPUT,
	ROW_CAPPED,
	ROW_THROTTLED,
	_ROW_MAX,
} Row;

static void show(Bench *b, const char *way, const Outcome *o, const Limit *l)
{
	print_row(way, o, &b->full, l);
	fflush(stdout);
	b->beaten |= !below_clairvoyant(o);
}

static void judge_tolerant(Bench *b, const Outcome *o, bool sensed, const Limit *l)
{
	const struct {
		Promise promise;
		double value;
	} figures[] = {
		{ sensed ? BEST_SENSED : BEST_BLIND, of_clairvoyant(o) },
		{ sensed ? FAIR_SENSED : FAIR_BLIND, of_fair(o) },
		{ FAIR_DRAWN, of_fair_drawn(o) },
		{ sensed ? SPENT_SENSED : SPENT_BLIND,
		  o->binds_s > 0 ? o->unspent_w / l->budget_w : NAN },
		{ HEAT, o->over.most_heat_s },
		{ FLOOR_KEPT, o->satisfaction.unfair_s > 0 ? NAN : evenness(o, &b->full).least },
		{ POOL_USABLE, o->pools.usable / o->pools.planned },
		{ EVEN, streq(b->name, "mixed") ? evenness(o, &b->full).jain : NAN },
	};

	for (size_t i = 0; i < ELEMENTSOF(figures); i++)
		promise_judge(&b->promises, figures[i].promise, figures[i].value, b->name,
			      l->percent);
}

/* A budget that no setting holds binds nobody to anything. */
static void judge(Bench *b, const Outcome rows[_ROW_MAX], const Limit *l)
{
	promise_judge(&b->promises, HARD, rows[ROW_HARD].over.above_s, b->name, l->percent);
	judge_tolerant(b, &rows[ROW_SENSED], true, l);
	judge_tolerant(b, &rows[ROW_BLIND], false, l);
}

/* What a limit came to besides its rows. */
typedef struct Found {
	double gap, shortfall_w, throttle_share;
} Found;

static void write_limit(Bench *b, const Limit *l, const Found *f, const Outcome rows[_ROW_MAX])
{
	static const char *const names[_ROW_MAX] = { "storpower",      "tolerant",
						     "tolerant_blind", "by_throughput",
						     "capped_alike",   "throttled_alike" };

	fprintf(b->json, "{\"bench\":\"throughput\",\"node\":\"%s\"", b->name);
	write_number(b->json, "percent", l->percent);
	write_number(b->json, "budget_w", l->budget_w);
	write_number(b->json, "free_mb_s", b->full.mb_s);
	write_number(b->json, "free_w", b->full.watts);
	write_number(b->json, "shortfall_w", f->shortfall_w);
	write_number(b->json, "gap", f->gap);
	write_number(b->json, "throttle_share", f->throttle_share);
	for (Row i = 0; i < _ROW_MAX; i++)
		write_outcome(b->json, names[i], &rows[i], &b->full, l->budget_w);
	fprintf(b->json, "}\n");
}

/* Storpower alone: what its margins cost and hold. */
static void bench_margins(Bench *b, const Limit *l, Outcome rows[_ROW_MAX], Found *f)
{
	double ignored;

	printf("%s, %.0f %% = %.1f W\n", b->name, l->percent, l->budget_w);
	rows[ROW_HARD] = run_storpower(b->path, (Way){}, l, &f->gap, &f->shortfall_w);
	show(b, "storpower", &rows[ROW_HARD], l);
	rows[ROW_SENSED] = run_storpower(b->path, TOLERANT, l, &ignored, &ignored);
	show(b, "tolerating 3 s", &rows[ROW_SENSED], l);
	rows[ROW_BLIND] = run_storpower(b->path, BLIND, l, &ignored, &ignored);
	show(b, "tolerating 3 s, no sensor", &rows[ROW_BLIND], l);
	if (f->shortfall_w <= 0)
		judge(b, rows, l);
}

static void bench_others(Bench *b, const Limit *l, Outcome rows[_ROW_MAX], Found *f)
{
	double ignored;

	rows[ROW_THROUGHPUT] =
		run_storpower(b->path, (Way){ .policy = "throughput" }, l, &ignored, &ignored);
	show(b, "its policy throughput", &rows[ROW_THROUGHPUT], l);
	rows[ROW_CAPPED] = run_alike(b->path, l);
	show(b, "every drive capped alike", &rows[ROW_CAPPED], l);
	rows[ROW_THROTTLED] = throttle_to(b->path, l->budget_w, &f->throttle_share);
	show(b, "bandwidth throttled alike", &rows[ROW_THROTTLED], l);
	write_limit(b, l, f, rows);
}

static void bench_limit(Bench *b, const Limit *l, bool margins)
{
	Outcome rows[_ROW_MAX];
	Found f = {};

	bench_margins(b, l, rows, &f);
	if (!margins)
		bench_others(b, l, rows, &f);
	print_fair_row(&rows[ROW_HARD]);
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
	bool margins;   /* storpower alone */
	double hours;   /* of `untrue`; 0: none */
	double percent; /* this limit alone; 0: all */
} Wanted;

static void bench(Bench *b, const char *name, Wanted wanted)
{
	static const double percents[] = { 80, 60, 40 };
	_cleanup_free_ char *path =
		strchr(name, '/') ? strdup(name) : text_printf("policies/nodes/%s.node", name);

	b->name = strchr(name, '/') ? strrchr(name, '/') + 1 : name;
	b->path = path;
	b->full = run_free(path, &b->rated_w);
	printf("%s without a budget: %.0f MB/s, %.1f W\n", name, b->full.mb_s, b->full.watts);
	for (size_t i = 0; i < ELEMENTSOF(percents); i++) {
		Limit l = { percents[i], b->rated_w * percents[i] / 100 };

		if (wanted.percent > 0 && wanted.percent != percents[i])
			continue;
		bench_limit(b, &l, wanted.margins);
		if (streq(name, "mixed") && percents[i] > 40)
			bench_pool(b, &l);
	}
	if (!(wanted.percent > 0))
		bench_no_harm(b);
	if (wanted.hours > 0 && streq(name, "untrue"))
		bench_hours(b, wanted.hours);
}

static Wanted take_options(int *argc, char **argv)
{
	static const char hours[] = "--hours=", percent[] = "--percent=";
	Wanted w = {};
	int n = 1;

	for (int i = 1; i < *argc; i++)
		if (streq(argv[i], "--margins"))
			w.margins = true;
		else if (strncmp(argv[i], hours, strlen(hours)) == 0)
			w.hours = strtod(argv[i] + strlen(hours), NULL);
		else if (strncmp(argv[i], percent, strlen(percent)) == 0)
			w.percent = strtod(argv[i] + strlen(percent), NULL);
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
	     "satisfies most a watt. Of fair: of that of the clairvoyant who shares as `balanced` does.\n"
	     "Same W: of his with no more watts than were drawn, and with the same disks asleep, which\n"
	     "fall asleep at once where he may choose. What a margin and the error of a meter\n"
	     "leave unspent is missing from what is drawn above idle alone: 1 % of a budget of which the\n"
	     "devices need four fifths without any IO is 5 % of what can be satisfied with it.");
}

/* bench-node [--margins] [--hours=N] [--percent=80|60|40] [NODE|PATH...] */
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
