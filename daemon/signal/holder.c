/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "signal/holder.h"

#include <errno.h>
#include <string.h>

#include "base/bus-connect.h"
#include "base/clock.h"
#include "base/log.h"
#include "signal/holder-private.h"

#define LOOK_AGAIN_US    USEC_PER_SEC        /* for the bus */
#define AFTER_REFUSAL_US (30 * USEC_PER_SEC) /* each refusal is logged */

/* A claim, or what is to become one. */
typedef struct Held {
	struct Held *next;
	Holder *holder;
	Wish wish;
	bool wanted;
	bool told;         /* the daemon has the wish as it is */
	bool refused;      /* not again before a while is over */
	uint64_t cookie;   /* 0: there is no claim */
	sd_bus_slot *call; /* whose answer is yet to come */
} Held;

struct Holder {
	sd_event *event;
	sd_event_source *retry;
	char *address, *source;
	sd_bus *bus;     /* NULL: there is none now */
	bool no_daemon;  /* it was not there at the last call */
	bool complained; /* of the bus or the daemon */
	Held *first;
};

static void step_all(Holder *h);

static Held *held_free(Held *d)
{
	sd_bus_slot_unref(d->call);
	wish_done(&d->wish);
	free(d);
	return NULL;
}

static void retry_in(Holder *h, uint64_t us)
{
	if (sd_event_source_set_time_relative(h->retry, us) < 0 ||
	    sd_event_source_set_enabled(h->retry, SD_EVENT_ONESHOT) < 0)
		log_error("Claims cannot be tried again: restart this service");
}

/* Said once, until it has changed. */
static void complain_once(Holder *h, int r, const char *what)
{
	if (!h->complained)
		log_warning_errno(r, "%s: nothing is limited by %s until that is back", what,
				  h->source);
	h->complained = true;
}

/* Its return is told by the bus, but not that one which did not answer in time does so again. */
static void lose_daemon(Holder *h)
{
	h->no_daemon = true;
	retry_in(h, AFTER_REFUSAL_US);
	complain_once(h, 0, "storpowerd does not answer");
}

static void tell_of(const Held *d, const char *what)
{
	char target[256];

	log_info("%s %s to %g %s: %s", what, wish_target_words(&d->wish, target, sizeof(target)),
		 d->wish.limit, d->wish.unit == LIMIT_WATTS ? "W" : "%", d->wish.reason);
}

static void refuse(Held *d, const sd_bus_error *e)
{
	char target[256];

	log_warning("The limit of the %s (%s) is refused: %s; it is tried again in %llu s",
		    wish_target_words(&d->wish, target, sizeof(target)), d->wish.reason,
		    e->message ?: e->name, AFTER_REFUSAL_US / USEC_PER_SEC);
	d->refused = true;
	retry_in(d->holder, AFTER_REFUSAL_US);
}

static int on_claimed(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	Held *d = userdata;
	Answer a = answer_of(reply);

	(void)error;
	d->call = sd_bus_slot_unref(d->call);
	if (a == ANSWER_NO_DAEMON) {
		lose_daemon(d->holder);
	} else if (a != ANSWER_DONE) {
		refuse(d, sd_bus_message_get_error(reply));
	} else if (sd_bus_message_read(reply, "t", &d->cookie) >= 0) {
		d->holder->complained = false;
		tell_of(d, "Limited");
	}
	step_all(d->holder);
	return 0;
}

static int on_updated(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	Held *d = userdata;
	Answer a = answer_of(reply);

	(void)error;
	d->call = sd_bus_slot_unref(d->call);
	if (a == ANSWER_NO_CLAIM)
		d->cookie = 0;
	else if (a == ANSWER_NO_DAEMON)
		lose_daemon(d->holder);
	else if (a == ANSWER_REFUSED)
		refuse(d, sd_bus_message_get_error(reply));
	if (a != ANSWER_DONE)
		d->told = false;
	else
		d->holder->complained = false;
	step_all(d->holder);
	return 0;
}

static int on_released(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	Held *d = userdata;
	Answer a = answer_of(reply);

	(void)error;
	d->call = sd_bus_slot_unref(d->call);
	if (a == ANSWER_NO_DAEMON)
		lose_daemon(d->holder);
	else if (a == ANSWER_REFUSED)
		refuse(d, sd_bus_message_get_error(reply));
	else
		d->cookie = 0;
	step_all(d->holder);
	return 0;
}

/* The call that brings the claim nearer to the wish; NULL: none is needed. */
static int next_call(Held *d, sd_bus_message **ret, sd_bus_message_handler_t *ret_handler)
{
	Holder *h = d->holder;

	if (d->wanted && !d->cookie) {
		*ret_handler = on_claimed;
		return message_set_budget(h->bus, &d->wish, h->source, ret);
	}
	if (d->wanted && !d->told) {
		*ret_handler = on_updated;
		return message_update(h->bus, &d->wish, d->cookie, ret);
	}
	*ret_handler = on_released;
	return d->wanted || !d->cookie ? 0 : message_release(h->bus, d->cookie, ret);
}

static void step(Held *d)
{
	_cleanup_message_ sd_bus_message *m = NULL;
	sd_bus_message_handler_t handler;
	int r;

	if (d->call || d->refused)
		return;
	r = next_call(d, &m, &handler);
	if (r >= 0 && m)
		r = sd_bus_call_async(d->holder->bus, &d->call, m, handler, d, 0);
	if (r >= 0 && m)
		d->told = true;
	if (r < 0) {
		log_warning_errno(r, "The limit \"%s\" cannot be sent: trying again", d->wish.key);
		d->refused = true;
		retry_in(d->holder, AFTER_REFUSAL_US);
	}
}

static void forget_what_ended(Holder *h)
{
	for (Held **at = &h->first; *at;) {
		Held *d = *at;

		if (d->wanted || d->call || d->cookie) {
			at = &d->next;
			continue;
		}
		*at = d->next;
		held_free(d);
	}
}

/* First what lowers: calls are answered in their order. */
static void step_all(Holder *h)
{
	if (!h->bus || h->no_daemon)
		return;
	for (Held *d = h->first; d; d = d->next)
		if (d->wanted)
			step(d);
	for (Held *d = h->first; d; d = d->next)
		if (!d->wanted)
			step(d);
	forget_what_ended(h);
}

/* A daemon that is new here has kept the claims, or has lost them: it is told of each. */
static int on_owner_changed(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	Holder *h = userdata;
	const char *name, *old, *new;

	(void)error;
	if (sd_bus_message_read(m, "sss", &name, &old, &new) < 0)
		return 0;
	h->no_daemon = !*new;
	for (Held *d = h->first; d; d = d->next)
		d->told = d->refused = false;
	step_all(h);
	return 0;
}

/* Without a connection there is no owner, and the claims have ended. */
static void lose_bus(Holder *h)
{
	for (Held *d = h->first; d; d = d->next) {
		d->call = sd_bus_slot_unref(d->call);
		d->told = d->refused = false;
		d->cookie = 0;
	}
	(void)sd_bus_detach_event(h->bus);
	h->bus = sd_bus_close_unref(h->bus);
	forget_what_ended(h);
	retry_in(h, LOOK_AGAIN_US);
}

static int on_disconnected(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	Holder *h = userdata;

	(void)m, (void)error;
	complain_once(h, 0, "The bus has gone");
	lose_bus(h);
	return 0;
}

static int watch_bus(Holder *h)
{
	int r = sd_bus_attach_event(h->bus, h->event, SD_EVENT_PRIORITY_NORMAL);

	if (r >= 0)
		r = sd_bus_match_signal(h->bus, NULL, NULL, "/org/freedesktop/DBus/Local",
					"org.freedesktop.DBus.Local", "Disconnected",
					on_disconnected, h);
	if (r >= 0)
		r = sd_bus_add_match(h->bus, NULL,
				     "type='signal',sender='org.freedesktop.DBus',"
				     "member='NameOwnerChanged',arg0='" BUS_NAME "'",
				     on_owner_changed, h);
	return r;
}

static void connect_bus(Holder *h)
{
	int r = bus_connect(h->address, &h->bus);

	if (r >= 0)
		r = watch_bus(h);
	h->no_daemon = false;
	if (r >= 0)
		return;
	complain_once(h, r, "The bus cannot be reached");
	if (h->bus)
		lose_bus(h);
	else
		retry_in(h, LOOK_AGAIN_US);
}

static int on_retry(sd_event_source *s, uint64_t usec, void *userdata)
{
	Holder *h = userdata;

	(void)s, (void)usec;
	h->no_daemon = false;
	for (Held *d = h->first; d; d = d->next)
		d->refused = false;
	if (!h->bus)
		connect_bus(h);
	step_all(h);
	return 0;
}

int holder_new(sd_event *event, const char *address, const char *source, Holder **ret)
{
	_cleanup_(holder_freep) Holder *h = calloc(1, sizeof(*h));
	int r;

	if (!h)
		return -ENOMEM;
	h->event = sd_event_ref(event);
	h->address = strdup(address);
	h->source = strdup(source);
	if (!h->address || !h->source)
		return -ENOMEM;
	r = sd_event_add_time(event, &h->retry, CLOCK_BOOTTIME, 0, 0, on_retry, h);
	if (r >= 0)
		r = sd_event_source_set_enabled(h->retry, SD_EVENT_OFF);
	if (r < 0)
		return r;
	connect_bus(h);
	*ret = TAKE_PTR(h);
	return 0;
}

Holder *holder_free(Holder *h)
{
	if (!h)
		return NULL;
	for (Held *d = h->first, *next; d; d = next) {
		next = d->next;
		held_free(d);
	}
	if (h->bus)
		(void)sd_bus_detach_event(h->bus);
	sd_bus_close_unref(h->bus);
	sd_event_source_disable_unref(h->retry);
	sd_event_unref(h->event);
	free(h->address);
	free(h->source);
	free(h);
	return NULL;
}

sd_bus *holder_bus(const Holder *h)
{
	return h->bus;
}

static Held *find(Holder *h, const Wish *w)
{
	for (Held *d = h->first; d; d = d->next)
		if (wish_is_same(&d->wish, w))
			return d;
	return NULL;
}

static int add(Holder *h, const Wish *w)
{
	Held *d = calloc(1, sizeof(*d));

	if (!d || wish_copy(w, &d->wish) < 0) {
		free(d);
		return -ENOMEM;
	}
	d->holder = h;
	d->next = h->first;
	h->first = d;
	return 0;
}

static void want(Held *d, Wish *copy)
{
	d->wanted = true;
	if (wish_is_equal(&d->wish, copy))
		return;
	wish_done(&d->wish);
	d->wish = *copy;
	*copy = (Wish){ 0 };
	d->told = d->refused = false;
}

static int copy_all(const Wishes *wishes, Wishes *ret)
{
	for (size_t i = 0; i < wishes->n; i++) {
		Wish copy;

		if (wish_copy(&wishes->list[i], &copy) < 0 || wishes_add(ret, &copy) < 0)
			return -ENOMEM;
	}
	return 0;
}

int holder_hold(Holder *h, const Wishes *wishes)
{
	_cleanup_(wishes_done) Wishes copies = { 0 };
	int r = copy_all(wishes, &copies);

	for (size_t i = 0; r >= 0 && i < copies.n; i++)
		if (!find(h, &copies.list[i]))
			r = add(h, &copies.list[i]);
	if (r < 0)
		return r; /* what was added is not wanted, and is forgotten at the next step */
	for (Held *d = h->first; d; d = d->next)
		d->wanted = false;
	for (size_t i = 0; i < copies.n; i++)
		want(find(h, &copies.list[i]), &copies.list[i]);
	step_all(h);
	return 0;
}
