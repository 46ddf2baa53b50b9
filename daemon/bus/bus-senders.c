/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "bus/bus-senders.h"

#define ASKED_MOST   64   /* dbus-daemon lets a connection wait for 128 answers or more */
#define SENDERS_MOST 1024 /* connections that are remembered; names are never used twice */

int line_add(Line *l, sd_bus_message *m, Sender *s)
{
	Waiting *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	*w = (Waiting){ .message = sd_bus_message_ref(m), .sender = s };
	if (l->last)
		l->last->next = w;
	else
		l->first = w;
	l->last = w;
	l->n++;
	return 0;
}

sd_bus_message *line_take(Line *l, Sender **ret_sender)
{
	Waiting *w = l->first;
	sd_bus_message *m;

	if (!w)
		return NULL;
	m = w->message;
	*ret_sender = w->sender;
	l->first = w->next;
	if (!l->first)
		l->last = NULL;
	l->n--;
	free(w);
	return m;
}

void line_done(Line *l)
{
	sd_bus_message *m;
	Sender *s;

	while ((m = line_take(l, &s)))
		sd_bus_message_unref(m);
}

static void sender_free(Sender *s)
{
	line_done(&s->held);
	sd_bus_slot_unref(s->question);
	free(s->name);
	free(s);
}

void senders_done(Senders *l)
{
	while (l->first) {
		Sender *s = l->first;

		l->first = s->next;
		sender_free(s);
	}
	l->n = 0;
}

static bool waits_for_nothing(const Sender *s)
{
	return s->state != SENDER_ASKED && !s->held.n && !s->n_passing && !s->n_waiting;
}

/* Of those that wait for nothing the one that has not called for longest. */
static void forget_one(Senders *l)
{
	Sender **oldest = NULL, *gone;

	for (Sender **at = &l->first; *at; at = &(*at)->next)
		if (waits_for_nothing(*at))
			oldest = at;
	if (!oldest)
		return;
	gone = *oldest;
	*oldest = gone->next;
	l->n--;
	sender_free(gone);
}

static Sender *sender_new(Senders *l, const char *name)
{
	Sender *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	*s = (Sender){ .senders = l, .name = strdup(name), .uid = (uid_t)-1 };
	if (!s->name) {
		free(s);
		return NULL;
	}
	if (l->n >= SENDERS_MOST)
		forget_one(l);
	l->n++;
	return s;
}

/* It comes first in the list, so that it is soon found again. */
Sender *senders_find(Senders *l, const char *name)
{
	Sender **at = &l->first, *s;

	while (*at && !streq((*at)->name, name))
		at = &(*at)->next;
	s = *at;
	if (s)
		*at = s->next;
	else
		s = sender_new(l, name);
	if (s) {
		s->next = l->first;
		l->first = s;
	}
	return s;
}

static int on_user(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	Sender *s = userdata;
	Senders *l = s->senders;
	uint32_t uid;
	bool told =
		!sd_bus_message_is_method_error(m, NULL) && sd_bus_message_read(m, "u", &uid) > 0;

	(void)error;
	l->n_asked--;
	s->question = sd_bus_slot_unref(s->question);
	s->state = told ? SENDER_KNOWN : SENDER_NEW;
	if (told)
		s->uid = (uid_t)uid;
	l->known(s, l->userdata);
	senders_ask(l);
	return 1;
}

static int ask(Senders *l, Sender *s)
{
	int r = sd_bus_call_method_async(l->bus, &s->question, "org.freedesktop.DBus",
					 "/org/freedesktop/DBus", "org.freedesktop.DBus",
					 "GetConnectionUnixUser", on_user, s, "s", s->name);

	if (r < 0)
		return r;
	s->state = SENDER_ASKED;
	l->n_asked++;
	return 0;
}

void senders_ask(Senders *l)
{
	for (Sender *s = l->first; s && l->n_asked < ASKED_MOST; s = s->next)
		if (s->state == SENDER_NEW && s->held.n && ask(l, s) < 0)
			return;
}
