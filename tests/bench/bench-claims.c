/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a claim costs beside many others: bench-claims [--json=FILE] ADDRESS. Fills the daemon on
 * ADDRESS's bus up with claims; at some counts of them it times SetBudget, Release and GetAll. Made
 * for bench-claims.sh, which starts the daemon. */

#include <errno.h>

#include "base/clock.h"
#include "base/text.h"
#include "bench-bus.h"
#include "bench.h"

#define ROUNDS 25

typedef struct Times {
	double set_us[ROUNDS], release_us[ROUNDS], ask_us[ROUNDS]; /* sorted when all are there */
} Times;

/* Standing claims of 100 %, which move no knob, with a lease as most have. */
static int set_budget(sd_bus *bus, uint64_t *ret_cookie)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	int r = sd_bus_call_method(bus, SERVICE, OBJECT, INTERFACE, "SetBudget", &error, &reply,
				   "dsa{sv}", 100.0, "%", 3, "standing", "b", 1, "for_seconds", "d",
				   86400.0, "reason", "s", "one of many");

	return r < 0 ? complain(r, "SetBudget", &error)
		     : sd_bus_message_read(reply, "t", ret_cookie);
}

static int ask(sd_bus *bus)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	int r = sd_bus_call_method(bus, SERVICE, OBJECT, "org.freedesktop.DBus.Properties",
				   "GetAll", &error, NULL, "s", INTERFACE);

	return r < 0 ? complain(r, "GetAll", &error) : 0;
}

static double lap_us(uint64_t *since_us)
{
	uint64_t now_us = clock_now_us(&clock_boottime);
	double us = (double)(now_us - *since_us);

	*since_us = now_us;
	return us;
}

static int measure(sd_bus *bus, Times *t)
{
	int r = 0;

	for (size_t i = 0; i < ROUNDS && r >= 0; i++) {
		uint64_t cookie, lap = clock_now_us(&clock_boottime);

		r = set_budget(bus, &cookie);
		t->set_us[i] = lap_us(&lap);
		if (r >= 0)
			r = release(bus, cookie);
		t->release_us[i] = lap_us(&lap);
		if (r >= 0)
			r = ask(bus);
		t->ask_us[i] = lap_us(&lap);
	}
	return r;
}

static double at_ms(double *us, double share)
{
	qsort(us, ROUNDS, sizeof(*us), compare_doubles);
	return us[(size_t)(share * (ROUNDS - 1) + 0.5)] / 1e3;
}

static void report(Times *t, size_t n, FILE *json)
{
	double set_ms = at_ms(t->set_us, 0.5), release_ms = at_ms(t->release_us, 0.5),
	       ask_ms = at_ms(t->ask_us, 0.5);

	printf("%6zu %8.2f %8.2f %8.2f %8.2f\n", n, set_ms, at_ms(t->set_us, 1), release_ms,
	       ask_ms);
	fprintf(json,
		"{\"bench\":\"claims\",\"claims\":%zu,\"set_ms\":%.2f,\"set_max_ms\":%.2f,"
		"\"release_ms\":%.2f,\"get_all_ms\":%.2f}\n",
		n, set_ms, at_ms(t->set_us, 1), release_ms, ask_ms);
}

static int run(sd_bus *bus, FILE *json)
{
	static const size_t counts[] = { 1, 100, 1000, 4095 };
	size_t n = 0;
	int r = 0;

	printf("%6s %8s %8s %8s %8s   ms\n", "claims", "set", "max", "release", "GetAll");
	for (size_t i = 0; i < ELEMENTSOF(counts) && r >= 0; i++) {
		Times t;
		uint64_t cookie;

		for (; n < counts[i] && r >= 0; n++)
			r = set_budget(bus, &cookie);
		if (r >= 0)
			r = measure(bus, &t);
		if (r >= 0)
			report(&t, n, json);
	}
	return r;
}

int main(int argc, char **argv)
{
	FILE *json = bench_json(&argc, argv);
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
	int r;

	if (argc != 2) {
		fprintf(stderr, "bench-claims [--json=FILE] ADDRESS\n");
		return 2;
	}
	r = bus_connect(argv[1], &bus);
	if (r < 0)
		log_error_errno(r, "%s cannot be reached", argv[1]);
	else
		r = run(bus, json);
	return fclose(json) == 0 && r >= 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
