/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Method calls that are answered later, while the loop goes on. Control holds on to each until it
 * has called back, which may be after the bus was closed: `bus` is NULL then, and there is nobody
 * left to answer. */

#include <errno.h>

#include "base/log.h"
#include "bus/bus-internal.h"

Call *bus_call_new(Bus *b, sd_bus_message *m)
{
	Call *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	*c = (Call){ .bus = b, .message = sd_bus_message_ref(m), .next = b->calls };
	b->calls = c;
	return c;
}

Call *bus_call_free(Call *c)
{
	for (Call **at = c->bus ? &c->bus->calls : NULL; at && *at; at = &(*at)->next)
		if (*at == c) {
			*at = c->next;
			break;
		}
	sd_bus_message_unref(c->message);
	free(c);
	return NULL;
}

void bus_call_note_sent(int r, const char *what)
{
	if (r < 0)
		log_warning_errno(r, "Cannot send %s on the bus", what);
}

/* Callers who still wait get no answer; the bus tells them that we have left it. */
void bus_calls_abandon(Bus *b)
{
	for (Call *c = b->calls, *next; c; c = next) {
		next = c->next;
		c->message = sd_bus_message_unref(c->message);
		c->bus = NULL;
		c->next = NULL;
	}
	b->calls = NULL;
}
