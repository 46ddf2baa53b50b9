/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* From a claim to the last fast knob, as a client of the real daemon sees it: bench-latency
 * [--json=FILE] ADDRESS NAME. Rounds of SetBudget and Release for each class; ADDRESS is the
 * daemon's bus. An emergency's call returns after the last fast knob. Made for
 * bench-latency.sh, which starts the daemon on a simulated node, and tests/vm/test-reaction.sh. */

#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench-bus.h"
#include "bench.h"

#define ROUNDS    60 /* at most: what a 99th percentile needs */
#define PERCENT   60.0
#define SETTLE_US (500 * USEC_PER_MSEC) /* several times what a round takes: checked */
/* Raises that stop a queue come a second apart: until then there is less to lower. */
#define RISE_US (2500 * USEC_PER_MSEC)

typedef struct Rounds {
	const char *class;
	size_t n;
	double call_us[ROUNDS], enforce_us[ROUNDS], knobs[ROUNDS]; /* sorted when all are there */
} Rounds;

static int set_budget(sd_bus *bus, const char *class, uint64_t *ret_cookie)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	int r = sd_bus_call_method(bus, SERVICE, OBJECT, INTERFACE, "SetBudget", &error, &reply,
				   "dsa{sv}", PERCENT, "%", 1, "class", "s", class);

	if (r < 0)
		return complain(r, "SetBudget", &error);
	return sd_bus_message_read(reply, "t", ret_cookie);
}

static int last_enforce_us(sd_bus *bus, uint64_t *ret)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	int r = sd_bus_get_property_trivial(bus, SERVICE, OBJECT, INTERFACE, "LastEnforceUSec",
					    &error, 't', ret);

	return r < 0 ? complain(r, "LastEnforceUSec", &error) : 0;
}

/* Knobs turned since: the daemon's decisions about devices. */
static int count_knobs(sd_bus *bus, uint64_t since_us, double *ret)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	const char *device, *what, *why;
	uint64_t when_us;
	int r = sd_bus_call_method(bus, SERVICE, OBJECT, INTERFACE, "Explain", &error, &reply, "s",
				   "");

	if (r < 0)
		return complain(r, "Explain", &error);
	r = sd_bus_message_skip(reply, "a(sss)");
	if (r >= 0)
		r = sd_bus_message_enter_container(reply, 'a', "(tsss)");
	*ret = 0;
	while (r >= 0 &&
	       (r = sd_bus_message_read(reply, "(tsss)", &when_us, &device, &what, &why)) > 0)
		*ret += when_us >= since_us && *device;
	return r;
}

static int run_round(sd_bus *bus, Rounds *rounds, size_t i)
{
	uint64_t cookie, began_us = realtime_us(), before_us, after_us, enforce_us;
	int r;

	before_us = clock_now_us(&clock_boottime);
	r = set_budget(bus, rounds->class, &cookie);
	if (r < 0)
		return r;
	after_us = clock_now_us(&clock_boottime);
	usleep(SETTLE_US);
	r = last_enforce_us(bus, &enforce_us);
	if (r >= 0)
		r = count_knobs(bus, began_us, &rounds->knobs[i]);
	if (r >= 0)
		r = release(bus, cookie);
	if (r < 0)
		return r;
	usleep(RISE_US);
	if (rounds->knobs[i] < 1 || enforce_us >= SETTLE_US) {
		log_error("%s: %.0f knobs moved in %llu us: not what is to be measured here",
			  rounds->class, rounds->knobs[i], (unsigned long long)enforce_us);
		return -ENODATA;
	}
	rounds->call_us[i] = (double)(after_us - before_us);
	rounds->enforce_us[i] = (double)enforce_us;
	return 0;
}

static double at(const Rounds *rounds, const double *sorted, double share)
{
	return sorted[(size_t)(share * (double)(rounds->n - 1) + 0.5)];
}

static void write_times(FILE *json, const char *name, const Rounds *rounds, const double *us)
{
	fprintf(json, ",\"%s\":{\"median\":%.0f,\"p99\":%.0f,\"max\":%.0f}", name,
		at(rounds, us, 0.5), at(rounds, us, 0.99), at(rounds, us, 1));
}

static void print_times(const Rounds *rounds, const double *us)
{
	printf(" | %7.2f %7.2f %7.2f", at(rounds, us, 0.5) / 1e3, at(rounds, us, 0.99) / 1e3,
	       at(rounds, us, 1) / 1e3);
}

static void report(Rounds *rounds, const char *name, FILE *json)
{
	qsort(rounds->call_us, rounds->n, sizeof(double), compare_doubles);
	qsort(rounds->enforce_us, rounds->n, sizeof(double), compare_doubles);
	qsort(rounds->knobs, rounds->n, sizeof(double), compare_doubles);

	printf("%-16s %-10s %6zu %5.0f", name, rounds->class, rounds->n,
	       at(rounds, rounds->knobs, 0.5));
	print_times(rounds, rounds->enforce_us);
	print_times(rounds, rounds->call_us);
	printf("\n");
	fflush(stdout);

	fprintf(json,
		"{\"bench\":\"latency\",\"node\":\"%s\",\"class\":\"%s\",\"rounds\":%zu,"
		"\"knobs\":%.0f",
		name, rounds->class, rounds->n, at(rounds, rounds->knobs, 0.5));
	write_times(json, "enforce_us", rounds, rounds->enforce_us);
	write_times(json, "call_us", rounds, rounds->call_us);
	fprintf(json, "}\n");
}

int main(int argc, char **argv)
{
	/* of an emergency's reaction the rare cases count, too */
	static const Rounds classes[] = { { .class = "operator", .n = 10 },
					  { .class = "emergency", .n = ROUNDS } };
	FILE *json = bench_json(&argc, argv);
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
	int r;

	if (argc != 3) {
		fprintf(stderr, "bench-latency [--json=FILE] ADDRESS NAME\n");
		return 2;
	}
	r = bus_connect(argv[1], &bus);
	if (r < 0)
		log_error_errno(r, "%s: no bus there", argv[1]);
	for (size_t c = 0; r >= 0 && c < ELEMENTSOF(classes); c++) {
		Rounds rounds = classes[c];

		for (size_t i = 0; r >= 0 && i < rounds.n; i++)
			r = run_round(bus, &rounds, i);
		if (r >= 0)
			report(&rounds, argv[2], json);
	}
	return fclose(json) == 0 && r >= 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
