/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The connections that call, and whose they are; shared by bus-turns.c and bus-senders.c alone. */

#include "bus/bus-internal.h"

typedef struct Waiting {
	sd_bus_message *message;
	struct Sender *sender;
	struct Waiting *next;
} Waiting;

/* First in, first out. */
typedef struct Line {
	Waiting *first, *last;
	size_t n;
} Line;

/* The caller unrefs the message; NULL: the line is empty. */
int line_add(Line *l, sd_bus_message *m, struct Sender *s);
sd_bus_message *line_take(Line *l, struct Sender **ret_sender);
void line_done(Line *l);

typedef enum SenderState { SENDER_NEW, SENDER_ASKED, SENDER_KNOWN } SenderState;

/* A connection. */
typedef struct Sender {
	struct Senders *senders;
	char *name;
	SenderState state;
	uid_t uid;                   /* (uid_t)-1 until it is known */
	Line held;                   /* its calls, until then */
	size_t n_passing, n_waiting; /* of its calls, in the lines of others */
	sd_bus_slot *question;
	struct Sender *next;
} Sender;

typedef struct Senders {
	sd_bus *bus;
	void (*known)(Sender *s, void *userdata); /* or the bus would not say */
	void *userdata;
	Sender *first; /* the one that called last */
	size_t n, n_asked;
} Senders;

/* Finds it, or adds it; NULL: out of memory. */
Sender *senders_find(Senders *l, const char *name);
/* Asks the bus about those that have calls held. */
void senders_ask(Senders *l);
void senders_done(Senders *l);
