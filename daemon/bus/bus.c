/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bus/bus.h"

#include <errno.h>

#include "base/bus-connect.h"
#include "base/log.h"
#include "bus/bus-internal.h"

static int connect_bus(const char *address, sd_bus **ret)
{
	int r = bus_connect(address, ret);

	if (r == -EINVAL)
		return log_full(
			LOG_ERR, r,
			"\"%s\" is not a bus: \"system\", \"session\" or an address such as "
			"unix:path=/run/bus would be right",
			address);
	if (r < 0)
		return log_error_errno(
			r, "Cannot connect to the bus \"%s\": is dbus-daemon running?", address);
	return 0;
}

static int on_disconnected(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	(void)m, (void)userdata, (void)error;
	log_error("The bus has gone away: leaving; standing claims are kept for the next start");
	return 0;
}

static int take_name(Bus *b, const char *address)
{
	int r = sd_bus_request_name(b->bus, BUS_NAME, 0);

	if (r == -EEXIST)
		return log_full(
			LOG_ERR, r,
			"The name %s is taken on the bus \"%s\": another storpowerd is running",
			BUS_NAME, address);
	if (r == -EACCES || r == -EPERM)
		return log_error_errno(
			r,
			"The bus \"%s\" does not let us own the name %s: run as root, "
			"with the D-Bus policy that \"make install\" puts in place",
			address, BUS_NAME);
	if (r < 0)
		return log_error_errno(r, "Cannot take the name %s on the bus \"%s\"", BUS_NAME,
				       address);
	return 0;
}

static int register_all(Bus *b)
{
	int r = bus_manager_register(b);

	if (r >= 0)
		r = bus_device_register(b);
	if (r >= 0)
		r = bus_signals_register(b);
	if (r >= 0)
		r = bus_turns_begin(b);
	if (r >= 0)
		r = bus_authority_begin(b);
	if (r >= 0)
		r = sd_bus_match_signal(b->bus, NULL, NULL, "/org/freedesktop/DBus/Local",
					"org.freedesktop.DBus.Local", "Disconnected",
					on_disconnected, b);
	if (r >= 0)
		r = sd_bus_set_exit_on_disconnect(b->bus, true);
	if (r >= 0)
		r = sd_bus_attach_event(b->bus, b->event, SD_EVENT_PRIORITY_NORMAL);
	if (r < 0)
		return log_error_errno(r, "Cannot offer the D-Bus interface");
	return 0;
}

int bus_open(const char *address, sd_event *event, Control *c, const BusConfig *config, Bus **ret)
{
	_cleanup_(bus_closep) Bus *b = calloc(1, sizeof(*b));
	int r;

	if (!b)
		return log_oom();
	b->control = c;
	b->event = sd_event_ref(event);
	b->config = *config;
	r = connect_bus(address, &b->bus);
	if (r >= 0)
		r = register_all(b);
	if (r >= 0)
		r = take_name(b, address);
	if (r >= 0 && bus_read_id(b->bus, &b->id) < 0)
		log_warning("The bus does not tell its id: claims of its clients will not survive "
			    "a restart of the daemon");
	if (r < 0)
		return r;
	*ret = TAKE_PTR(b);
	return 0;
}

Bus *bus_close(Bus *b)
{
	if (!b)
		return NULL;
	bus_calls_abandon(b);
	bus_signals_free(b);
	sd_bus_slot_unref(b->owners_match);
	bus_authority_end(b);
	b->turns = bus_turns_end(b->turns);
	sd_bus_flush_close_unref(b->bus);
	sd_event_unref(b->event);
	free(b->id);
	free(b);
	return NULL;
}
