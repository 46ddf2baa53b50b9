/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Claims: made, changed, renewed, released. */

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/printable.h"
#include "bus/bus-internal.h"

#define MAKER_CREDS                                                                                \
	(SD_BUS_CREDS_PID | SD_BUS_CREDS_COMM | SD_BUS_CREDS_UNIT | SD_BUS_CREDS_AUGMENT)

/* Who asks. By the user it is decided who may change the claim later, and the rest is for people to
 * read. Where the caller does not say a source, its command's name is one. */
typedef struct Asking {
	ClaimMaker maker;
	char *source;
} Asking;

static void asking_clear(Asking *a)
{
	free(a->maker.unit);
	free(a->source);
}

static int find_asking(Bus *b, sd_bus_message *m, Asking *ret)
{
	_cleanup_(sd_bus_creds_unrefp) sd_bus_creds *creds = NULL;
	const char *comm = sd_bus_message_get_sender(m), *unit = "";
	pid_t pid = 0;

	if (sd_bus_query_sender_creds(m, MAKER_CREDS, &creds) >= 0) {
		(void)sd_bus_creds_get_comm(creds, &comm);
		(void)sd_bus_creds_get_unit(creds, &unit);
		(void)sd_bus_creds_get_pid(creds, &pid);
		ret->maker.pid = (uint32_t)pid;
	}
	ret->maker.known = true;
	ret->maker.uid = bus_caller(b, m);
	ret->source = printable_copy(comm);
	ret->maker.unit = *unit ? printable_copy(unit) : NULL;
	return ret->source && !*unit == !ret->maker.unit ? 0 : -ENOMEM;
}

int bus_caller_text(Bus *b, sd_bus_message *m, char **ret)
{
	_cleanup_(asking_clear) Asking a = {};
	int r = find_asking(b, m, &a);

	if (r < 0)
		return r;
	if (!a.maker.known)
		*ret = strdup(a.source);
	else if (a.maker.uid == 0)
		*ret = text_printf("%s (root)", a.source);
	else
		*ret = text_printf("%s (uid %u)", a.source, (unsigned)a.maker.uid);
	return *ret ? 0 : -ENOMEM;
}

/* The caller waits for the cookie, which is sent when the limit is enforced. */
static void on_enforced(void *userdata)
{
	_cleanup_(bus_call_freep) Call *c = userdata;

	if (c->bus)
		bus_call_note_sent(sd_bus_reply_method_return(c->message, "t", c->cookie),
				   "a claim's cookie");
}

static int own_claim(Bus *b, sd_bus_message *m, Claim *claim)
{
	claim->owner = (char *)sd_bus_message_get_sender(m);
	claim->bus = b->id;
	return bus_owner_watch(b, claim->owner);
}

static int add_claim(Bus *b, sd_bus_message *m, Claim *claim, bool standing, sd_bus_error *error)
{
	_cleanup_(bus_call_freep) Call *call = NULL;
	_cleanup_(asking_clear) Asking asking = {};
	_cleanup_free_ char *text = NULL;
	int r = find_asking(b, m, &asking);

	if (r < 0)
		return r;
	claim->maker = asking.maker;
	if (!claim->source)
		claim->source = asking.source;
	r = standing ? 0 : own_claim(b, m, claim);
	if (r < 0)
		return r;
	call = bus_call_new(b, m);
	if (!call)
		return -ENOMEM;
	r = control_add_claim(b->control, claim, &(ControlWait){ on_enforced, call }, &call->cookie,
			      &text);
	if (r >= 0) {
		TAKE_PTR(call);
		return 1;
	}
	bus_owners_prune(b);
	return bus_manager_error(error, r, text,
				 claim->pins ? BUS_ERROR_INVALID_OPTION : BUS_ERROR_INVALID_LIMIT,
				 BUS_ERROR_UNKNOWN_DEVICE);
}

int bus_set_budget(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	static const BusPermit to_limit = { ACTION_SET_BUDGET, bus_set_budget },
			       to_pin = { ACTION_CALIBRATE, bus_set_budget };
	Bus *b = userdata;
	BusOptions options = { .tolerance_seconds = NAN, .power_state = -1 };
	Claim claim = {};
	int r = bus_read_limit(m, &claim.limit, &claim.unit, error);

	if (r >= 0)
		r = bus_read_options(m, OPTIONS_OF_SET_BUDGET, &options, error);
	if (r >= 0)
		r = bus_claim_from_options(b, &options, &claim, error);
	if (r >= 0)
		r = bus_authorize(b, m, claim.pins ? &to_pin : &to_limit, error);
	if (r == 0)
		r = add_claim(b, m, &claim, options.standing, error);
	return r; /* answered when it is enforced */
}

static int unknown_claim(uint64_t cookie, sd_bus_error *error)
{
	return sd_bus_error_setf(error, BUS_ERROR_UNKNOWN_CLAIM,
				 "there is no claim %llu: see storpowerctl list --claims",
				 (unsigned long long)cookie);
}

/* Whoever was let make a claim may end it. */
static int may_release(Bus *b, sd_bus_message *m, uint64_t cookie, sd_bus_error *error)
{
	static const BusPermit permit = { ACTION_RELEASE_OTHER, bus_release };
	const Claim *c = claims_find(control_claims(b->control), cookie);

	if (!c)
		return unknown_claim(cookie, error);
	return claim_yields_to(c, bus_caller(b, m)) ? 0 : bus_authorize(b, m, &permit, error);
}

int bus_release(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	Bus *b = userdata;
	_cleanup_free_ char *text = NULL;
	uint64_t cookie;
	int r = sd_bus_message_read(m, "t", &cookie);

	if (r >= 0)
		r = may_release(b, m, cookie, error);
	if (r != 0)
		return r;
	r = control_release(b->control, cookie, &text);
	if (r < 0)
		return bus_manager_error(error, r, text, BUS_ERROR_UNKNOWN_CLAIM,
					 BUS_ERROR_UNKNOWN_CLAIM);
	return sd_bus_reply_method_return(m, NULL);
}

/* A claim is changed by whoever made it, and by those who may change anything. */
static int check_maker(Bus *b, sd_bus_message *m, uint64_t cookie, sd_bus_error *error)
{
	const Claim *c = claims_find(control_claims(b->control), cookie);
	uid_t uid = bus_caller(b, m);

	if (!c)
		return unknown_claim(cookie, error);
	if (bus_may_change(uid) || claim_yields_to(c, uid))
		return 0;
	return sd_bus_error_setf(
		error, BUS_ERROR_NOT_AUTHORIZED,
		"%s: claim %llu was made by uid %u, and only that user or root "
		"may change it: you are uid %u; make a claim of your own beside it",
		sd_bus_message_get_member(m), (unsigned long long)cookie, c->maker.uid,
		(unsigned)uid);
}

/* What is limited is changed when the fast knobs have followed, as of a new claim. */
static void on_changed(void *userdata)
{
	_cleanup_(bus_call_freep) Call *c = userdata;

	if (c->bus)
		bus_call_note_sent(sd_bus_reply_method_return(c->message, NULL),
				   "that a claim is changed");
}

static int change(Bus *b, sd_bus_message *m, uint64_t cookie, const ClaimChange *change,
		  sd_bus_error *error)
{
	_cleanup_(bus_call_freep) Call *call = bus_call_new(b, m);
	_cleanup_free_ char *text = NULL;
	int r;

	if (!call)
		return -ENOMEM;
	r = control_change_claim(b->control, cookie, change, &(ControlWait){ on_changed, call },
				 &text);
	if (r < 0)
		return bus_manager_error(error, r, text, BUS_ERROR_INVALID_LIMIT,
					 BUS_ERROR_UNKNOWN_CLAIM);
	TAKE_PTR(call);
	return 1;
}

/* 0 means something else than a very short time. */
static uint64_t microseconds(double s)
{
	return (uint64_t)ceil(s * USEC_PER_SEC);
}

static int change_from_options(const BusOptions *o, ClaimChange *ret, sd_bus_error *error)
{
	ret->class = -1;
	ret->reason = o->reason;
	ret->tolerance_s = o->tolerance_seconds;
	ret->for_us = microseconds(o->for_seconds);
	return o->class ? bus_check_class(o->class, &ret->class, error) : 0;
}

int bus_update(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	static const BusPermit permit = { ACTION_SET_BUDGET, bus_update };
	Bus *b = userdata;
	BusOptions options = { .tolerance_seconds = NAN };
	ClaimChange c = {};
	uint64_t cookie;
	int r = sd_bus_message_read(m, "t", &cookie);

	if (r >= 0)
		r = check_maker(b, m, cookie, error);
	if (r >= 0)
		r = bus_read_new_limit(m, &c, error);
	if (r >= 0)
		r = bus_read_options(m, OPTIONS_OF_UPDATE, &options, error);
	if (r >= 0)
		r = change_from_options(&options, &c, error);
	if (r >= 0)
		r = bus_authorize(b, m, &permit, error);
	return r ?: change(b, m, cookie, &c, error);
}

int bus_renew(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	static const BusPermit permit = { ACTION_SET_BUDGET, bus_renew };
	ClaimChange c = { .class = -1, .tolerance_s = NAN, .for_us = USEC_NEVER };
	Bus *b = userdata;
	uint64_t cookie;
	double for_s;
	int r = sd_bus_message_read(m, "td", &cookie, &for_s);

	if (r >= 0)
		r = check_maker(b, m, cookie, error);
	if (r < 0)
		return r;
	if (!(for_s > 0 && (for_s <= BUS_SECONDS_MAX || isinf(for_s))))
		return sd_bus_error_setf(error, BUS_ERROR_INVALID_OPTION,
					 "for_seconds is out of range: more than 0 and at most "
					 "%.0f (366 days), or +infinity for no end, would be right",
					 BUS_SECONDS_MAX);
	if (isfinite(for_s))
		c.for_us = microseconds(for_s);
	r = bus_authorize(b, m, &permit, error);
	return r ?: change(b, m, cookie, &c, error);
}
