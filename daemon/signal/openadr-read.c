/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Reads the JSON of an event. */

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/text.h"
#include "signal/openadr-event.h"
#include "signal/openadr-json.h"

/* One that is being read. */
typedef struct Reading {
	OpenadrEvent event;
	int64_t announced_s;             /* what OPENADR_NOW is */
	int64_t start_s, duration_s;     /* of the event's intervalPeriod */
	int64_t delay_s;                 /* by randomizeStart */
	double watts[_OPENADR_KIND_MAX]; /* of the unit in which the kind is told */
	json_object *descriptors;        /* of its program */
	const char *salt;
	char *why;
	size_t size;
} Reading;

static int complain(Reading *r, const char *format, ...) _printf_(2, 3);

static int complain(Reading *r, const char *format, ...)
{
	size_t n;
	va_list ap;

	snprintf(r->why, r->size, "event %.64s: ", r->event.id ?: "without an id");
	n = strlen(r->why);
	va_start(ap, format);
	vsnprintf(r->why + n, r->size - n, format, ap);
	va_end(ap);
	return -EBADMSG;
}

static bool is_number(json_object *v)
{
	return json_object_is_type(v, json_type_int) || json_object_is_type(v, json_type_double);
}

/* The elements of an array; 0: there is none, or it is null. */
static int array_of(Reading *r, json_object *o, const char *where, const char *name,
		    json_object **ret, size_t *ret_n)
{
	*ret = json_member(o, name);
	*ret_n = 0;
	if (!*ret)
		return 0;
	if (!json_object_is_type(*ret, json_type_array))
		return complain(r, "%s%s: expected an array", where, name);
	*ret_n = json_object_array_length(*ret);
	return 0;
}

static int read_duration(Reading *r, json_object *o, const char *where, const char *name,
			 int64_t *duration_s)
{
	const char *text = json_text(o, name);

	if (!json_member(o, name))
		return 0;
	if (!text || openadr_parse_duration(text, duration_s) < 0)
		return complain(r, "%s%s: expected a duration such as \"PT15M\"", where, name);
	return 0;
}

static int read_time(Reading *r, json_object *o, const char *where, const char *name,
		     int64_t *time_s)
{
	const char *text = json_text(o, name);

	if (!json_member(o, name))
		return 0;
	if (!text || openadr_parse_time(text, time_s) < 0)
		return complain(r, "%s%s: expected a time such as \"2026-11-24T10:00:00Z\"", where,
				name);
	return 0;
}

/* *start_s is what there is without a start of its own, or with one of "0001-01-01": when the event
 * was announced, if it is nothing yet. A start is delayed by what randomizeStart allows. */
static int read_period(Reading *r, json_object *o, const char *where, int64_t *start_s,
		       int64_t *duration_s, int64_t *delay_s)
{
	json_object *period = json_member(o, "intervalPeriod");
	_cleanup_free_ char *inner = text_printf("%sintervalPeriod.", where);
	int64_t own_s = *start_s, range_s = 0;
	int e;

	if (!period)
		return 0;
	if (!inner)
		return -ENOMEM;
	e = read_time(r, period, inner, "start", &own_s);
	if (e >= 0 && own_s != OPENADR_NOW)
		*start_s = own_s;
	else if (e >= 0 && *start_s == OPENADR_NOW && json_member(period, "start"))
		*start_s = r->announced_s;
	if (e >= 0)
		e = read_duration(r, period, inner, "duration", duration_s);
	if (e >= 0)
		e = read_duration(r, period, inner, "randomizeStart", &range_s);
	if (e >= 0 && json_member(period, "randomizeStart"))
		*delay_s = openadr_spread(r->event.id, r->salt, range_s);
	return e;
}

/* What one of the kind's units is in watts: power is told in kW, if nothing says otherwise. */
static int read_unit(Reading *r, json_object *descriptor, const char *where)
{
	const char *type = json_text(descriptor, "payloadType"),
		   *units = json_text(descriptor, "units");

	for (int k = OPENADR_LIMIT; type && units && k < _OPENADR_KIND_MAX; k++) {
		if (!streq(type, openadr_kind_name(k)))
			continue;
		if (!streq(units, "W") && !streq(units, "KW"))
			return complain(r, "%sunits: expected KW or W, but it is \"%.32s\"", where,
					units);
		r->watts[k] = streq(units, "W") ? 1 : 1000;
	}
	return 0;
}

static int read_descriptors(Reading *r, json_object *list, const char *whose)
{
	int e = 0;

	for (size_t i = 0; e >= 0 && i < json_object_array_length(list); i++) {
		char where[64];

		snprintf(where, sizeof(where), "%spayloadDescriptors[%zu].", whose, i);
		e = read_unit(r, json_object_array_get_idx(list, i), where);
	}
	return e;
}

/* What the event says of them itself counts more than what its program says. */
static int read_units(Reading *r, json_object *event)
{
	json_object *list;
	size_t n;
	int e = array_of(r, event, "", "payloadDescriptors", &list, &n);

	for (int k = 0; k < _OPENADR_KIND_MAX; k++)
		r->watts[k] = k == OPENADR_SIMPLE ? 1 : 1000;
	if (e >= 0 && json_object_is_type(r->descriptors, json_type_array))
		e = read_descriptors(r, r->descriptors, "its program's ");
	return e >= 0 && n ? read_descriptors(r, list, "") : e;
}

static int read_value(Reading *r, json_object *payload, const char *where, OpenadrKind kind,
		      double *ret)
{
	json_object *values = json_member(payload, "values"), *first;
	double v;

	if (!json_object_is_type(values, json_type_array) || !json_object_array_length(values))
		return complain(r, "%svalues: expected an array with a number", where);
	first = json_object_array_get_idx(values, 0);
	v = is_number(first) ? json_object_get_double(first) : NAN;
	if (kind == OPENADR_SIMPLE && v != 0 && v != 1 && v != 2 && v != 3)
		return complain(r, "%svalues[0]: expected a level of 0, 1, 2 or 3", where);
	if (!(v >= 0) || !(v * r->watts[kind] <= LIMIT_MAX_W))
		return complain(r, "%svalues[0]: expected a power from 0 to 100 MW", where);
	*ret = v * r->watts[kind];
	return 0;
}

static int read_payload(Reading *r, json_object *payload, const char *where, OpenadrInterval *i)
{
	const char *type = json_text(payload, "type");

	if (!type)
		return complain(r, "%stype: expected a type such as \"SIMPLE\"", where);
	for (int k = 0; k < _OPENADR_KIND_MAX; k++)
		if (streq(type, openadr_kind_name(k)))
			return read_value(r, payload, where, k, &i->values[k]);
	return 0; /* a price, say */
}

static int read_payloads(Reading *r, json_object *interval, const char *where, OpenadrInterval *i)
{
	json_object *list;
	size_t n;
	int e = array_of(r, interval, where, "payloads", &list, &n);

	for (int k = 0; k < _OPENADR_KIND_MAX; k++)
		i->values[k] = NAN;
	for (size_t p = 0; e >= 0 && p < n; p++) {
		char inner[96];

		snprintf(inner, sizeof(inner), "%spayloads[%zu].", where, p);
		e = read_payload(r, json_object_array_get_idx(list, p), inner, i);
	}
	return e;
}

/* A duration of 0 s is "instantaneous or infinity" in OpenADR 3.0, and nobody can know which. */
static int check_interval(Reading *r, const OpenadrInterval *i, int64_t duration_s,
			  const char *where)
{
	bool limits = false;

	for (int k = 0; k < _OPENADR_KIND_MAX; k++)
		limits |= !isnan(i->values[k]);
	if (i->begin_s == OPENADR_NOW)
		return complain(r, "%sintervalPeriod.start is missing, and that of the event",
				where);
	if (limits && duration_s <= 0)
		return complain(r, "%sintervalPeriod.duration: expected more than 0 s, or P9999Y",
				where);
	return 0;
}

/* Without a start of its own it begins when the one before ends. */
static int read_interval(Reading *r, json_object *interval, const char *where, int64_t *next_s)
{
	OpenadrInterval i = { .id = json_object_get_int64(json_member(interval, "id")) }, *place;
	int64_t duration_s = r->duration_s, delay_s = 0;
	int e = json_object_is_type(interval, json_type_object)
			? 0
			: complain(r, "%.*s: expected an object", (int)strlen(where) - 1, where);

	i.begin_s = *next_s;
	if (e >= 0)
		e = read_period(r, interval, where, &i.begin_s, &duration_s, &delay_s);
	if (e >= 0)
		e = read_payloads(r, interval, where, &i);
	if (e >= 0)
		e = check_interval(r, &i, duration_s, where);
	if (e < 0)
		return e;
	i.begin_s = openadr_add(i.begin_s, delay_s);
	i.end_s = openadr_add(i.begin_s, duration_s);
	*next_s = i.end_s;
	place = ARRAY_GROW(r->event.intervals, r->event.n);
	if (!place)
		return -ENOMEM;
	*place = i;
	return 0;
}

static int read_intervals(Reading *r, json_object *event)
{
	json_object *list;
	int64_t next_s = r->start_s == OPENADR_NOW ? OPENADR_NOW : r->start_s + r->delay_s;
	size_t n;
	int e = array_of(r, event, "", "intervals", &list, &n);

	for (size_t i = 0; e >= 0 && i < n; i++) {
		char where[64];

		snprintf(where, sizeof(where), "intervals[%zu].", i);
		e = read_interval(r, json_object_array_get_idx(list, i), where, &next_s);
	}
	return e;
}

/* From the first to the last of them; the duration of the event cuts them off or has them come
 * again. One of 0 s is what OpenADR 3.0 has where none is given. */
static int read_extent(Reading *r, json_object *event)
{
	OpenadrEvent *v = &r->event;
	int64_t duration_s = 0, end_s = INT64_MIN;
	int e = read_duration(r, event, "", "duration", &duration_s);

	v->begin_s = OPENADR_NEVER;
	for (size_t i = 0; i < v->n; i++) {
		v->begin_s = MIN(v->begin_s, v->intervals[i].begin_s);
		end_s = MAX(end_s, v->intervals[i].end_s);
	}
	if (e < 0 || !v->n)
		return e;
	v->end_s = duration_s <= 0 ? end_s : openadr_add(v->begin_s, duration_s);
	if (v->end_s > end_s && end_s > v->begin_s)
		v->loop_s = end_s - v->begin_s;
	return 0;
}

/* OpenADR 3.1 has texts, 3.0 has objects with a type and values. */
static int read_target(Reading *r, json_object *target)
{
	const char *type = json_text(target, "type");
	json_object *values = json_member(target, "values");
	int e = 0;

	if (json_object_is_type(target, json_type_string))
		return strv_add(&r->event.targets, json_object_get_string(target));
	if (!type || !json_object_is_type(values, json_type_array))
		return complain(r, "targets: expected texts, or objects with a type and values");
	for (size_t i = 0; e >= 0 && i < json_object_array_length(values); i++) {
		const char *value = json_object_get_string(json_object_array_get_idx(values, i));
		_cleanup_free_ char *both = text_printf("%s\n%s", type, value ?: "");

		e = both ? strv_add(&r->event.targets, both) : -ENOMEM;
	}
	return e;
}

static int read_targets(Reading *r, json_object *event)
{
	json_object *list;
	size_t n;
	int e = array_of(r, event, "", "targets", &list, &n);

	for (size_t i = 0; e >= 0 && i < n; i++)
		e = read_target(r, json_object_array_get_idx(list, i));
	return e;
}

static int read_reports(Reading *r, json_object *event)
{
	json_object *list;
	size_t n;
	int e = array_of(r, event, "", "reportDescriptors", &list, &n);

	for (size_t i = 0; e >= 0 && i < n; i++) {
		const char *type = json_text(json_object_array_get_idx(list, i), "payloadType");

		if (type && streq(type, "USAGE"))
			r->event.reports |= OPENADR_USAGE;
		else if (type && streq(type, "DEMAND"))
			r->event.reports |= OPENADR_DEMAND;
	}
	return e;
}

static int read_priority(Reading *r, json_object *event)
{
	json_object *v = json_member(event, "priority");

	r->event.priority = INT64_MAX;
	if (!v)
		return 0;
	if (!json_object_is_type(v, json_type_int) || json_object_get_int64(v) < 0)
		return complain(r, "priority: expected a whole number, 0 for the highest");
	r->event.priority = json_object_get_int64(v);
	return 0;
}

static int read_names(Reading *r, json_object *event)
{
	const char *id = json_text(event, "id"), *program = json_text(event, "programID");
	const char *name = json_text(event, "eventName");

	if (!id || !*id)
		return complain(r, "id: expected a text");
	r->event.id = strdup(id);
	r->event.program = strdup(program ?: "");
	r->event.name = strdup(name ?: "");
	return r->event.id && r->event.program && r->event.name ? 0 : -ENOMEM;
}

static int read_event(Reading *r, json_object *event)
{
	int e = read_names(r, event);

	if (e >= 0)
		e = read_time(r, event, "", "createdDateTime", &r->announced_s);
	if (e >= 0)
		e = read_priority(r, event);
	if (e >= 0)
		e = read_targets(r, event);
	if (e >= 0)
		e = read_reports(r, event);
	if (e >= 0)
		e = read_units(r, event);
	if (e >= 0)
		e = read_period(r, event, "", &r->start_s, &r->duration_s, &r->delay_s);
	if (e >= 0)
		e = read_intervals(r, event);
	return e < 0 ? e : read_extent(r, event);
}

int openadr_events_add(OpenadrEvents *events, json_object *event, json_object *descriptors,
		       const char *salt, char *why, size_t size)
{
	Reading r = { .announced_s = OPENADR_NOW,
		      .start_s = OPENADR_NOW,
		      .duration_s = OPENADR_NEVER,
		      .descriptors = descriptors,
		      .salt = salt,
		      .why = why,
		      .size = size };
	OpenadrEvent *place = NULL;
	int e = read_event(&r, event);

	if (e >= 0)
		place = ARRAY_GROW(events->list, events->n);
	if (place)
		*place = r.event;
	else
		openadr_event_done(&r.event);
	return e >= 0 && !place ? -ENOMEM : e;
}
