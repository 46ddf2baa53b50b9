/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* One screen: what is the limit, is it held, what does it cost, what is coming, how to undo it. */

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/clock.h"
#include "ctl/cost.h"
#include "ctl/status.h"
#include "ctl/table.h"
#include "ctl/words.h"

/* A daemon that does not tell the node's own misses that of the node for all it says. */
static double node_shortfall_w(json_object *state)
{
	double own = json_number(state, "NodeShortfall");

	return isnan(own) ? json_number(state, "Shortfall") : own;
}

void print_degraded(json_object *state)
{
	double shortfall = json_number(state, "Shortfall");
	const char *limit =
		node_shortfall_w(state) > 0 ? "the budget" : "the limit of a group or device";
	char watts[32];

	if (shortfall > 0)
		complain(0,
			 "Degraded: no settings of these devices meet %s; %s are missing, and "
			 "what each keeps is in storpowerctl list",
			 limit, format_watts(watts, sizeof(watts), shortfall));
	else
		complain(0, "Degraded: a device has a problem: see storpowerctl list");
}

void say(const Screen *s, const char *label, const char *format, ...)
{
	char text[LINE_SIZE], padded[LABEL_WIDTH + 1];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	snprintf(padded, sizeof(padded), "%*s  ", LABEL_WIDTH - 2, label);
	print_wrapped(padded, LABEL_WIDTH, text, s->ctl->width);
}

static json_object *claim_at(const Screen *s, size_t i)
{
	return json_object_array_get_idx(json_member(s->state, "Claims"), i);
}

static size_t claim_count(const Screen *s)
{
	return json_count(json_member(s->state, "Claims"));
}

static bool is_of_node(json_object *claim)
{
	return streq(json_text(claim, "Scope"), "node");
}

/* "until 17:34" */
static void format_end(char *buf, size_t size, json_object *claim)
{
	double ends = json_number(claim, "ExpiresIn");
	char hour[32];

	if (!isnan(ends))
		snprintf(buf, size, "until %s", words_hour(hour, sizeof(hour), ends));
	else
		snprintf(buf, size, "until %s",
			 json_true(claim, "Standing") ? "cleared" : "its owner ends it");
}

void say_claim(const Screen *s, const char *label, json_object *claim)
{
	const char *reason = json_text(claim, "Reason"), *target = json_text(claim, "Target");
	char limit[64], end[64];

	format_claim_limit(limit, sizeof(limit), claim);
	format_end(end, sizeof(end), claim);
	say(s, label, "%s%s%s %s%s%s, by %s%s%s", target, *target ? ": " : "", limit, end,
	    json_true(claim, "Orphaned") ? " (orphaned)" : "",
	    claim == s->advised ? " (advised, not held)" : "", json_text(claim, "Source"),
	    *reason ? ": " : "", reason);
}

/* Those of groups and devices, and how many stand behind. */
static void say_others(const Screen *s)
{
	size_t shown = 0, other = 0;

	for (size_t i = 0; i < claim_count(s); i++) {
		json_object *claim = claim_at(s, i);

		if (claim == s->claim || claim == s->advised)
			continue;
		if (json_true(claim, "InForce") && shown < CLAIMS_SHOWN) {
			say_claim(s, "", claim);
			shown++;
		} else {
			other++;
		}
	}
	if (other > 0)
		say(s, "", "%zu more: storpowerctl list --claims", other);
}

static void say_limit(const Screen *s)
{
	double missing_w = json_number(s->state, "Shortfall");
	char watts[32];

	if (s->claim || s->advised)
		say_claim(s, "Limit", s->claim ?: s->advised);
	else
		say(s, "Limit", "none%s", claim_count(s) ? " on the node" : "");
	say_others(s);
	if (missing_w > 0 && !(node_shortfall_w(s->state) > 0))
		say(s, "Missing", "%s: no settings meet the limit of a group or device",
		    format_watts(watts, sizeof(watts), missing_w));
	if (*json_text(s->state, "ClaimsUnsaved"))
		say(s, "Claims",
		    "not saved (%s): a restart would bring back those that were saved last",
		    json_text(s->state, "ClaimsUnsaved"));
}

static double drawn_w(json_object *state)
{
	double measured = json_number(state, "MeasuredPower");

	return isnan(measured) ? json_number(state, "EstimatedPower") : measured;
}

/* "155 W +/- 6.2 W, modelled" */
static void format_draw(char *buf, size_t size, json_object *state)
{
	char watts[32], error[32];
	bool measured = !isnan(json_number(state, "MeasuredPower"));

	format_watts(watts, sizeof(watts), drawn_w(state));
	if (isnan(json_number(state, "PowerError")))
		snprintf(buf, size, "%s, %s", watts, measured ? "measured" : "modelled");
	else
		snprintf(buf, size, "%s %s %s, %s", watts, words_plus_minus(),
			 format_watts(error, sizeof(error), json_number(state, "PowerError")),
			 measured ? "measured" : "modelled");
}

/* "yes, for 2min" */
static void format_held(char *buf, size_t size, json_object *state)
{
	double held = json_number(state, "HeldFor"), shortfall = node_shortfall_w(state);
	char text[32];

	if (shortfall > 0)
		snprintf(buf, size, "no, %s are missing",
			 format_watts(text, sizeof(text), shortfall));
	else if (isnan(held))
		snprintf(buf, size, "not yet");
	else
		snprintf(buf, size, "yes, for %s", words_span(text, sizeof(text), held));
}

static void say_draw(const Screen *s)
{
	double highest = json_number(s->state, "HighestPower");
	char draw[128], held[64], since[64] = "", watts[32];

	format_draw(draw, sizeof(draw), s->state);
	if (!s->claim) {
		say(s, "Draws", "%s, of %s", draw,
		    format_watts(watts, sizeof(watts), json_number(s->state, "OperatingPower")));
		return;
	}
	if (!isnan(highest))
		snprintf(since, sizeof(since), "; at most %s since",
			 format_watts(watts, sizeof(watts), highest));
	format_held(held, sizeof(held), s->state);
	say(s, "Held", "%s: %s%s", held, draw, since);
}

/* Of who is held back since before he was seen it is known what he gets, not what he asks for. */
static bool is_guessed(json_object *devices)
{
	for (size_t i = 0; i < json_count(devices); i++) {
		json_object *d = json_object_array_get_idx(devices, i);

		if (!isfinite(json_number(d, "Demand")) &&
		    json_number(d, "Throughput") < json_number(d, "FullThroughput"))
			return true;
	}
	return false;
}

void say_cost(const Screen *s)
{
	const Cost cost = { s->devices, s->unlimited };
	double full, mb_s, kept = cost_share(&cost, &mb_s, &full);
	bool guessed = is_guessed(s->devices);
	char now[32], without[32], share[16];

	format_number(now, sizeof(now), mb_s);
	if (!json_true(s->state, "Enforcing")) {
		say(s, "Serves", "%s MB/s: nothing is limited", now);
		return;
	}
	if (kept >= 1)
		say(s, "Costs", "nothing now: %s MB/s are served, all that is asked for", now);
	else
		say(s, "Costs", "%s of %s%s MB/s are served, %s%s", now, guessed ? "at most " : "",
		    format_number(without, sizeof(without), full), guessed ? "at least " : "",
		    words_share(share, sizeof(share), mb_s, full));
	cost_print(s->ctl, &cost, LABEL_WIDTH);
}

/* What holds the node when the limit has gone: the lowest of the claims behind it. */
static json_object *next_limit(const Screen *s)
{
	json_object *lowest = NULL;

	for (size_t i = 0; i < claim_count(s); i++) {
		json_object *claim = claim_at(s, i);

		if (claim == s->claim || claim == s->advised || !is_of_node(claim) ||
		    !json_true(claim, "Active"))
			continue;
		if (!lowest || json_number(claim, "LimitPower") < json_number(lowest, "LimitPower"))
			lowest = claim;
	}
	return lowest;
}

/* Each claim in force is named: "clear" alone leaves those that others have made. */
static void say_undo(const Screen *s)
{
	json_object *next = next_limit(s);
	char cookies[LINE_SIZE / 2] = "", limit[64];
	size_t shown = 0;

	for (size_t i = 0; i < claim_count(s) && shown < CLAIMS_SHOWN + 1; i++) {
		json_object *claim = claim_at(s, i);
		size_t at = strlen(cookies);

		if (!json_true(claim, "InForce") && claim != s->advised)
			continue;
		snprintf(cookies + at, sizeof(cookies) - at, " %s", json_text(claim, "Cookie"));
		shown++;
	}
	if (!shown)
		return;
	if (next)
		format_claim_limit(limit, sizeof(limit), next);
	say(s, "Undo", "storpowerctl clear%s%s%s%s%s", cookies, next ? "; then claim " : "",
	    next ? json_text(next, "Cookie") : "", next ? " holds: " : "", next ? limit : "");
}

static void say_node(const Screen *s)
{
	uint64_t took_us = json_object_get_uint64(json_member(s->state, "LastEnforceUSec"));
	bool enforcing = json_true(s->state, "Enforcing");
	char cap[32], floor[32], took[32], last[64] = "";

	/* nothing had to be changed: that takes no time */
	if (enforcing && took_us)
		snprintf(last, sizeof(last), "; last change took %s",
			 format_duration(took, sizeof(took), took_us));
	say(s, "Node", "%s devices, policy %s; %s at most, %s at least%s%s",
	    json_text(s->state, "DeviceCount"), json_text(s->state, "Policy"),
	    format_watts(cap, sizeof(cap), json_number(s->state, "CapPower")),
	    format_watts(floor, sizeof(floor), json_number(s->state, "FloorPower")),
	    json_true(s->state, "Degraded") ? "; degraded" : "", last);
	if (ctl_is_advised(s->state))
		say(s, "Mode", "advising: no limit is held and nothing is set");
	if (*json_text(s->state, "Simulated"))
		say(s, "Simulated", "by %s: no real device is touched",
		    json_text(s->state, "Simulated"));
	say(s, "Meter", "%s%s%s%s", json_text(s->state, "Meter"),
	    *json_text(s->state, "MeterWhyNot") ? " (" : "", json_text(s->state, "MeterWhyNot"),
	    *json_text(s->state, "MeterWhyNot") ? ")" : "");
}

/* Only where it is not known: show and top tell it else. */
static void say_waiting(const Screen *s)
{
	char pressure[512];

	if (*json_text(s->waiting, "WhyNot"))
		say(s, "Wait", "not known: %s%s", json_text(s->waiting, "WhyNot"),
		    format_pressure(pressure, sizeof(pressure), s->waiting));
}

static void say_problems(const Screen *s)
{
	for (size_t i = 0; i < json_count(s->devices); i++) {
		json_object *d = json_object_array_get_idx(s->devices, i);

		if (*json_text(d, "Problem"))
			say(s, "Problem", "%s: %s", json_text(d, "Name"), json_text(d, "Problem"));
	}
}

static const char *sensor_text(json_object *sensor, size_t i)
{
	return json_object_get_string(json_object_array_get_idx(sensor, i));
}

static void say_sensors(const Screen *s)
{
	json_object *sensors = json_member(s->state, "Sensors");
	char watts[32];

	for (size_t i = 0; i < json_count(sensors); i++) {
		json_object *sensor = json_object_array_get_idx(sensors, i);
		json_object *value = json_object_array_get_idx(sensor, 4);
		const char *why = sensor_text(sensor, 5), *target = sensor_text(sensor, 3);

		say(s, "Sensor", "%s (%s of %s%s%s): %s%s%s", sensor_text(sensor, 0),
		    sensor_text(sensor, 1), sensor_text(sensor, 2), *target ? " " : "", target,
		    format_watts(watts, sizeof(watts), value ? json_object_get_double(value) : NAN),
		    *why ? ", set aside: " : "", why);
	}
}

/* What is tolerated above the limit, and how much of that is left. */
static void say_tolerance(const Screen *s)
{
	double tolerance_s = json_number(s->state, "Tolerance");

	if (s->claim && tolerance_s > 0)
		say(s, "Tolerates", "%.3g s of twice the limit, of which %.2g s are spent",
		    tolerance_s, json_number(s->state, "Overload"));
}

static void say_all(const Screen *s)
{
	say_limit(s);
	say_draw(s);
	say_tolerance(s);
	say_problems(s);
	say_cost(s);
	coming_print(s->ctl, s->state, s->devices, LABEL_WIDTH);
	print_advice(s->ctl, s->state, LABEL_WIDTH);
	say_undo(s);
	say_node(s);
	say_waiting(s);
	say_sensors(s);
}

/* The one of the node that is in force. */
static json_object *find_limit(json_object *claims)
{
	for (size_t i = 0; i < json_count(claims); i++) {
		json_object *claim = json_object_array_get_idx(claims, i);

		if (is_of_node(claim) && json_true(claim, "InForce"))
			return claim;
	}
	return NULL;
}

int verb_status(Ctl *c)
{
	_cleanup_json_ json_object *state = NULL, *devices = NULL, *plan = NULL, *waiting = NULL;
	Screen s = { .ctl = c };
	int status;

	if (c->n_args)
		return status_of_device(c, c->args[0]);
	status = ctl_get_state(c, &state);
	if (!status && !c->json)
		status = ctl_get_devices(c, &devices);
	if (status)
		return status;
	if (c->json) {
		json_print(c, state);
		return STATUS_OK;
	}
	if (json_true(state, "Enforcing"))
		(void)ctl_try_plan(c, &(PlanAsked){ 100, "%", NULL }, NULL, &plan);
	if (!*json_text(state, "Simulated"))
		waiting = ctl_get_waiting(c);
	s.state = state;
	s.waiting = waiting;
	s.devices = devices;
	s.unlimited = json_member(plan, "Devices");
	s.claim = find_limit(json_member(state, "Claims"));
	if (ctl_is_advised(state))
		s.advised = next_limit(&s);
	pager_open(c);
	say_all(&s);
	return STATUS_OK;
}
