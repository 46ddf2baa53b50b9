/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Limits by the events of an OpenADR 3 VTN: claims of class "signal", or "emergency", while their
 * intervals last; and reports of what was drawn in them. */

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "signal/figures.h"
#include "signal/follow.h"
#include "signal/openadr-client.h"
#include "signal/openadr-meter.h"
#include "signal/openadr-wishes.h"

#define LOOK_AGAIN_S 3600

/* What outlives a change of the configuration. */
typedef struct Known {
	unsigned users;
	OpenadrEvents events;
	OpenadrMeters meters;
	OpenadrReports reports;
	char *daemon; /* whose account the meters are of */
} Known;

typedef struct State {
	const OpenadrConfig *config;
	Holder *holder;
	Known *known;
	Follow *follow;
	OpenadrClient *client;
	Figures *energy;
} State;

static void known_unref(Known *k)
{
	if (!k || --k->users)
		return;
	openadr_events_done(&k->events);
	openadr_meters_done(&k->meters);
	openadr_reports_done(&k->reports);
	free(k->daemon);
	free(k);
}

static Known *known_ref(Known *k)
{
	k = k ?: calloc(1, sizeof(*k));
	if (k)
		k->users++;
	return k;
}

static void look_at_meters(State *s, int64_t now)
{
	if (openadr_meters_due(&s->known->meters, s->config, &s->known->events, now))
		(void)figures_ask(s->energy, holder_bus(s->holder));
}

/* Boundaries are looked at when they come; where the bus is away, at the next poll. */
static int want(void *userdata, time_t now, Wishes *ret, time_t *ret_again)
{
	State *s = userdata;
	int64_t change;
	int r = openadr_wishes(s->config, &s->known->events, now, ret, &change);

	if (r < 0)
		return r;
	*ret_again = (time_t)MIN(change, now + LOOK_AGAIN_S);
	look_at_meters(s, now);
	return 0;
}

/* A daemon that was started anew has begun another account: what was read of the one before is of
 * no use. */
static int know_daemon(Known *k, const char *daemon)
{
	char *copy;

	if (k->daemon && streq(k->daemon, daemon))
		return 0;
	openadr_meters_done(&k->meters);
	copy = strdup(daemon);
	if (!copy)
		return -ENOMEM;
	free(k->daemon);
	k->daemon = copy;
	return 0;
}

static int take_energy(State *s, double joules, const char *daemon)
{
	_cleanup_(strv_freep) char **reports = NULL;
	int r = know_daemon(s->known, daemon);

	if (r >= 0)
		r = openadr_meters_take(&s->known->meters, s->config, &s->known->events,
					(int64_t)(realtime_us() / USEC_PER_SEC), joules, &reports);
	for (char *const *report = reports; r >= 0 && report && *report; report++)
		r = openadr_client_report(s->client, *report);
	return r;
}

/* The account by sensors, and that by model. */
static const char *const accounts[] = { "EnergyMeasured", "EnergyModelled", NULL };

static void on_energy(void *userdata, const double *joules, const char *daemon)
{
	int r = joules ? take_energy(userdata, joules[0] + joules[1], daemon) : 0;

	if (r < 0)
		log_error_errno(r, "A report of what was drawn cannot be made");
}

static void on_events(void *userdata, OpenadrEvents *events)
{
	State *s = userdata;

	openadr_events_done(&s->known->events);
	s->known->events = *events;
	*events = (OpenadrEvents){ 0 };
	follow_look(s->follow);
}

static void stop(void *state)
{
	State *s = state;

	openadr_client_free(s->client);
	figures_free(s->energy);
	follow_free(s->follow);
	known_unref(s->known);
	free(s);
}

static int wire(State *s, const SignalHost *host)
{
	int r = s->known ? figures_new(accounts, on_energy, s, &s->energy) : -ENOMEM;

	if (r >= 0)
		r = openadr_client_new(host->event, s->config, &s->known->reports, on_events, s,
				       &s->client);
	if (r >= 0)
		r = follow_new(host, want, s, &s->follow);
	if (r >= 0 && !s->config->reports)
		openadr_reports_done(&s->known->reports);
	return r;
}

static int start(const SignalHost *host, void *config, const void *before, void **ret)
{
	State *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->config = config;
	s->holder = host->holder;
	s->known = known_ref(before ? ((const State *)before)->known : NULL);
	r = wire(s, host);
	if (r < 0) {
		stop(s);
		return r;
	}
	*ret = s;
	return 0;
}

static int read_config(const char *path, void **ret, size_t *ret_warnings)
{
	return openadr_config_read(path, (OpenadrConfig **)ret, ret_warnings);
}

static void free_config(void *config)
{
	openadr_config_free(config);
}

int main(int argc, char **argv)
{
	static const Signal openadr = {
		.name = "openadr",
		.source = "openadr",
		.about =
			"Limits the power of this node's storage by the events of an OpenADR 3 VTN.",
		.read = read_config,
		.free_config = free_config,
		.start = start,
		.stop = stop,
	};

	return signal_main(&openadr, argc, argv);
}
