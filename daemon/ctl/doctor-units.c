/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "ctl/doctor.h"

#define SYSTEMD         "org.freedesktop.systemd1"
#define SYSTEMD_PATH    "/org/freedesktop/systemd1"
#define SYSTEMD_MANAGER SYSTEMD ".Manager"

static bool bus_is_enabled(sd_bus *bus, const char *unit)
{
	_cleanup_message_ sd_bus_message *reply = NULL;
	const char *state = "";

	if (sd_bus_call_method(bus, SYSTEMD, SYSTEMD_PATH, SYSTEMD_MANAGER, "GetUnitFileState",
			       NULL, &reply, "s", unit) < 0 ||
	    sd_bus_message_read(reply, "s", &state) < 0)
		return false;
	return streq(state, "enabled") || streq(state, "enabled-runtime");
}

/* A unit that is not loaded does not run, and is an error here. */
static bool bus_runs(sd_bus *bus, const char *unit)
{
	_cleanup_message_ sd_bus_message *reply = NULL;
	_cleanup_free_ char *state = NULL;
	const char *path = "";

	if (sd_bus_call_method(bus, SYSTEMD, SYSTEMD_PATH, SYSTEMD_MANAGER, "GetUnit", NULL, &reply,
			       "s", unit) < 0 ||
	    sd_bus_message_read(reply, "o", &path) < 0 ||
	    sd_bus_get_property_string(bus, SYSTEMD, path, SYSTEMD ".Unit", "ActiveState", NULL,
				       &state) < 0)
		return false;
	return streq(state, "active") || streq(state, "activating") || streq(state, "reloading");
}

static bool any_exists(const char *root, const char *format, const char *unit)
{
	_cleanup_free_ char *globs = text_printf(format, unit, unit, unit);

	return globs && doctor_exists(root, globs);
}

/* A mask is a link to /dev/null. */
static bool is_masked(const char *root, const char *unit)
{
	_cleanup_free_ char *path = text_printf("%s/etc/systemd/system/%s", root, unit);
	char target[32];
	ssize_t n = path ? readlink(path, target, sizeof(target) - 1) : -1;

	target[n < 0 ? 0 : n] = '\0';
	return streq(target, "/dev/null");
}

/* "hd-idle" of hd-idle.service has a link S01hd-idle in /etc/rc2.d where systemd is not. */
static bool starts_by_rc(const char *root, const char *unit)
{
	_cleanup_free_ char *name = strndup(unit, strcspn(unit, "."));

	return name && any_exists(root, "/etc/rc[2-5].d/S[0-9][0-9]%s", name);
}

static UnitUse files_tell(const char *root, const char *unit)
{
	if (any_exists(root, "/run/systemd/units/invocation:%s", unit))
		return UNIT_RUNS;
	if (is_masked(root, unit))
		return UNIT_OFF;
	if (any_exists(root,
		       "/etc/systemd/system/*.wants/%s /run/systemd/system/*.wants/%s "
		       "/usr/lib/systemd/system/*.wants/%s",
		       unit) ||
	    starts_by_rc(root, unit))
		return UNIT_ENABLED;
	return UNIT_OFF;
}

UnitUse doctor_unit(sd_bus *bus, const char *root, const char *unit)
{
	if (!bus)
		return files_tell(root, unit);
	if (bus_runs(bus, unit))
		return UNIT_RUNS;
	return bus_is_enabled(bus, unit) ? UNIT_ENABLED : UNIT_OFF;
}

sd_bus *doctor_systemd(Doctor *d)
{
	_cleanup_message_ sd_bus_message *reply = NULL;
	int there = false;

	if (*d->root || ctl_connect(d->ctl) < 0 ||
	    sd_bus_call_method(d->ctl->bus, "org.freedesktop.DBus", "/org/freedesktop/DBus",
			       "org.freedesktop.DBus", "NameHasOwner", NULL, &reply, "s",
			       SYSTEMD) < 0 ||
	    sd_bus_message_read(reply, "b", &there) < 0)
		return NULL;
	return there ? d->ctl->bus : NULL;
}
