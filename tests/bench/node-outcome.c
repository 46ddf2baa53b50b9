/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "node-outcome.h"

#include "base/log.h"

#define SETTLE_S 1200.0 /* longer than any policy waits before a disk may sleep */
#define HOUR_S   3600.0
#define LOOK_S   1.0
#define POOLS_S  10 /* between looks at the pools */

#define BUSY_MB_S 0.1  /* without a budget; who does less has no share to speak of */
#define ROUNDING  1e-4 /* of all that was asked for */

/* Adds what each device has done so far for who works on it, by way of a cache or not, times
 * `share`.
 */
static void add_served(Inventory *node, double share, Outcome *o)
{
	for (size_t i = 0; i < MIN(sim_node_size(node), (size_t)DEVICES_MAX); i++) {
		SimAccount a;

		if (sim_node_account(node, sim_node_device(node, i)->name, &a) >= 0)
			o->of[i] += share * a.served_bytes / 1e6;
	}
}

static double served_mb_s(Inventory *node, const char *device)
{
	SimDevice *d = sim_node_find(sim_node_of(node), device);
	double mb_s;

	sim_device_advance_locked(d);
	mb_s = d->record->truth.rates.mb_s;
	sim_record_unlock(d->record);
	return mb_s;
}

static double asked_mb_s(Inventory *node, const char *device)
{
	const SimDevice *d = sim_node_find(sim_node_of(node), device);
	uint64_t until_us;

	return sim_nature_demand(&d->nature, clock_now_us(d->clock), &until_us);
}

/* One pool, of which the device is the first member. */
static void look_at_pool(Fixture *f, const char *pool, size_t first, PoolUse *u)
{
	double planned = 0, slowest = INFINITY, asked = 0, n = 0;
	DeviceState d;

	for (size_t i = first; control_device(f->control, i, &d) >= 0; i++) {
		if (!d.device->pool || !streq(d.device->pool, pool))
			continue;
		planned += d.planned.mb_s;
		asked += asked_mb_s(f->node, d.device->name);
		slowest = fmin(slowest, served_mb_s(f->node, d.device->name));
		n++;
	}
	planned = fmin(planned, asked);
	u->planned += planned;
	u->usable += fmin(n * slowest, planned);
}

static bool met_before(Fixture *f, const char *pool, size_t index)
{
	for (size_t i = 0; i < index; i++) {
		const Device *d = control_device_at(f->control, i);

		if (d->pool && streq(d->pool, pool))
			return true;
	}
	return false;
}

static void look_at_pools(Fixture *f, PoolUse *u)
{
	const Device *d;

	for (size_t i = 0; f->control && (d = control_device_at(f->control, i)); i++)
		if (d->pool && *d->pool && !met_before(f, d->pool, i))
			look_at_pool(f, d->pool, i, u);
}

static void look(Fixture *f, Clairvoyant *c, double budget_w, Outcome *o)
{
	SimOverload before = o->over;
	Satisfaction *s = &o->satisfaction;
	double best = s->best, asked = s->asked;
	Drawn d = { .budget_w = budget_w, .above_w = INFINITY };

	if (sim_node_overload(f->node, budget_w, &o->over) < 0)
		o->over.above_s = NAN;
	else if (isfinite(budget_w))
		d.above_w = (o->over.overload_s - before.overload_s) * budget_w / LOOK_S;
	if (isfinite(budget_w))
		d.left_w = (o->over.unspent_j - before.unspent_j) / LOOK_S;
	clairvoyant_look(c, d, s);
	if (s->best - best < (s->asked - asked) * (1 - ROUNDING)) {
		o->binds_s += LOOK_S;
		o->unspent_w += o->over.unspent_j - before.unspent_j;
	}
}

Outcome measure(Fixture *f, double budget_w, double hours)
{
	_cleanup_(clairvoyant_freep) Clairvoyant *c = NULL;
	double start_j, run_s = hours * HOUR_S;
	Outcome o = {};

	fixture_run(f, SETTLE_S);
	c = clairvoyant_new(f->node);
	if (!c) {
		log_error("out of memory");
		exit(EXIT_FAILURE);
	}
	add_served(f->node, -1 / run_s, &o);
	start_j = sim_node_joules(f->node);
	sim_node_over_seconds(f->node, budget_w);
	for (unsigned t = 0; t < run_s / LOOK_S; t++) {
		fixture_run(f, LOOK_S);
		o.mb_s += sim_node_true_mb_s(f->node) * LOOK_S / run_s;
		look(f, c, budget_w, &o);
		if (t % POOLS_S == 0)
			look_at_pools(f, &o.pools);
	}
	o.unspent_w /= fmax(o.binds_s, LOOK_S);
	o.watts = (sim_node_joules(f->node) - start_j) / run_s;
	add_served(f->node, 1 / run_s, &o);
	return o;
}

bool within(const Outcome *o, double budget_w)
{
	return o->watts <= budget_w * 1.0001;
}

/* Jain's index: 1 where all shares are equal, 1/n where one has all (Jain, Chiu and Hawe, 1984). */
Evenness evenness(const Outcome *o, const Outcome *full)
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

double unspent(const Outcome *o, double budget_w)
{
	return o->over.unspent_j / (budget_w * o->over.seconds);
}

double of_clairvoyant(const Outcome *o)
{
	return o->satisfaction.served / o->satisfaction.best;
}

double of_fair(const Outcome *o)
{
	return o->satisfaction.served / o->satisfaction.fair;
}

double of_fair_drawn(const Outcome *o)
{
	return o->satisfaction.served / o->satisfaction.fair_drawn;
}

bool below_clairvoyant(const Outcome *o)
{
	const Satisfaction *s = &o->satisfaction;

	return s->served <= s->granted + s->asked * ROUNDING;
}

void print_heads(void)
{
	printf("  %-26s %7s %8s %9s %8s %7s %7s %7s %5s %7s %7s %7s\n", "", "kept", "drawn",
	       "above", "Z", "heat", "unspent", "least", "Jain", "of best", "of fair", "same W");
}

static void print_share(double share)
{
	if (isfinite(share))
		printf(" %5.1f %%", 100 * share);
	else
		printf(" %7s", "-");
}

void print_row(const char *way, const Outcome *o, const Outcome *full, const Limit *l)
{
	Evenness e = evenness(o, full);

	printf("  %-26s %5.1f %% %6.1f W %c%5.0f s %6.1f s %5.1f s %5.1f %% %5.1f %% %5.2f", way,
	       100 * o->mb_s / full->mb_s, o->watts, within(o, l->budget_w) ? ' ' : '!',
	       o->over.above_s, o->over.overload_s, o->over.most_heat_s,
	       100 * unspent(o, l->budget_w), 100 * e.least, e.jain);
	print_share(of_clairvoyant(o));
	print_share(of_fair(o));
	print_share(of_fair_drawn(o));
	putchar('\n');
	if (!below_clairvoyant(o))
		printf("  ^ more than the clairvoyant: he is no bound\n");
}

void print_fair_row(const Outcome *o)
{
	printf("  %-87s", "the clairvoyant, as fair as the policy `balanced`");
	print_share(o->satisfaction.fair / o->satisfaction.best);
	print_share(o->satisfaction.fair / o->satisfaction.fair);
	putchar('\n');
}

void write_number(FILE *json, const char *name, double v)
{
	if (isfinite(v))
		fprintf(json, ",\"%s\":%.6g", name, v);
	else
		fprintf(json, ",\"%s\":null", name);
}

void write_outcome(FILE *json, const char *name, const Outcome *o, const Outcome *full,
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
	write_number(json, "satisfied", o->satisfaction.served / o->satisfaction.asked);
	write_number(json, "of_clairvoyant", of_clairvoyant(o));
	write_number(json, "of_fair_clairvoyant", of_fair(o));
	write_number(json, "of_fair_clairvoyant_same_watts", of_fair_drawn(o));
	write_number(json, "unspent_where_it_binds", o->unspent_w / budget_w);
	write_number(json, "pools_usable", o->pools.usable / o->pools.planned);
	fprintf(json, "}");
}
