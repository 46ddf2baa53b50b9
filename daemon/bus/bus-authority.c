/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Who may call what. Root and the user who runs the daemon may call everything. About everybody
 * else polkit is asked, and the loop goes on meanwhile: it may take minutes until somebody has
 * typed a password. The call is kept until then, and handled again from its beginning when polkit
 * allows it. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "bus/bus-internal.h"

#define POLKIT_NAME      "org.freedesktop.PolicyKit1"
#define POLKIT_PATH      "/org/freedesktop/PolicyKit1/Authority"
#define POLKIT_INTERFACE "org.freedesktop.PolicyKit1.Authority"

#define ALLOW_USER_INTERACTION 1U
#define INTERACTION_US         (600 * USEC_PER_SEC)
#define USERS_MOST             16 /* questions about one user's calls */
/* dbus-daemon lets a connection wait for 128 answers or more; bus-senders.c takes 64 of them. */
#define QUESTIONS_MOST 48

typedef struct Question {
	Bus *bus;
	sd_bus_message *call;
	const BusPermit *permit;
	uid_t uid;
	uint64_t number;   /* by which it is cancelled */
	sd_bus_slot *slot; /* NULL: it is answered */
	struct Question *next;
} Question;

struct Authority {
	Question *first;
	size_t n;
	uint64_t last_number;
	sd_bus_slot *vanished;
};

static const struct {
	const char *id;
	bool is_open; /* without polkit it is everybody's, who looks and changes nothing */
} actions[] = {
	[ACTION_SET_BUDGET] = { "org.storpower1.set-budget", false },
	[ACTION_RELEASE_OTHER] = { "org.storpower1.release-other", false },
	[ACTION_POLICY] = { "org.storpower1.policy", false },
	[ACTION_INSPECT] = { "org.storpower1.inspect", true },
	[ACTION_CALIBRATE] = { "org.storpower1.calibrate", false },
	[ACTION_WAKE] = { "org.storpower1.wake", false },
};

/* Root may, and the user who runs the daemon, who may be a plain user on a private bus. */
bool bus_may_change(uid_t uid)
{
	return uid == 0 || uid == geteuid();
}

static Question *question_of(const Bus *b, sd_bus_message *call)
{
	Question *q = b->authority->first;

	while (q && q->call != call)
		q = q->next;
	return q;
}

uid_t bus_caller(Bus *b, sd_bus_message *m)
{
	const Question *q = question_of(b, m);

	return q ? q->uid : bus_turns_uid(b->turns, m);
}

static void question_free(Question *q)
{
	Authority *a = q->bus->authority;
	Question **at = &a->first;

	while (*at != q)
		at = &(*at)->next;
	*at = q->next;
	if (!--a->n)
		a->vanished = sd_bus_slot_unref(a->vanished);
	sd_bus_slot_unref(q->slot);
	sd_bus_message_unref(q->call);
	free(q);
}

/* bus-turns.c bounds the time that answers take, but not that of what is answered later, such as
 * plans and questions to polkit, nor what the devices are asked for an answer. */
static int charge(Bus *b, sd_bus_message *m, uid_t uid, double tokens, sd_bus_error *error)
{
	uint64_t in_us = buckets_take(&b->buckets, uid, tokens, clock_now_us(&b->config.clock));

	if (!in_us)
		return 0;
	return sd_bus_error_setf(
		error, BUS_ERROR_TOO_OFTEN,
		"%s: uid %u asks too often for what is costly: come again in %.1f s",
		sd_bus_message_get_member(m), (unsigned)uid,
		ceil((double)in_us / USEC_PER_SEC * 10) / 10);
}

static bool is_without_polkit(const sd_bus_error *e)
{
	return sd_bus_error_has_name(e, SD_BUS_ERROR_SERVICE_UNKNOWN) ||
	       sd_bus_error_has_name(e, SD_BUS_ERROR_NAME_HAS_NO_OWNER) ||
	       !strncmp(e->name, "org.freedesktop.DBus.Error.Spawn.", 33) ||
	       !strncmp(e->name, "org.freedesktop.systemd1.", 25);
}

static int judge_failure(const Question *q, const sd_bus_error *why, sd_bus_error *error)
{
	const char *member = sd_bus_message_get_member(q->call);

	if (!is_without_polkit(why))
		return sd_bus_error_setf(error, BUS_ERROR_NOT_AUTHORIZED,
					 "%s: polkit does not say whether uid %u may: %s: try "
					 "again, or sudo",
					 member, (unsigned)q->uid, why->message ?: why->name);
	if (actions[q->permit->action].is_open)
		return 0;
	return sd_bus_error_setf(error, BUS_ERROR_NOT_AUTHORIZED,
				 "%s is for root alone while polkit, which could allow it to "
				 "others, is not on the bus; you are uid %u: try sudo",
				 member, (unsigned)q->uid);
}

/* 0: polkit allows it. */
static int judge(const Question *q, sd_bus_message *reply, sd_bus_error *error)
{
	const char *id = actions[q->permit->action].id,
		   *member = sd_bus_message_get_member(q->call);
	int allowed, needs_password;
	int r;

	if (sd_bus_message_is_method_error(reply, NULL))
		return judge_failure(q, sd_bus_message_get_error(reply), error);
	r = sd_bus_message_enter_container(reply, 'r', "bba{ss}");
	if (r >= 0)
		r = sd_bus_message_read(reply, "bb", &allowed, &needs_password);
	if (r < 0)
		return r;
	if (allowed)
		return 0;
	if (needs_password)
		return sd_bus_error_setf(
			error, SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED,
			"%s: polkit wants a password for the action %s, and there is nobody whom "
			"it could ask here: try sudo",
			member, id);
	return sd_bus_error_setf(error, BUS_ERROR_NOT_AUTHORIZED,
				 "%s: polkit does not allow uid %u the action %s: try sudo, or "
				 "see storpowerd(8) for a rule that allows it",
				 member, (unsigned)q->uid, id);
}

static void cancel(const Question *q)
{
	char number[32];

	snprintf(number, sizeof(number), "%llu", (unsigned long long)q->number);
	bus_call_note_sent(sd_bus_call_method_async(q->bus->bus, NULL, POLKIT_NAME, POLKIT_PATH,
						    POLKIT_INTERFACE, "CancelCheckAuthorization",
						    NULL, NULL, "s", number),
			   "to polkit that a question is void");
}

static int on_answer(sd_bus_message *reply, void *userdata, sd_bus_error *unused)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	Question *q = userdata;
	int r;

	(void)unused;
	q->slot = sd_bus_slot_unref(q->slot);
	if (sd_bus_message_is_method_error(reply, SD_BUS_ERROR_NO_REPLY) ||
	    sd_bus_message_is_method_error(reply, SD_BUS_ERROR_TIMEOUT))
		cancel(q); /* nobody waits for its dialogue any more */
	r = judge(q, reply, &error);
	if (r >= 0)
		r = sd_bus_message_rewind(q->call, true);
	if (r >= 0)
		r = q->permit->handler(q->call, q->bus, &error);
	if (r < 0)
		bus_call_note_sent(sd_bus_reply_method_errno(q->call, r, &error),
				   "why a call is refused");
	question_free(q);
	return 1;
}

static int on_caller_vanished(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	Bus *b = userdata;
	const char *name;
	int r = sd_bus_message_read(m, "s", &name);

	(void)error;
	for (Question *q = r < 0 ? NULL : b->authority->first, *next; q; q = next) {
		next = q->next;
		if (!q->slot || !streq(sd_bus_message_get_sender(q->call), name))
			continue;
		cancel(q);
		question_free(q);
	}
	return r < 0 ? r : 0;
}

static int on_listening(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	(void)userdata, (void)error;
	if (sd_bus_message_is_method_error(reply, NULL))
		log_warning("The bus does not tell when a caller leaves it: polkit asks for "
			    "passwords on behalf of who has left");
	return 0;
}

static int ask(Question *q)
{
	bool interactive = sd_bus_message_get_allow_interactive_authorization(q->call) > 0;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	Bus *b = q->bus;
	char number[32];
	int r = 0;

	if (!b->authority->vanished)
		r = sd_bus_add_match_async(b->bus, &b->authority->vanished, BUS_NAME_VANISHED,
					   on_caller_vanished, on_listening, b);
	if (r >= 0)
		r = sd_bus_message_new_method_call(b->bus, &m, POLKIT_NAME, POLKIT_PATH,
						   POLKIT_INTERFACE, "CheckAuthorization");
	snprintf(number, sizeof(number), "%llu", (unsigned long long)q->number);
	if (r >= 0)
		r = sd_bus_message_append(m, "(sa{sv})sa{ss}us", "system-bus-name", 1, "name", "s",
					  sd_bus_message_get_sender(q->call),
					  actions[q->permit->action].id, 0,
					  interactive ? ALLOW_USER_INTERACTION : 0U, number);
	if (r < 0)
		return r;
	return sd_bus_call_async(b->bus, &q->slot, m, on_answer, q,
				 interactive ? INTERACTION_US : 0);
}

static size_t questions_about(const Authority *a, uid_t uid)
{
	size_t n = 0;

	for (const Question *q = a->first; q; q = q->next)
		n += q->uid == uid;
	return n;
}

static int put_question(Bus *b, sd_bus_message *m, uid_t uid, const BusPermit *permit,
			sd_bus_error *error)
{
	Authority *a = b->authority;
	Question *q;
	int r;

	if (a->n >= QUESTIONS_MOST || questions_about(a, uid) >= USERS_MOST)
		return sd_bus_error_setf(error, BUS_ERROR_TOO_OFTEN,
					 "%s: polkit has not answered yet about so many calls of "
					 "uid %u or others: call again when they are done",
					 sd_bus_message_get_member(m), (unsigned)uid);
	q = calloc(1, sizeof(*q));
	if (!q)
		return -ENOMEM;
	*q = (Question){ .bus = b,
			 .call = sd_bus_message_ref(m),
			 .permit = permit,
			 .uid = uid,
			 .number = ++a->last_number,
			 .next = a->first };
	a->first = q;
	a->n++;
	r = ask(q);
	if (r < 0)
		question_free(q);
	return r < 0 ? r : 1;
}

int bus_authorize(Bus *b, sd_bus_message *m, const BusPermit *permit, sd_bus_error *error)
{
	const Question *q = question_of(b, m);
	uid_t uid = bus_caller(b, m);
	int r;

	if (bus_may_change(uid) || (q && q->permit == permit && !q->slot))
		return 0;
	if (uid == (uid_t)-1)
		return sd_bus_error_setf(error, BUS_ERROR_NOT_AUTHORIZED,
					 "%s: the bus does not tell who is calling: try again",
					 sd_bus_message_get_member(m));
	r = charge(b, m, uid, permit->tokens, error);
	return r < 0 ? r : put_question(b, m, uid, permit, error);
}

int bus_authority_begin(Bus *b)
{
	b->authority = calloc(1, sizeof(*b->authority));
	return b->authority ? 0 : -ENOMEM;
}

void bus_authority_end(Bus *b)
{
	while (b->authority && b->authority->first)
		question_free(b->authority->first);
	free(b->authority);
	b->authority = NULL;
}
