/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* How soon the daemon answers questions: bench-questions [--json=FILE] ADDRESS NAME SECONDS RATE.
 * Sends RATE questions a second to the daemon on ADDRESS's bus, Get and GetAll in turns, without
 * waiting for the answers before. Made for bench-questions.sh, which starts the daemon. */

#include <errno.h>

#include "base/clock.h"
#include "base/text.h"
#include "bench-bus.h"
#include "bench.h"

#define UNANSWERED 100                /* fewer than dbus-daemon takes of one client */
#define ANSWER_US  (5 * USEC_PER_SEC) /* for the last ones */
#define SLOTS      2000               /* of the histogram */
#define SLOT_US    100

typedef struct Asking {
	sd_bus *bus;
	uint64_t sent, answered, failed, longest_us;
	uint64_t slots[SLOTS]; /* the last one takes all that are later */
} Asking;

typedef struct Question {
	Asking *asking;
	uint64_t due_us; /* when it was to be asked, so that a question that had to wait counts
			    whole */
} Question;

static int on_answer(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	(void)error;

	Question *q = userdata;
	Asking *a = q->asking;
	uint64_t us = clock_now_us(&clock_boottime) - q->due_us;

	(void)error;
	a->answered++;
	if (sd_bus_message_is_method_error(m, NULL) > 0 && a->failed++ == 0)
		log_error("answered with an error: %s", sd_bus_message_get_error(m)->message);
	a->longest_us = MAX(a->longest_us, us);
	a->slots[MIN(us / SLOT_US, (uint64_t)SLOTS - 1)]++;
	return 0;
}

static int new_question(sd_bus *bus, bool all, sd_bus_message **ret)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	int r = sd_bus_message_new_method_call(bus, &m, SERVICE, OBJECT,
					       "org.freedesktop.DBus.Properties",
					       all ? "GetAll" : "Get");

	if (r >= 0)
		r = sd_bus_message_append(m, "s", INTERFACE);
	if (r >= 0 && !all)
		r = sd_bus_message_append(m, "s", "MeasuredPower");
	if (r >= 0)
		*ret = TAKE_PTR(m);
	return r;
}

static int ask(Asking *a, uint64_t due_us)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	_cleanup_(sd_bus_slot_unrefp) sd_bus_slot *slot = NULL;
	Question *q = malloc(sizeof(*q));
	int r = q ? new_question(a->bus, a->sent % 2, &m) : -ENOMEM;

	if (r >= 0) {
		*q = (Question){ a, due_us };
		r = sd_bus_call_async(a->bus, &slot, m, on_answer, q, 0);
	}
	if (r < 0) {
		free(q);
		return r;
	}
	(void)sd_bus_slot_set_destroy_callback(slot, free);
	(void)sd_bus_slot_set_floating(slot, true);
	a->sent++;
	return 0;
}

static int process_until(sd_bus *bus, uint64_t until_us)
{
	uint64_t now_us;
	int r;

	do {
		r = sd_bus_process(bus, NULL);
		now_us = clock_now_us(&clock_boottime);
		if (r == 0 && now_us < until_us)
			r = sd_bus_wait(bus, until_us - now_us);
	} while (r >= 0 && clock_now_us(&clock_boottime) < until_us);
	return r;
}

static int run(Asking *a, double seconds, double rate)
{
	uint64_t start_us = clock_now_us(&clock_boottime), end_us;
	uint64_t n = (uint64_t)(seconds * rate);
	int r = 0;

	while (r >= 0 && a->sent < n) {
		uint64_t now_us = clock_now_us(&clock_boottime);
		uint64_t due = (uint64_t)((double)(now_us - start_us) / USEC_PER_SEC * rate) + 1;

		while (r >= 0 && a->sent < MIN(due, n) && a->sent - a->answered < UNANSWERED)
			r = ask(a, start_us + (uint64_t)((double)a->sent * USEC_PER_SEC / rate));
		if (r >= 0)
			r = process_until(a->bus, now_us + USEC_PER_MSEC);
	}
	end_us = clock_now_us(&clock_boottime) + ANSWER_US;
	while (r >= 0 && a->answered < a->sent && clock_now_us(&clock_boottime) < end_us)
		r = process_until(a->bus, clock_now_us(&clock_boottime) + USEC_PER_MSEC);
	return r;
}

static double at_ms(const Asking *a, double share)
{
	uint64_t rank = (uint64_t)(share * (double)a->answered), n = 0;

	for (size_t i = 0; i < SLOTS; i++) {
		n += a->slots[i];
		if (n > rank)
			return (double)(i + 1) * SLOT_US / 1e3;
	}
	return (double)a->longest_us / 1e3;
}

static void report(const Asking *a, const char *name, double seconds, FILE *json)
{
	printf("%-8s %9.0f %9llu %8llu %8.1f %8.1f %8.1f\n", name, (double)a->answered / seconds,
	       (unsigned long long)(a->sent - a->answered), (unsigned long long)a->failed,
	       at_ms(a, 0.5), at_ms(a, 0.99), (double)a->longest_us / 1e3);
	fprintf(json,
		"{\"bench\":\"questions\",\"node\":\"%s\",\"answered\":%llu,\"unanswered\":%llu,"
		"\"failed\":%llu,\"median_ms\":%.1f,\"p99_ms\":%.1f,\"longest_ms\":%.1f}\n",
		name, (unsigned long long)a->answered, (unsigned long long)(a->sent - a->answered),
		(unsigned long long)a->failed, at_ms(a, 0.5), at_ms(a, 0.99),
		(double)a->longest_us / 1e3);
}

int main(int argc, char **argv)
{
	FILE *json = bench_json(&argc, argv);
	_cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
	Asking a = {};
	double seconds, rate;
	int r;

	if (argc != 5 || parse_double(argv[3], &seconds) < 0 || parse_double(argv[4], &rate) < 0) {
		fprintf(stderr, "bench-questions [--json=FILE] ADDRESS NAME SECONDS RATE\n");
		return 2;
	}
	r = bus_connect(argv[1], &bus);
	if (r >= 0) {
		a.bus = bus;
		r = run(&a, seconds, rate);
	}
	if (r < 0)
		log_error_errno(r, "%s: the questions cannot be asked", argv[1]);
	else
		report(&a, argv[2], seconds, json);
	return fclose(json) == 0 && r >= 0 && a.answered == a.sent && !a.failed ? EXIT_SUCCESS
										: EXIT_FAILURE;
}
