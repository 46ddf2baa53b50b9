/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "signal/openadr-event.h"

#include <string.h>

#include "base/text.h"

static const char *const kind_names[_OPENADR_KIND_MAX] = {
	[OPENADR_SIMPLE] = "SIMPLE",
	[OPENADR_LIMIT] = "IMPORT_CAPACITY_LIMIT",
	[OPENADR_SUBSCRIBED] = "IMPORT_CAPACITY_SUBSCRIPTION",
	[OPENADR_RESERVATION] = "IMPORT_CAPACITY_RESERVATION",
};

const char *openadr_kind_name(OpenadrKind kind)
{
	return kind_names[kind];
}

void openadr_event_done(OpenadrEvent *e)
{
	free(e->id);
	free(e->program);
	free(e->name);
	strv_free(e->targets);
	free(e->intervals);
	*e = (OpenadrEvent){ 0 };
}

void openadr_events_done(OpenadrEvents *e)
{
	for (size_t i = 0; i < e->n; i++)
		openadr_event_done(&e->list[i]);
	free(e->list);
	*e = (OpenadrEvents){ 0 };
}

/* The time in the first round that this one repeats, and how much later it is. */
static int64_t round_of(const OpenadrEvent *e, int64_t now_s)
{
	return e->loop_s && now_s > e->begin_s ? (now_s - e->begin_s) / e->loop_s * e->loop_s : 0;
}

bool openadr_event_at(const OpenadrEvent *e, int64_t now_s, OpenadrInterval *ret)
{
	int64_t later_s = round_of(e, now_s);

	if (!e->n || now_s < e->begin_s || now_s >= e->end_s)
		return false;
	for (size_t i = e->n; i-- > 0;) {
		const OpenadrInterval *v = &e->intervals[i];

		if (now_s - later_s < v->begin_s || now_s - later_s >= v->end_s)
			continue;
		*ret = *v;
		ret->begin_s += later_s;
		ret->end_s = MIN(openadr_add(v->end_s, later_s), e->end_s);
		return true;
	}
	return false;
}

static void note(int64_t at_s, int64_t now_s, int64_t *change_s)
{
	if (at_s > now_s)
		*change_s = MIN(*change_s, at_s);
}

int64_t openadr_event_changes(const OpenadrEvent *e, int64_t now_s)
{
	int64_t change_s = OPENADR_NEVER, later_s = round_of(e, now_s);

	if (!e->n || now_s >= e->end_s)
		return OPENADR_NEVER;
	note(e->end_s, now_s, &change_s);
	for (size_t i = 0; i < e->n; i++) {
		note(openadr_add(e->intervals[i].begin_s, later_s), now_s, &change_s);
		note(openadr_add(e->intervals[i].end_s, later_s), now_s, &change_s);
	}
	if (e->loop_s)
		note(openadr_add(e->begin_s, later_s + e->loop_s), now_s, &change_s);
	return change_s;
}
