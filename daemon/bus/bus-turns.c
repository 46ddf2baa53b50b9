/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Whose turn it is. sd-bus hands on calls as they come, and an answer that anybody may ask for
 * takes milliseconds. So that nobody can delay a limit by asking, calls of those who may change
 * something are handed on at once; those of all others wait, a queue for each user, and are
 * answered one at a time for a fifth of the time at most. Beyond WAITING_MOST a user's calls are
 * refused, one every REFUSAL_US: who asks again as soon as he is refused would otherwise fill the
 * pipe from dbus-daemon to us, and limits would stand in it behind thousands of questions.
 *
 * The bus is asked once whose a connection is; until it has answered, its calls are held. What has
 * waited goes through sd-bus's own queue again (sd_bus_enqueue_for_read()) and is then known by
 * `passing`. */

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "bus/bus-senders.h"

#define WAITING_MOST  64   /* calls of one user */
#define HELD_MOST     1024 /* calls of a connection, until it is known whose it is */
#define REFUSAL_US    (2 * USEC_PER_MSEC)
#define REFUSALS_MOST 16384 /* then the oldest one goes out at once */
#define REST_SHARE    4     /* so many times as long as an answer took others come first */

typedef struct User {
	uid_t uid;
	Line waiting;
	struct User *next;
} User;

struct Turns {
	sd_bus *bus;
	sd_bus_slot *filter;
	sd_event_source *timer, *refusal_timer;
	Clock clock;
	Senders senders;
	User *users;         /* who wait, the next one first */
	Line refusals;       /* yet to be sent */
	Line passing;        /* on their way through sd-bus's queue */
	uint64_t through_us; /* when the last one had come through */
};

static int arm(sd_event_source *timer, uint64_t in_us)
{
	int r = sd_event_source_set_time_relative(timer, in_us);

	return r < 0 ? r : sd_event_source_set_enabled(timer, SD_EVENT_ONESHOT);
}

/* Back into sd-bus's queue, behind what is there. */
static int pass(Turns *t, sd_bus_message *m, Sender *s)
{
	int r = sd_bus_enqueue_for_read(t->bus, m);

	if (r >= 0)
		r = line_add(&t->passing, m, s);
	if (r >= 0)
		s->n_passing++;
	return r;
}

static User *find_user(Turns *t, uid_t uid)
{
	User **at = &t->users;

	while (*at && (*at)->uid != uid)
		at = &(*at)->next;
	if (!*at) {
		*at = calloc(1, sizeof(**at));
		if (*at)
			(*at)->uid = uid;
	}
	return *at;
}

static int send_refusal(Turns *t)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	Sender *s;

	m = line_take(&t->refusals, &s);
	return m ? sd_bus_send(t->bus, m, NULL) : 0;
}

static int on_refusal_due(sd_event_source *source, uint64_t usec, void *userdata)
{
	Turns *t = userdata;
	int r = send_refusal(t);

	(void)usec;
	if (r >= 0 && t->refusals.n)
		r = arm(source, REFUSAL_US);
	bus_call_note_sent(r, "that too many calls wait");
	return 0;
}

/* The refusal is kept, and not the call, which may be large. */
static int refuse(Turns *t, sd_bus_message *m)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *refusal = NULL;
	int r;

	if (!sd_bus_message_get_expect_reply(m))
		return 1;
	r = sd_bus_message_new_method_errorf(
		m, &refusal, SD_BUS_ERROR_LIMITS_EXCEEDED,
		"%d of your calls wait for their answers already: ask again when they are there, "
		"and less at a time",
		WAITING_MOST);
	if (r >= 0)
		r = line_add(&t->refusals, refusal, NULL);
	if (r >= 0 && t->refusals.n > REFUSALS_MOST)
		r = send_refusal(t);
	if (r >= 0 && t->refusals.n == 1)
		r = arm(t->refusal_timer, REFUSAL_US);
	return r < 0 ? r : 1;
}

static int wait_in_line(Turns *t, sd_bus_message *m, Sender *s)
{
	User *u = find_user(t, s->uid);
	int r = u ? 0 : -ENOMEM;

	if (r >= 0 && u->waiting.n >= WAITING_MOST)
		return refuse(t, m);
	if (r >= 0)
		r = line_add(&u->waiting, m, s);
	if (r < 0)
		return r;
	s->n_waiting++;
	r = sd_event_source_set_enabled(t->timer, SD_EVENT_ONESHOT);
	return r < 0 ? r : 1;
}

/* What it sent while nobody knew who it is. */
static void let_held_go(Sender *s, void *userdata)
{
	Turns *t = userdata;
	sd_bus_message *m;
	Sender *self;

	while ((m = line_take(&s->held, &self))) {
		int r = bus_may_change(s->uid) ? pass(t, m, s) : wait_in_line(t, m, s);

		if (r < 0)
			log_warning_errno(r, "A call of %s is not answered", s->name);
		sd_bus_message_unref(m);
	}
}

static int hold(Turns *t, sd_bus_message *m, Sender *s)
{
	int r;

	if (s->held.n >= HELD_MOST)
		return refuse(t, m);
	r = line_add(&s->held, m, s);
	if (r < 0)
		return r;
	senders_ask(&t->senders);
	return 1;
}

/* True: this call has had its turn. */
static bool has_passed(Turns *t, sd_bus_message *m)
{
	Sender *s;

	if (!t->passing.first || t->passing.first->message != m)
		return false;
	sd_bus_message_unref(line_take(&t->passing, &s));
	s->n_passing--;
	t->through_us = clock_now_us(&t->clock);
	return true;
}

static int on_message(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	Turns *t = userdata;
	const char *name = sd_bus_message_get_sender(m);
	Sender *s;

	(void)error;
	if (!name || !sd_bus_message_is_method_call(m, NULL, NULL) || has_passed(t, m))
		return 0;
	s = senders_find(&t->senders, name);
	if (!s)
		return -ENOMEM;
	if (s->state != SENDER_KNOWN)
		return hold(t, m, s);
	if (!bus_may_change(s->uid))
		return wait_in_line(t, m, s);
	if (!s->n_passing)
		return 0;
	/* behind those of the same sender that are on their way */
	return pass(t, m, s) < 0 ? -ENOMEM : 1;
}

uid_t bus_turns_uid(Turns *t, sd_bus_message *m)
{
	Sender *s = senders_find(&t->senders, sd_bus_message_get_sender(m));

	return s ? s->uid : (uid_t)-1;
}

/* Those of the users in turn. */
static sd_bus_message *take_next(Turns *t, Sender **ret_sender)
{
	User *u = t->users, **end = &t->users;
	sd_bus_message *m;

	if (!u)
		return NULL;
	m = line_take(&u->waiting, ret_sender);
	t->users = u->next;
	if (!u->waiting.n) {
		free(u);
		return m;
	}
	while (*end)
		end = &(*end)->next;
	*end = u;
	u->next = NULL;
	return m;
}

/* Returns how long that took. What is in sd-bus's queue before it comes first. */
static uint64_t answer(Turns *t, sd_bus_message *m, Sender *s)
{
	int r = pass(t, m, s);

	s->n_waiting--;
	t->through_us = 0;
	while (r >= 0 && !t->through_us) {
		r = sd_bus_process(t->bus, NULL);
		if (r == 0)
			return 0;
	}
	return t->through_us ? clock_now_us(&t->clock) - t->through_us : 0;
}

static int on_turn(sd_event_source *source, uint64_t usec, void *userdata)
{
	Turns *t = userdata;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	Sender *s;
	uint64_t took_us;
	int r;

	(void)usec;
	m = take_next(t, &s);
	if (!m)
		return 0;
	took_us = answer(t, m, s);
	r = arm(source, REST_SHARE * took_us);
	if (r >= 0 && !t->users)
		r = sd_event_source_set_enabled(source, SD_EVENT_OFF);
	if (r < 0)
		log_warning_errno(r, "Calls of unprivileged users are not answered");
	return 0;
}

static int add_timer(Bus *b, sd_event_source **ret, sd_event_time_handler_t then)
{
	int r = sd_event_add_time_relative(b->event, ret, CLOCK_BOOTTIME, 0, 1, then, b->turns);

	return r < 0 ? r : sd_event_source_set_enabled(*ret, SD_EVENT_OFF);
}

int bus_turns_begin(Bus *b)
{
	Turns *t = b->turns = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return -ENOMEM;
	t->bus = b->bus;
	t->senders = (Senders){ .bus = b->bus, .known = let_held_go, .userdata = t };
	t->clock = b->config.clock;
	r = add_timer(b, &t->timer, on_turn);
	if (r >= 0)
		r = add_timer(b, &t->refusal_timer, on_refusal_due);
	if (r >= 0)
		r = sd_bus_add_filter(b->bus, &t->filter, on_message, t);
	return r;
}

Turns *bus_turns_end(Turns *t)
{
	if (!t)
		return NULL;
	sd_bus_slot_unref(t->filter);
	sd_event_source_disable_unref(t->timer);
	sd_event_source_disable_unref(t->refusal_timer);
	line_done(&t->refusals);
	line_done(&t->passing);
	for (User *u = t->users, *next; u; u = next) {
		next = u->next;
		line_done(&u->waiting);
		free(u);
	}
	senders_done(&t->senders);
	free(t);
	return NULL;
}
