/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A day of the simulated archive, three times over the same loads: as it is found; under hd-idle's
 * policy (adelolmo/hd-idle with its defaults: each disk to standby after ten minutes without IO, no
 * budget, no pools, no redirection); and under storpower's archive.policy at half of the rated
 * power. All figures are the hidden truth's. --hours=N: a shorter day. */

#include <math.h>

#include "base/text.h"
#include "bench.h"
#include "sim-fixture.h"

#define NODE        "policies/nodes/archive.node"
#define FREE_S      30.0 /* before the limit */
#define LOOK_S      1.0
#define SETTLE_S    60.0 /* not looked at for the highest draw */
#define DEVICES_MAX 128

/* hd-idle's defaults: idle time, and a look every tenth of it. */
#define IDLE_S 600.0
#define POLL_S 60.0

typedef struct HdIdle {
	struct HdIdleDisk {
		Device *device;
		uint64_t ios;
		double busy_s; /* last seen at work */
		bool spun_down;
	} disks[DEVICES_MAX];
	size_t n;
	double polled_s;
} HdIdle;

typedef struct Day {
	double joules, hours;
	double highest_w, over_s; /* NAN: it changed too often to tell */
	SimAccount disks;         /* of all */
	SimAccount all;           /* flash, too */
	double spin_ups, unloads; /* of the disk with most of them */
} Day;

static double now_s(Fixture *f)
{
	return (double)clock_now_us(&f->loop->clock) / USEC_PER_SEC;
}

static void take_disk(Device *d, DeviceEvent event, void *userdata)
{
	HdIdle *h = userdata;

	if (event == DEVICE_ADDED && d->kind == KIND_HDD && h->n < DEVICES_MAX)
		h->disks[h->n++] = (struct HdIdleDisk){ .device = d, .busy_s = h->polled_s };
}

static void watch_disk(struct HdIdleDisk *d, double t_s)
{
	DeviceCounters c;

	if (d->device->ops->counters(d->device, &c) < 0)
		return;
	if (c.ios[READ_IO] + c.ios[WRITE_IO] != d->ios) {
		d->ios = c.ios[READ_IO] + c.ios[WRITE_IO];
		d->busy_s = t_s;
		d->spun_down = false;
	} else if (!d->spun_down && t_s - d->busy_s >= IDLE_S) {
		d->spun_down = true;
		d->device->ops->condition_set(d->device, CONDITION_STANDBY_Z);
	}
}

static void hd_idle(HdIdle *h, double t_s)
{
	if (t_s - h->polled_s < POLL_S)
		return;
	h->polled_s = t_s;
	for (size_t i = 0; i < h->n; i++)
		watch_disk(&h->disks[i], t_s);
}

static void take_accounts(Fixture *f, Day *ret)
{
	for (size_t i = 0; i < sim_node_size(f->node); i++) {
		const Device *d = sim_node_device(f->node, i);
		SimAccount a;

		if (sim_node_account(f->node, d->name, &a) < 0)
			continue;
		sim_account_add(&ret->all, &a);
		if (d->kind != KIND_HDD)
			continue;
		sim_account_add(&ret->disks, &a);
		ret->spin_ups = fmax(ret->spin_ups, (double)a.spin_ups);
		ret->unloads = fmax(ret->unloads, (double)a.unloads);
	}
}

/* h NULL: nobody interferes, or the manager does. */
static Day pass(Fixture *f, HdIdle *h, double hours, double budget_w)
{
	double start_j = sim_node_joules(f->node), start_s = now_s(f);
	double end_s = start_s + hours * 3600;
	Day day = { .hours = hours };

	sim_node_over_seconds(f->node, budget_w);
	for (double t = start_s; t < end_s; t = now_s(f)) {
		if (h)
			hd_idle(h, t);
		fixture_run(f, LOOK_S);
		day.over_s += sim_node_over_seconds(f->node, budget_w);
		if (t - start_s >= SETTLE_S)
			day.highest_w = fmax(day.highest_w, sim_node_true_watts(f->node));
	}
	day.joules = sim_node_joules(f->node) - start_j;
	take_accounts(f, &day);
	return day;
}

static Day found_day(double hours, double budget_w)
{
	Fixture f;
	Day day;

	fixture_open(&f, NODE);
	fixture_run(&f, FREE_S);
	day = pass(&f, NULL, hours, budget_w);
	fixture_close(&f);
	return day;
}

static Day hd_idle_day(double hours, double budget_w)
{
	HdIdle h = {};
	Fixture f;
	Day day;

	fixture_open(&f, NODE);
	h.polled_s = now_s(&f);
	if (inventory_start(f.node, take_disk, &h) < 0 || h.n == 0) {
		log_error("%s has no disks", NODE);
		exit(EXIT_FAILURE);
	}
	fixture_run(&f, FREE_S);
	day = pass(&f, &h, hours, budget_w);
	fixture_close(&f);
	return day;
}

static Day storpower_day(double hours, double *ret_budget_w)
{
	char limit[32];
	Fixture f;
	Day day;

	fixture_open(&f, NODE);
	fixture_start(&f);
	fixture_run(&f, FREE_S);
	*ret_budget_w = fixture_rated_w(&f) / 2;
	snprintf(limit, sizeof(limit), "%.1fW", *ret_budget_w);
	fixture_set(&f, limit);
	day = pass(&f, NULL, hours, *ret_budget_w);
	fixture_close(&f);
	return day;
}

static char *wait_text(char *buf, size_t size, double us)
{
	snprintf(buf, size, us < 1e6 ? "%.1f ms" : "%.1f s", us < 1e6 ? us / 1e3 : us / 1e6);
	return buf;
}

static void print_day(const char *way, const Day *d)
{
	char p99[16], p9999[16];

	printf("%-9s %6.2f %6.1f %6.1f %6.0f %6llu %8.1f %8.1f %8.0f %9s %9s %7.2f %7.0f %7.0f %7.0f\n",
	       way, d->joules / 3.6e6, d->joules / (d->hours * 3600), d->highest_w, d->over_s,
	       (unsigned long long)d->disks.io_wakes, (double)d->disks.spin_ups / d->hours * 24,
	       d->spin_ups / d->hours * 24, d->unloads / d->hours * 24,
	       wait_text(p99, sizeof(p99), sim_account_read_us(&d->disks, 0.99)),
	       wait_text(p9999, sizeof(p9999), sim_account_read_us(&d->disks, 0.9999)),
	       100 * d->all.served_bytes / d->all.asked_bytes, d->disks.late_reads,
	       d->all.failed[READ_IO] + d->all.failed[WRITE_IO], d->disks.dirty_bytes / 1e9);
	fflush(stdout);
}

static void write_day(FILE *json, const char *way, const Day *d, double budget_w)
{
	const struct {
		const char *name;
		double v;
	} figures[] = {
		{ "hours", d->hours },
		{ "budget_w", budget_w },
		{ "joules", d->joules },
		{ "mean_w", d->joules / (d->hours * 3600) },
		{ "highest_w", d->highest_w },
		{ "over_s", d->over_s },
		{ "io_wakes", (double)d->disks.io_wakes },
		{ "spin_ups", (double)d->disks.spin_ups },
		{ "most_spin_ups_a_disk", d->spin_ups },
		{ "most_unloads_a_disk", d->unloads },
		{ "read_p99_us", sim_account_read_us(&d->disks, 0.99) },
		{ "read_p9999_us", sim_account_read_us(&d->disks, 0.9999) },
		{ "read_worst_us", sim_account_read_us(&d->disks, 1) },
		{ "late_reads", d->disks.late_reads },
		{ "cached_reads", d->disks.cached_reads },
		{ "served", d->all.served_bytes / d->all.asked_bytes },
		{ "failed_reads", d->all.failed[READ_IO] },
		{ "failed_writes", d->all.failed[WRITE_IO] },
		{ "held_bytes", d->disks.held_bytes },
		{ "dirty_bytes", d->disks.dirty_bytes },
	};

	fprintf(json, "{\"bench\":\"sleep\",\"node\":\"archive\",\"way\":\"%s\"", way);
	for (size_t i = 0; i < ELEMENTSOF(figures); i++)
		if (isfinite(figures[i].v))
			fprintf(json, ",\"%s\":%.6g", figures[i].name, figures[i].v);
		else
			fprintf(json, ",\"%s\":null", figures[i].name);
	fprintf(json, "}\n");
}

static void report(FILE *json, const char *way, const Day *d, double budget_w)
{
	print_day(way, d);
	write_day(json, way, d, budget_w);
}

static double hours_of(int argc, char **argv)
{
	double hours = 24;

	if (argc > 1 && (strncmp(argv[1], "--hours=", 8) != 0 ||
			 parse_double(argv[1] + 8, &hours) < 0 || hours <= 0 || hours > 1000)) {
		log_error("usage: bench-sleep [--json=FILE] [--hours=N]");
		exit(EXIT_FAILURE);
	}
	return hours;
}

int main(int argc, char **argv)
{
	FILE *json = bench_json(&argc, argv);
	double hours = hours_of(argc, argv), budget_w;
	Day day;

	printf("          energy   mean    top   over    IO  spin-ups  of one unloads      reads    reads  served    late  failed   dirty\n"
	       "             kWh      W      W      s wakes     a day  a day  of one       p99   p99.99       %%   reads     IOs      GB\n");
	day = storpower_day(hours, &budget_w);
	report(json, "storpower", &day, budget_w);
	day = hd_idle_day(hours, budget_w);
	report(json, "hd-idle", &day, budget_w);
	day = found_day(hours, budget_w);
	report(json, "as found", &day, budget_w);
	printf("%g hours of archive.node; storpower at 50 %% (%.0f W), to which \"over\" refers. Of one: of the disk with most of them. "
	       "Reads: of what is asked of the disks, served by disk or cache; late: met a disk that had to come back. "
	       "Served: of the bytes asked for; failed: IOs with an error; dirty: held by the cache at the end, still to be written.\n",
	       hours, budget_w);
	return fclose(json) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
