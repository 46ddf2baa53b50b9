/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "bus/bus-internal.h"

/* Each owner has an sd_bus_track of its own, because its handler tells that a name is gone, but not
 * which one. */
struct Owner {
	Bus *bus;
	char *name;
	sd_bus_track *track;
	Owner *next;
};

static void owner_free(Owner *o)
{
	sd_bus_track_unref(o->track);
	free(o->name);
	free(o);
}
DEFINE_CLEANUP(Owner *, owner_free);

Owner *bus_owners_free(Owner *list)
{
	while (list) {
		Owner *next = list->next;

		owner_free(list);
		list = next;
	}
	return NULL;
}

static int on_owner_gone(sd_bus_track *track, void *userdata)
{
	Owner *o = userdata;
	size_t n;

	(void)track;
	/* the bus itself has gone: they may live, and are asked for when it is back */
	if (sd_bus_is_open(o->bus->bus) <= 0)
		return 1;
	n = control_drop_owner(o->bus->control, o->name);
	if (n > 0)
		log_info("%s has left the bus: %zu claim%s ended", o->name, n, n > 1 ? "s" : "");
	return 1; /* 0 would mean: call again at once, for ever */
}

int bus_owner_watch(Bus *b, const char *name)
{
	_cleanup_(owner_freep) Owner *o = NULL;
	int r;

	for (Owner *i = b->owners; i; i = i->next)
		if (streq(i->name, name))
			return 0;
	o = calloc(1, sizeof(*o));
	if (!o)
		return -ENOMEM;
	o->bus = b;
	o->name = strdup(name);
	if (!o->name)
		return -ENOMEM;
	r = sd_bus_track_new(b->bus, &o->track, on_owner_gone, o);
	if (r >= 0) /* this fails when the name is gone already */
		r = sd_bus_track_add_name(o->track, name);
	if (r < 0)
		return r;
	o->next = b->owners;
	b->owners = TAKE_PTR(o);
	return 0;
}

static bool owns_claims(const Bus *b, const char *name)
{
	const Claim *c;

	for (size_t i = 0; (c = claims_get(control_claims(b->control), i)); i++)
		if (c->owner && !claim_orphaned(c) && streq(c->owner, name))
			return true;
	return false;
}

void bus_owners_prune(Bus *b)
{
	for (Owner **o = &b->owners; *o;) {
		Owner *gone = *o;

		if (owns_claims(b, gone->name)) {
			o = &gone->next;
			continue;
		}
		*o = gone->next;
		owner_free(gone);
	}
}

int bus_read_id(sd_bus *bus, char **ret)
{
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
	const char *id;
	int r = sd_bus_call_method(bus, "org.freedesktop.DBus", "/org/freedesktop/DBus",
				   "org.freedesktop.DBus", "GetId", NULL, &reply, NULL);

	if (r >= 0)
		r = sd_bus_message_read(reply, "s", &id);
	if (r < 0)
		return r;
	*ret = strdup(id);
	return *ret ? 0 : -ENOMEM;
}

static bool owner_is_here(Bus *b, const Claim *c)
{
	return b->id && c->bus && streq(b->id, c->bus) && bus_owner_watch(b, c->owner) >= 0;
}

static void adopt(Bus *b, const Claim *c)
{
	size_t n = 0;

	if (owner_is_here(b, c))
		n = control_adopt(b->control, b->id, c->owner);
	if (n > 0)
		log_info("%s is still on the bus: %zu claim%s of an earlier run hold%s on",
			 c->owner, n, n > 1 ? "s" : "", n > 1 ? "" : "s");
	else
		log_warning("Claim %llu by %s: its owner %s has left the bus; it ends in 30 s, "
			    "unless it is renewed",
			    (unsigned long long)c->cookie, c->source, c->owner);
}

void bus_adopt_claims(Bus *b)
{
	const Claim *c;

	for (size_t i = 0; (c = claims_get(control_claims(b->control), i)); i++)
		if (claim_orphaned(c))
			adopt(b, c);
	b->claims_changed = true;
}
