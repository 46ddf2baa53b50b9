/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the ledger costs: bench-ledger [--json=FILE]. A node of 100 devices and 500 cgroups that are
 * all busy is written for a year: by the hour, its last week by the minute, its last hour by the
 * second. Then the CPU time of that hour is told, the size of the file, and what questions take. */

#include <errno.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "base/cleanup.h"
#include "bench.h"
#include "ledger/ledger.h"

#define DEVICES 100
#define CGROUPS 500
#define THINGS  (DEVICES + CGROUPS + 1)

#define HOUR_S 3600
#define DAY_S  86400
#define YEAR_S (365LL * DAY_S)
#define NOW_S  1800000000LL

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double cpu_s(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static int make_things(LedgerThing *ret[THINGS])
{
	int r = 0;

	for (int i = 0; i < THINGS && r >= 0; i++) {
		char id[64], group[16];

		snprintf(id, sizeof(id),
			 i < DEVICES ? "wwid:eui.%016x" : "system.slice/service-%d.service", i);
		snprintf(group, sizeof(group), "shelf%d", i % 4);
		r = ledger_thing_new(&(LedgerThing){ .kind = i == 0         ? THING_NODE
							     : i <= DEVICES ? THING_DEVICE
									    : THING_CGROUP,
						     .id = id,
						     .name = id,
						     .group = group },
				     &ret[i]);
	}
	return r;
}

/* A busy thing: no figure is small. */
static Amounts amounts_of(int thing, int64_t span_s)
{
	Amounts a = {};

	for (Amount i = 0; i < AMOUNT_LIMITED_US; i++)
		a.of[i] = span_s * (7654321 + 1000 * thing + (int64_t)i);
	a.of[AMOUNT_HIGHEST_MW] = 12345 + thing;
	return a;
}

static int write_span(Ledger *l, LedgerThing *things[THINGS], int64_t time_s, int64_t span_s)
{
	LedgerEntries e = {};
	int r = 0;

	for (int i = 0; i < THINGS && r >= 0; i++) {
		const Amounts a = amounts_of(i, span_s);

		r = ledger_entries_add(&e, time_s, things[i], &a);
	}
	if (r >= 0)
		r = ledger_write(l, &e, time_s);
	ledger_entries_clear(&e);
	return r;
}

static int write_from(Ledger *l, LedgerThing *things[THINGS], int64_t ago_s, int64_t until_ago_s,
		      int64_t span_s)
{
	int r = 0;

	for (int64_t t = NOW_S - ago_s; t < NOW_S - until_ago_s && r >= 0; t += span_s)
		r = write_span(l, things, t, span_s);
	return r;
}

static int count(const LedgerThing *thing, int64_t time_s, const Amounts *sum, void *userdata)
{
	(void)thing;
	(void)time_s;
	(void)sum;
	++*(unsigned *)userdata;
	return 0;
}

static int bench_query(Ledger *l, const char *what, const LedgerQuery *q, FILE *json)
{
	double start = now_s(), took_s;
	unsigned n = 0;
	int r = ledger_read(l, q, count, &n);

	took_s = now_s() - start;
	printf("%-34s %6u sums %9.1f ms\n", what, n, took_s * 1e3);
	fprintf(json, "{\"bench\":\"ledger\",\"query\":\"%s\",\"sums\":%u,\"seconds\":%.4f}\n",
		what, n, took_s);
	return r;
}

static int bench_queries(Ledger *l, FILE *json)
{
	/* neither end is that of an hour */
	const int64_t since_s = NOW_S - YEAR_S + 1000, until_s = NOW_S - 500;
	const struct {
		const char *what;
		LedgerQuery query;
	} queries[] = {
		{ "a year, the node", { THING_NODE, since_s, until_s, false, 0, 0 } },
		{ "a year, each device", { THING_DEVICE, since_s, until_s, true, 0, 0 } },
		{ "a year, each cgroup", { THING_CGROUP, since_s, until_s, true, 0, 0 } },
		{ "a year, each day of UTC+1",
		  { THING_NODE, since_s, until_s, false, DAY_S, HOUR_S } },
		{ "a year, each hour", { THING_NODE, since_s, until_s, false, HOUR_S, 0 } },
		{ "an hour, each second", { THING_NODE, until_s - HOUR_S, until_s, false, 1, 0 } },
	};
	int r = 0;

	for (size_t i = 0; i < ELEMENTSOF(queries) && r >= 0; i++)
		r = bench_query(l, queries[i].what, &queries[i].query, json);
	return r;
}

static int bench(Ledger *l, LedgerThing *things[THINGS], const char *path, FILE *json)
{
	double start_s, hour_s;
	struct stat st;
	int r = make_things(things);

	if (r >= 0)
		r = write_from(l, things, YEAR_S, 7 * DAY_S, HOUR_S);
	if (r >= 0)
		r = write_from(l, things, 7 * DAY_S, HOUR_S, 60);
	start_s = cpu_s();
	if (r >= 0)
		r = write_from(l, things, HOUR_S, 0, 1);
	hour_s = cpu_s() - start_s;
	if (r < 0 || stat(path, &st) < 0)
		return r < 0 ? r : -errno;
	setlinebuf(stdout);
	printf("%-34s %24.3f ms of a CPU\n", "a second's entries", hour_s / HOUR_S * 1e3);
	printf("%-34s %24.0f MB\n", "the file after a year", (double)st.st_size / 1e6);
	fprintf(json, "{\"bench\":\"ledger\",\"write_cpu_s\":%.6f,\"file_bytes\":%lld}\n",
		hour_s / HOUR_S, (long long)st.st_size);
	return bench_queries(l, json);
}

int main(int argc, char *argv[])
{
	FILE *json = bench_json(&argc, argv);
	char folder[] = "/var/tmp/storpower-bench-XXXXXX", path[64], command[96];
	_cleanup_(ledger_closep) Ledger *l = NULL;
	LedgerThing *things[THINGS] = {};
	int r;

	if (!mkdtemp(folder))
		return EXIT_FAILURE;
	snprintf(path, sizeof(path), "%s/ledger", folder);
	r = ledger_open(path, &l);
	if (r >= 0)
		r = bench(l, things, path, json);
	if (r < 0)
		log_error_errno(r, "The ledger could not be written: %s", l ? ledger_error(l) : "");
	for (int i = 0; i < THINGS; i++)
		ledger_thing_unref(things[i]);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command) == 0 && r >= 0 && fclose(json) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
