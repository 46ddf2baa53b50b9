/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Limits in a storm: bench-storm [--json=FILE] ADDRESS PID SECONDS. Connects to ADDRESS's bus a
 * thousand times and makes claims until the daemon, process PID, holds 4 096; then it replaces one
 * of them every few milliseconds and makes an emergency every few seconds. Made for bench-storm.sh,
 * which starts the daemon. When all claims are made it stops itself (SIGSTOP) until the storm has
 * begun. */

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "bench-bus.h"
#include "bench.h"

#define CLIENTS          1000
#define CLAIMS           4095 /* an emergency needs one */
#define SETS_MOST        100000
#define PAUSE_US         (20 * USEC_PER_MSEC)
#define EMERGENCY_US     (5 * USEC_PER_SEC)
#define EMERGENCIES_MOST 1000
#define WARM_UP_US       (10 * USEC_PER_SEC)

typedef struct Times {
	double *ms; /* sorted in report() */
	size_t n, most;
} Times;

typedef struct Storm {
	const char *address;
	int pid;
	sd_bus *clients[CLIENTS];
	uint64_t cookies[CLAIMS];
	Times sets, emergencies, enforced;
	double warm_mib, end_mib; /* of the daemon's memory */
} Storm;

static void note(Times *t, double ms)
{
	if (t->n < t->most)
		t->ms[t->n++] = ms;
}

static int set_budget(sd_bus *bus, double percent, const char *class, uint64_t *ret_cookie)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	int r = sd_bus_call_method(bus, SERVICE, OBJECT, INTERFACE, "SetBudget", &error, &reply,
				   "dsa{sv}", percent, "%", 2, "class", "s", class, "standing", "b",
				   1);

	return r < 0 ? complain(r, "SetBudget", &error)
		     : sd_bus_message_read(reply, "t", ret_cookie);
}

static double memory_mib(int pid)
{
	_cleanup_free_ char *path = text_printf("/proc/%d/statm", pid);
	_cleanup_fclose_ FILE *f = path ? fopen(path, "re") : NULL;
	unsigned long pages;

	if (!f || fscanf(f, "%*u %lu", &pages) != 1)
		return 0;
	return (double)pages * (double)sysconf(_SC_PAGESIZE) / (1 << 20);
}

static double ms_since(uint64_t us)
{
	return (double)(clock_now_us(&clock_boottime) - us) / USEC_PER_MSEC;
}

static int connect_all(Storm *s)
{
	int r = 0;

	for (size_t i = 0; i < CLAIMS && r >= 0; i++) {
		if (i < CLIENTS)
			r = bus_connect(s->address, &s->clients[i]);
		if (r >= 0)
			r = set_budget(s->clients[i % CLIENTS], 100, "schedule", &s->cookies[i]);
	}
	return r;
}

static int replace(Storm *s, size_t i)
{
	sd_bus *bus = s->clients[i % CLIENTS];
	uint64_t began_us;
	int r = release(bus, s->cookies[i % CLAIMS]);

	if (r < 0)
		return r;
	began_us = clock_now_us(&clock_boottime);
	r = set_budget(bus, 100, "schedule", &s->cookies[i % CLAIMS]);
	note(&s->sets, ms_since(began_us));
	return r;
}

/* By a client that nobody has seen before. */
static int emergency(Storm *s)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
	uint64_t began_us = clock_now_us(&clock_boottime), cookie, us;
	int r = bus_connect(s->address, &bus);

	if (r >= 0)
		r = set_budget(bus, 50, "emergency", &cookie);
	if (r < 0)
		return r;
	note(&s->emergencies, ms_since(began_us));
	r = sd_bus_get_property_trivial(bus, SERVICE, OBJECT, INTERFACE, "LastEnforceUSec", &error,
					't', &us);
	if (r < 0)
		return complain(r, "LastEnforceUSec", &error);
	note(&s->enforced, (double)us / USEC_PER_MSEC);
	return release(bus, cookie);
}

static int run(Storm *s, double seconds)
{
	uint64_t start_us = clock_now_us(&clock_boottime), now_us = start_us;
	uint64_t end_us = start_us + (uint64_t)(seconds * USEC_PER_SEC);
	uint64_t emergency_us = start_us + EMERGENCY_US;
	int r = 0;

	for (size_t i = 0; now_us < end_us && r >= 0; i++) {
		r = replace(s, i);
		if (r >= 0 && now_us >= emergency_us) {
			r = emergency(s);
			emergency_us += EMERGENCY_US;
		}
		if (!s->warm_mib && now_us >= start_us + WARM_UP_US)
			s->warm_mib = memory_mib(s->pid);
		usleep(PAUSE_US);
		now_us = clock_now_us(&clock_boottime);
	}
	s->end_mib = memory_mib(s->pid);
	return r;
}

static void report_times(Times *t, const char *name, FILE *json)
{
	if (!t->n)
		return;
	qsort(t->ms, t->n, sizeof(*t->ms), compare_doubles);
	printf("%-28s %7zu %8.1f %8.1f %8.1f\n", name, t->n, t->ms[t->n / 2],
	       t->ms[(size_t)((double)(t->n - 1) * 0.99)], t->ms[t->n - 1]);
	fprintf(json,
		"{\"bench\":\"storm\",\"what\":\"%s\",\"n\":%zu,\"median_ms\":%.1f,\"p99_ms\":%.1f,"
		"\"longest_ms\":%.1f}\n",
		name, t->n, t->ms[t->n / 2], t->ms[(size_t)((double)(t->n - 1) * 0.99)],
		t->ms[t->n - 1]);
}

static void report(Storm *s, FILE *json)
{
	printf("%-28s %7s %8s %8s %8s\n", "", "times", "median", "p99", "longest ms");
	report_times(&s->sets, "a limit is set", json);
	report_times(&s->emergencies, "an emergency is answered", json);
	report_times(&s->enforced, "claim to last fast knob", json);
	printf("memory: %.1f MiB after ten seconds, %.1f MiB at the end\n", s->warm_mib,
	       s->end_mib);
	fprintf(json,
		"{\"bench\":\"storm\",\"what\":\"memory\",\"warm_mib\":%.1f,\"end_mib\":%.1f}\n",
		s->warm_mib, s->end_mib);
}

static int times_init(Times *t, size_t most)
{
	t->ms = calloc(most, sizeof(*t->ms));
	t->most = most;
	return t->ms ? 0 : -ENOMEM;
}

static void storm_done(Storm *s)
{
	for (size_t i = 0; i < CLIENTS; i++)
		sd_bus_close_unref(s->clients[i]);
	free(s->sets.ms);
	free(s->emergencies.ms);
	free(s->enforced.ms);
}

int main(int argc, char **argv)
{
	FILE *json = bench_json(&argc, argv);
	_cleanup_(storm_done) Storm s = {};
	unsigned long pid;
	double seconds;
	int r;

	if (argc != 4 || parse_unsigned(argv[2], 1 << 30, &pid) < 0 ||
	    parse_double(argv[3], &seconds) < 0) {
		fprintf(stderr, "bench-storm [--json=FILE] ADDRESS PID SECONDS\n");
		return 2;
	}
	s.address = argv[1];
	s.pid = (int)pid;
	r = times_init(&s.sets, SETS_MOST);
	if (r >= 0)
		r = times_init(&s.emergencies, EMERGENCIES_MOST);
	if (r >= 0)
		r = times_init(&s.enforced, EMERGENCIES_MOST);
	if (r >= 0)
		r = connect_all(&s);
	raise(SIGSTOP);
	if (r >= 0)
		r = run(&s, seconds);
	if (r < 0)
		log_error_errno(r, "The storm has ended early");
	report(&s, json);
	return fclose(json) == 0 && r >= 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
