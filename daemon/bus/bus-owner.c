/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "bus/bus-internal.h"

static int on_name_vanished(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	Bus *b = userdata;
	const char *name;
	size_t n;
	int r = sd_bus_message_read(m, "s", &name);

	(void)error;
	if (r < 0)
		return r;
	n = control_drop_owner(b->control, name);
	if (n > 0)
		log_info("%s has left the bus: %zu claim%s ended", name, n, n > 1 ? "s" : "");
	return 0;
}

/* Does name, or with NULL anybody, own a claim and has been here since? */
static bool owns_claims(const Bus *b, const char *name)
{
	const Claim *c;

	for (size_t i = 0; (c = claims_get(control_claims(b->control), i)); i++)
		if (c->owner && !claim_orphaned(c) && (!name || streq(c->owner, name)))
			return true;
	return false;
}

int bus_owner_watch(Bus *b, const char *name)
{
	int r = 0;

	if (!b->owners_match)
		r = sd_bus_add_match(b->bus, &b->owners_match, BUS_NAME_VANISHED, on_name_vanished,
				     b);
	else if (owns_claims(b, name))
		return 0;
	/* it may have vanished before: while its call waited, or the daemon was not there */
	return r < 0 ? r : sd_bus_get_name_creds(b->bus, name, 0, NULL);
}

void bus_owners_prune(Bus *b)
{
	if (b->owners_match && !owns_claims(b, NULL))
		b->owners_match = sd_bus_slot_unref(b->owners_match);
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
