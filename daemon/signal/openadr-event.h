/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Events of OpenADR 3, as a VTN tells them. Pure. */

#include <json-c/json.h>
#include <stdbool.h>

#include "base/cleanup.h"
#include "signal/openadr-time.h"

/* What an interval may say that limits something. */
typedef enum OpenadrKind {
	OPENADR_SIMPLE,      /* a level from 0 to 3 */
	OPENADR_LIMIT,       /* IMPORT_CAPACITY_LIMIT; this and the next are in watts */
	OPENADR_SUBSCRIBED,  /* IMPORT_CAPACITY_SUBSCRIPTION */
	OPENADR_RESERVATION, /* IMPORT_CAPACITY_RESERVATION, on top of what is subscribed */
	_OPENADR_KIND_MAX,
} OpenadrKind;

enum { OPENADR_USAGE = 1, OPENADR_DEMAND = 2 }; /* what reports are asked for */

typedef struct OpenadrInterval {
	int64_t id;
	int64_t begin_s, end_s;           /* OPENADR_NEVER */
	double values[_OPENADR_KIND_MAX]; /* NaN: it does not say */
} OpenadrInterval;

typedef struct OpenadrEvent {
	char *id, *program, *name; /* a name of "" is none */
	char **targets;         /* "VALUE", or "TYPE\nVALUE" as OpenADR 3.0 has it; NULL: for all */
	int64_t priority;       /* the lower, the more it counts; INT64_MAX: it has none */
	int64_t begin_s, end_s; /* of all of it */
	int64_t loop_s;         /* its intervals come again after so long; 0: they do not */
	unsigned reports;       /* OPENADR_USAGE | OPENADR_DEMAND */
	OpenadrInterval *intervals; /* of the first round, in the order in which they were told */
	size_t n;
} OpenadrEvent;

typedef struct OpenadrEvents {
	OpenadrEvent *list;
	size_t n;
} OpenadrEvents;

void openadr_event_done(OpenadrEvent *e);
void openadr_events_done(OpenadrEvents *e);
/* Adds the event of a JSON object. `descriptors` are the payloadDescriptors of its program, or
 * NULL. `salt` is what spreads its start, where that is to be random: the name of this node.
 * -EBADMSG: it cannot be used, and `why` says what is wrong and where. -ENOMEM. */
int openadr_events_add(OpenadrEvents *events, json_object *event, json_object *descriptors,
		       const char *salt, char *why, size_t size);

/* The interval in which the event is at this time, with the times of this round; of several that
 * overlap, the one that was told last. False: it is in none. */
bool openadr_event_at(const OpenadrEvent *e, int64_t now_s, OpenadrInterval *ret);
/* When that changes next; OPENADR_NEVER. */
int64_t openadr_event_changes(const OpenadrEvent *e, int64_t now_s);

/* "SIMPLE" */
const char *openadr_kind_name(OpenadrKind kind);
