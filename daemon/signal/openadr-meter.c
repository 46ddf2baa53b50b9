/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "signal/openadr-meter.h"

#include <errno.h>
#include <string.h>

#include "signal/openadr-json.h"
#include "signal/openadr-wishes.h"

#define JOULES_PER_KWH 3.6e6

void openadr_meters_done(OpenadrMeters *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->list[i].event);
	free(m->list);
	*m = (OpenadrMeters){ 0 };
}

static bool asks(const OpenadrConfig *c, const OpenadrEvent *e)
{
	return c->reports && e->reports && openadr_is_ours(c, e);
}

static const OpenadrEvent *event_of(const OpenadrMeter *m, const OpenadrConfig *c,
				    const OpenadrEvents *events)
{
	for (size_t i = 0; i < events->n; i++)
		if (streq(events->list[i].id, m->event))
			return asks(c, &events->list[i]) ? &events->list[i] : NULL;
	return NULL;
}

static bool has_meter(const OpenadrMeters *m, const OpenadrEvent *e, const OpenadrInterval *i)
{
	for (size_t k = 0; k < m->n; k++)
		if (streq(m->list[k].event, e->id) && m->list[k].begin_s == i->begin_s)
			return true;
	return false;
}

/* Another interval has begun, or none; that of an event that has been withdrawn is over, too. */
static bool is_over(const OpenadrMeter *m, const OpenadrEvent *e, int64_t now_s)
{
	OpenadrInterval i;

	return !e || !openadr_event_at(e, now_s, &i) || i.begin_s != m->begin_s;
}

static bool begins(const OpenadrMeters *m, const OpenadrConfig *c, const OpenadrEvent *e,
		   int64_t now_s, OpenadrInterval *ret)
{
	return asks(c, e) && openadr_event_at(e, now_s, ret) && !has_meter(m, e, ret);
}

bool openadr_meters_due(const OpenadrMeters *m, const OpenadrConfig *c, const OpenadrEvents *events,
			int64_t now_s)
{
	OpenadrInterval i;

	for (size_t k = 0; k < m->n; k++)
		if (is_over(&m->list[k], event_of(&m->list[k], c, events), now_s))
			return true;
	for (size_t k = 0; k < events->n; k++)
		if (begins(m, c, &events->list[k], now_s, &i))
			return true;
	return false;
}

static int add_text(json_object *o, const char *name, const char *text)
{
	json_object *v = json_object_new_string(text);

	return v && json_object_object_add(o, name, v) >= 0 ? 0 : -ENOMEM;
}

/* A part of another; NULL stands for one that could not be made. */
static int add_part(json_object *o, const char *name, json_object *part)
{
	if (part && json_object_object_add(o, name, part) >= 0)
		return 0;
	json_object_put(part);
	return -ENOMEM;
}

static json_object *list_of(json_object *first)
{
	json_object *list = json_object_new_array();

	if (list && first && json_object_array_add(list, first) >= 0)
		return list;
	json_object_put(first);
	json_object_put(list);
	return NULL;
}

static int append(json_object *list, json_object *part)
{
	if (part && json_object_array_add(list, part) >= 0)
		return 0;
	json_object_put(part);
	return -ENOMEM;
}

/* {"type": "USAGE", "values": [0.5]} */
static int append_value(json_object *list, const char *type, double value)
{
	_cleanup_json_ json_object *o = json_object_new_object();
	char digits[32];
	int r = o ? add_text(o, "type", type) : -ENOMEM;

	/* as many as mean something */
	snprintf(digits, sizeof(digits), "%.9g", value);
	if (r >= 0)
		r = add_part(o, "values", list_of(json_object_new_double_s(value, digits)));
	return r < 0 ? r : append(list, TAKE_PTR(o));
}

static int append_descriptor(json_object *list, const char *type, const char *units,
			     const char *reading)
{
	_cleanup_json_ json_object *o = json_object_new_object();
	int r = o ? add_text(o, "payloadType", type) : -ENOMEM;

	if (r >= 0)
		r = add_text(o, "units", units);
	if (r >= 0)
		r = add_text(o, "readingType", reading);
	return r < 0 ? r : append(list, TAKE_PTR(o));
}

typedef struct Measured {
	const OpenadrMeter *meter;
	const OpenadrEvent *event;
	int64_t seconds;
	double joules;
} Measured;

static json_object *descriptors_of(const Measured *m)
{
	_cleanup_json_ json_object *list = json_object_new_array();
	int r = list ? 0 : -ENOMEM;

	if (r >= 0 && m->event->reports & OPENADR_USAGE)
		r = append_descriptor(list, "USAGE", "KWH", "SUMMED");
	if (r >= 0 && m->event->reports & OPENADR_DEMAND)
		r = append_descriptor(list, "DEMAND", "KW", "MEAN");
	return r < 0 ? NULL : TAKE_PTR(list);
}

static json_object *interval_of(const Measured *m)
{
	_cleanup_json_ json_object *o = json_object_new_object(), *list = json_object_new_array();
	int r = o && list ? add_part(o, "id", json_object_new_int64(m->meter->interval)) : -ENOMEM;

	if (r >= 0 && m->event->reports & OPENADR_USAGE)
		r = append_value(list, "USAGE", m->joules / JOULES_PER_KWH);
	if (r >= 0 && m->event->reports & OPENADR_DEMAND)
		r = append_value(list, "DEMAND", m->joules / (double)m->seconds / 1000);
	if (r >= 0)
		r = add_part(o, "payloads", TAKE_PTR(list));
	return r < 0 ? NULL : TAKE_PTR(o);
}

/* What has been measured, which is less than the interval where it was announced late. */
static json_object *period_of(const Measured *m)
{
	_cleanup_json_ json_object *o = json_object_new_object();
	char start[32], duration[32];
	int r;

	openadr_format_time(start, sizeof(start), m->meter->from_s);
	snprintf(duration, sizeof(duration), "PT%lldS", (long long)m->seconds);
	r = o ? add_text(o, "start", start) : -ENOMEM;
	if (r >= 0)
		r = add_text(o, "duration", duration);
	return r < 0 ? NULL : TAKE_PTR(o);
}

static json_object *resource_of(const Measured *m, const char *ven)
{
	_cleanup_json_ json_object *o = json_object_new_object();
	int r = o ? add_text(o, "resourceName", ven) : -ENOMEM;

	if (r >= 0)
		r = add_part(o, "intervalPeriod", period_of(m));
	if (r >= 0)
		r = add_part(o, "intervals", list_of(interval_of(m)));
	return r < 0 ? NULL : TAKE_PTR(o);
}

/* The names of 3.0 and 3.1 alike. */
static int report_of(const Measured *m, const char *ven, char **ret)
{
	_cleanup_json_ json_object *o = json_object_new_object();
	int r = o ? add_text(o, "objectType", "REPORT") : -ENOMEM;

	if (r >= 0)
		r = add_text(o, "programID", m->event->program);
	if (r >= 0)
		r = add_text(o, "eventID", m->event->id);
	if (r >= 0)
		r = add_text(o, "clientName", ven);
	if (r >= 0)
		r = add_part(o, "payloadDescriptors", descriptors_of(m));
	if (r >= 0)
		r = add_part(o, "resources", list_of(resource_of(m, ven)));
	if (r < 0)
		return r;
	*ret = strdup(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
	return *ret ? 0 : -ENOMEM;
}

static int tell(const OpenadrMeter *meter, const OpenadrEvent *e, const OpenadrConfig *c,
		int64_t now_s, double joules, char ***reports)
{
	const Measured m = { meter, e, now_s - meter->from_s, joules - meter->joules };
	_cleanup_free_ char *report = NULL;
	int r;

	if (!e || m.seconds <= 0 || !(m.joules >= 0))
		return 0;
	r = report_of(&m, c->ven ?: "", &report);
	return r < 0 ? r : strv_add(reports, report);
}

static int close_meters(OpenadrMeters *m, const OpenadrConfig *c, const OpenadrEvents *events,
			int64_t now_s, double joules, char ***reports)
{
	int r = 0;
	size_t kept = 0;

	for (size_t i = 0; i < m->n; i++) {
		OpenadrMeter *meter = &m->list[i];
		const OpenadrEvent *e = event_of(meter, c, events);
		bool over = is_over(meter, e, now_s);

		if (over && r >= 0)
			r = tell(meter, e, c, now_s, joules, reports);
		if (over)
			free(meter->event);
		else
			m->list[kept++] = *meter;
	}
	m->n = kept;
	return r;
}

static int open_meter(OpenadrMeters *m, const OpenadrEvent *e, const OpenadrInterval *i,
		      int64_t now_s, double joules)
{
	char *id = strdup(e->id);
	OpenadrMeter *meter = NULL;
	OpenadrMeter *list = id ? reallocarray(m->list, m->n + 1, sizeof(*list)) : NULL;

	if (!list) {
		free(id);
		return -ENOMEM;
	}
	m->list = list;
	meter = &list[m->n++];
	*meter = (OpenadrMeter){ id, i->id, i->begin_s, now_s, joules };
	return 0;
}

int openadr_meters_take(OpenadrMeters *m, const OpenadrConfig *c, const OpenadrEvents *events,
			int64_t now_s, double joules, char ***ret_reports)
{
	_cleanup_(strv_freep) char **reports = NULL;
	int r = close_meters(m, c, events, now_s, joules, &reports);

	for (size_t k = 0; r >= 0 && k < events->n; k++) {
		OpenadrInterval i;

		if (begins(m, c, &events->list[k], now_s, &i))
			r = open_meter(m, &events->list[k], &i, now_s, joules);
	}
	if (r >= 0)
		*ret_reports = TAKE_PTR(reports);
	return r;
}
