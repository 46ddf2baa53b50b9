/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <systemd/sd-event.h>
#include <time.h>

#include "base/clock.h"
#include "ctl/ctl.h"

/* Prints signals as they come, and looks at the watts once a second and prints them when they
 * moved. */

#define WATTS_MOVED 0.01 /* of the rated power */

typedef struct Monitor {
	Ctl *ctl;
	double told_w;
} Monitor;

static void print_event(const Monitor *mon, const char *event, json_object *arguments,
			const char *text)
{
	time_t now = time(NULL);
	struct tm tm;
	char clock[16];

	if (mon->ctl->json) {
		_cleanup_json_ json_object *o = json_object_new_object();
		Ctl one_line = *mon->ctl;

		one_line.json_pretty = false; /* one event a line, for who reads along */
		json_object_object_add(o, "RealtimeUSec", json_object_new_uint64(realtime_us()));
		json_object_object_add(o, "Event", json_object_new_string(event));
		json_object_object_add(o, "Arguments", json_object_get(arguments));
		json_print(&one_line, o);
	} else {
		localtime_r(&now, &tm);
		strftime(clock, sizeof(clock), "%T", &tm);
		printf("%s  %s\n", clock, text);
	}
	fflush(stdout);
}

static void claim_text(json_object *a, const char *verb, char *buf, size_t size)
{
	json_object *claim = json_object_array_get_idx(a, 1);
	char watts[32];

	snprintf(buf, size, "claim %s%s: %s %s limited to %s by %s%s%s", json_text(claim, "Cookie"),
		 verb, json_text(claim, "Scope"), json_text(claim, "Target"),
		 format_watts(watts, sizeof(watts), json_number(claim, "LimitPower")),
		 json_text(claim, "Source"), *json_text(claim, "Reason") ? ": " : "",
		 json_text(claim, "Reason"));
}

static void plan_text(json_object *a, char *buf, size_t size)
{
	json_object *plan = json_object_array_get_idx(a, 1);
	char cap[32], budget[32];

	snprintf(buf, size, "plan: at most %s of %s, %.0f of %.0f MB/s (%s)",
		 format_watts(cap, sizeof(cap), json_number(plan, "CapPower")),
		 isnan(json_number(plan, "Budget"))
			 ? "no limit"
			 : format_watts(budget, sizeof(budget), json_number(plan, "Budget")),
		 json_number(plan, "Throughput"), json_number(plan, "FullThroughput"),
		 json_object_get_string(json_object_array_get_idx(a, 0)));
}

/* "1, 2, 3 and 12 more" */
static void cookies_text(json_object *cookies, char *buf, size_t size)
{
	size_t n = json_object_array_length(cookies), shown = n > 4 ? 3 : n;
	int at = 0;

	*buf = '\0';
	for (size_t i = 0; i < shown; i++)
		at += snprintf(buf + at, size - (size_t)at, "%s%" PRIu64, i ? ", " : "",
			       json_object_get_uint64(json_object_array_get_idx(cookies, i)));
	if (shown < n)
		snprintf(buf + at, size - (size_t)at, " and %zu more", n - shown);
}

static void settled_text(json_object *a, char *buf, size_t size)
{
	bool several = json_object_array_length(json_object_array_get_idx(a, 0)) > 1;
	json_object *limit = json_object_array_get_idx(a, 1); /* NULL: there is none */
	double seconds = json_object_get_double(json_object_array_get_idx(a, 2));
	double drawn_w = json_object_get_double(json_object_array_get_idx(a, 3));
	bool held = json_object_get_boolean(json_object_array_get_idx(a, 4));
	char cookies[128], drawn[32], watts[32];

	cookies_text(json_object_array_get_idx(a, 0), cookies, sizeof(cookies));
	format_watts(drawn, sizeof(drawn), drawn_w);
	format_watts(watts, sizeof(watts), json_object_get_double(limit));
	snprintf(buf, size, "%s %s settled after %.1f s: %s drawn, %s%s",
		 several ? "claims" : "claim", cookies, seconds, drawn, limit ? watts : "no limit",
		 !limit ? ""
		 : held ? " allowed"
			: " allowed, not held");
}

static void signal_text(const char *signal, json_object *a, char *buf, size_t size)
{
	const char *first = json_object_get_string(json_object_array_get_idx(a, 0));
	const char *second = json_object_get_string(json_object_array_get_idx(a, 1));

	if (streq(signal, "ClaimAdded"))
		claim_text(a, "", buf, size);
	else if (streq(signal, "ClaimChanged"))
		claim_text(a, " changed", buf, size);
	else if (streq(signal, "ClaimReplaced"))
		snprintf(buf, size, "claim %s is replaced by claim %s", first, second);
	else if (streq(signal, "Settled"))
		settled_text(a, buf, size);
	else if (streq(signal, "ClaimEnded"))
		snprintf(buf, size, "claim %s ended: %s", first, second);
	else if (streq(signal, "PlanApplied"))
		plan_text(a, buf, size);
	else if (streq(signal, "Overrun"))
		snprintf(buf, size, "overrun: %s W drawn, %s W allowed", first, second);
	else if (streq(signal, "OverrunEnded"))
		snprintf(buf, size, "overrun is over: %s J above the budget in %s s", second,
			 first);
	else if (streq(signal, "DeviceAdded"))
		snprintf(buf, size, "device %s has come", first);
	else if (streq(signal, "DeviceRemoved"))
		snprintf(buf, size, "device %s has gone", first);
	else
		snprintf(buf, size, "%s %s", signal, json_object_get_string(a));
}

static json_object *arguments_of(sd_bus_message *m)
{
	json_object *a = json_object_new_array();

	while (sd_bus_message_at_end(m, true) == 0)
		json_object_array_add(a, json_from_message(m));
	return a;
}

static int on_manager_signal(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	Monitor *mon = userdata;
	_cleanup_json_ json_object *a = arguments_of(m);
	const char *signal = sd_bus_message_get_member(m);
	char text[512];

	(void)error;
	signal_text(signal, a, text, sizeof(text));
	print_event(mon, signal, a, text);
	return 0;
}

static int on_properties(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	Monitor *mon = userdata;
	_cleanup_json_ json_object *a = arguments_of(m);
	json_object *changed = json_object_array_get_idx(a, 1);
	const char *interface = json_object_get_string(json_object_array_get_idx(a, 0));
	_cleanup_free_ char *name = NULL;
	char text[512];

	(void)error;
	json_object_array_add(a, json_object_new_string(sd_bus_message_get_path(m)));
	if (streq(interface, BUS_DEVICE) &&
	    sd_bus_path_decode(sd_bus_message_get_path(m), BUS_PATH "/device", &name) > 0)
		snprintf(text, sizeof(text), "%s: %s (%s)", name, json_text(changed, "Setting"),
			 *json_text(changed, "Problem") ? json_text(changed, "Problem")
							: json_text(changed, "Reason"));
	else if (json_true(changed, "Degraded"))
		snprintf(text, sizeof(text), "degraded: see storpowerctl status");
	else if (!mon->ctl->json)
		return 0; /* the signals have said it */
	print_event(mon, "PropertiesChanged", a, text);
	return 0;
}

static int on_owner_changed(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	_cleanup_json_ json_object *a = arguments_of(m);
	const char *new = json_object_get_string(json_object_array_get_idx(a, 2));

	(void)error;
	print_event(userdata, "NameOwnerChanged", a,
		    new &&*new ? "storpowerd is running" : "storpowerd has gone");
	return 0;
}

static int on_state(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	Monitor *mon = userdata;
	_cleanup_json_ json_object *s = NULL;
	char watts[32], text[128];
	double now;

	(void)error;
	if (sd_bus_message_is_method_error(m, NULL))
		return 0; /* gone: on_owner_changed() says so */
	s = json_from_message(m);
	now = json_number(s, "MeasuredPower");
	if (isnan(now))
		now = json_number(s, "EstimatedPower");
	if (fabs(now - mon->told_w) <= WATTS_MOVED * json_number(s, "RatedPower"))
		return 0;
	mon->told_w = now;
	snprintf(text, sizeof(text), "drawing %s, %.0f MB/s",
		 format_watts(watts, sizeof(watts), now), json_number(s, "Throughput"));
	print_event(mon, "State", s, text);
	return 0;
}

static int on_second(sd_event_source *s, uint64_t usec, void *userdata)
{
	Monitor *mon = userdata;
	int r = sd_bus_call_method_async(mon->ctl->bus, NULL, BUS_NAME, BUS_PATH,
					 "org.freedesktop.DBus.Properties", "GetAll", on_state, mon,
					 "s", BUS_MANAGER);

	if (r >= 0)
		r = sd_event_source_set_time(s, usec + USEC_PER_SEC);
	return r < 0 ? r : sd_event_source_set_enabled(s, SD_EVENT_ONESHOT);
}

static int match_all(Monitor *mon)
{
	sd_bus *bus = mon->ctl->bus;
	int r = sd_bus_match_signal(bus, NULL, BUS_NAME, BUS_PATH, BUS_MANAGER, NULL,
				    on_manager_signal, mon);

	if (r >= 0)
		r = sd_bus_match_signal(bus, NULL, BUS_NAME, NULL,
					"org.freedesktop.DBus.Properties", "PropertiesChanged",
					on_properties, mon);
	if (r >= 0)
		r = ctl_match_daemon(mon->ctl, on_owner_changed, mon);
	return r;
}

static int block_stop_signals(void)
{
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	return sigprocmask(SIG_BLOCK, &mask, NULL) < 0 ? -errno : 0;
}

static int run_loop(Monitor *mon)
{
	_cleanup_(sd_event_unrefp) sd_event *event = NULL;
	uint64_t now;
	int r = sd_event_new(&event);

	if (r >= 0)
		r = block_stop_signals();
	if (r >= 0)
		r = sd_event_add_signal(event, NULL, SIGINT, NULL, NULL);
	if (r >= 0)
		r = sd_event_add_signal(event, NULL, SIGTERM, NULL, NULL);
	if (r >= 0)
		r = sd_event_now(event, CLOCK_MONOTONIC, &now);
	if (r >= 0)
		r = sd_event_add_time(event, NULL, CLOCK_MONOTONIC, now, 0, on_second, mon);
	if (r >= 0)
		r = sd_bus_attach_event(mon->ctl->bus, event, SD_EVENT_PRIORITY_NORMAL);
	if (r >= 0)
		r = sd_bus_set_exit_on_disconnect(mon->ctl->bus, true);
	if (r >= 0)
		r = match_all(mon);
	return r < 0 ? r : sd_event_loop(event);
}

int verb_monitor(Ctl *c)
{
	_cleanup_json_ json_object *state = NULL;
	Monitor mon = { .ctl = c, .told_w = -INFINITY };
	int status = ctl_get_state(c, &state), r;

	if (status)
		return status;
	r = run_loop(&mon);
	if (r > 0)
		return complain(STATUS_NO_DAEMON, "The bus has gone away");
	return r < 0 ? complain(STATUS_FAILURE, "Cannot monitor: %s", strerror(-r)) : STATUS_OK;
}
