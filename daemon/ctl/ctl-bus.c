/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "ctl/ctl.h"

/* A little longer than the daemon lets polkit take; and what is usual on the bus. */
#define PASSWORD_PATIENCE_US       (610 * USEC_PER_SEC)
#define PASSWORD_PATIENCE_LEAST_US (25 * USEC_PER_SEC)

int complain(int status, const char *format, ...)
{
	va_list ap;

	fflush(stdout);
	fputs("storpowerctl: ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	return status;
}

static int no_daemon(const Ctl *c)
{
	return complain(
		STATUS_NO_DAEMON,
		"storpowerd is not running on the bus \"%s\": systemctl start storpowerd, or "
		"name its bus with --bus=",
		c->address);
}

int ctl_connect(Ctl *c)
{
	return c->bus ? 0 : bus_connect(c->address, &c->bus);
}

void ctl_disconnect(Ctl *c)
{
	if (c->bus)
		(void)sd_bus_detach_event(c->bus);
	c->bus = sd_bus_close_unref(c->bus);
}

bool ctl_daemon_runs(Ctl *c)
{
	_cleanup_message_ sd_bus_message *reply = NULL;
	int runs = false;

	if (ctl_connect(c) < 0 ||
	    sd_bus_call_method(c->bus, "org.freedesktop.DBus", "/org/freedesktop/DBus",
			       "org.freedesktop.DBus", "NameHasOwner", NULL, &reply, "s",
			       BUS_NAME) < 0 ||
	    sd_bus_message_read(reply, "b", &runs) < 0)
		return false;
	return runs;
}

static int connect_to_daemon(Ctl *c)
{
	int r = ctl_connect(c);

	if (r >= 0)
		return STATUS_OK;
	if (r == -EINVAL)
		return complain(
			STATUS_USAGE,
			"--bus=%s: system, session or an address such as unix:path=/run/bus "
			"would be right",
			c->address);
	return complain(STATUS_NO_DAEMON,
			"Cannot connect to the bus \"%s\": %s: is it running? "
			"Name another with --bus=",
			c->address, strerror(-r));
}

int ctl_need_running(Ctl *c)
{
	int status = connect_to_daemon(c);

	return !status && !ctl_daemon_runs(c) ? no_daemon(c) : status;
}

static bool means_no_daemon(const char *name)
{
	static const char *const names[] = {
		SD_BUS_ERROR_SERVICE_UNKNOWN,
		SD_BUS_ERROR_NAME_HAS_NO_OWNER,
		"org.freedesktop.DBus.Error.Spawn.",
		"org.freedesktop.systemd1.",
	};

	for (size_t i = 0; i < ELEMENTSOF(names); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

/* Prints the text of a D-Bus error as the outcome of `action`, and returns the status that it
 * means. */
static int report(Ctl *c, const char *action, const sd_bus_error *error, int r)
{
	bool failed;

	if (!sd_bus_error_is_set(error))
		return complain(STATUS_FAILURE, "%s: %s", action, strerror(-r));
	if (means_no_daemon(error->name))
		return no_daemon(c);
	if (sd_bus_error_has_name(error, SD_BUS_ERROR_NO_REPLY) ||
	    sd_bus_error_has_name(error, SD_BUS_ERROR_TIMEOUT))
		return complain(STATUS_NO_DAEMON,
				"%s: storpowerd went away or did not answer: "
				"see journalctl -u storpowerd",
				action);
	failed = streq(error->name, "org.storpower1.Error.Failed") ||
		 (strncmp(error->name, "org.storpower1.Error.", 21) &&
		  !streq(error->name, SD_BUS_ERROR_ACCESS_DENIED) &&
		  !streq(error->name, SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED));
	complain(0, "%s: %s", action, error->message ?: error->name);
	ctl_suggest_name(c, error->name);
	return failed ? STATUS_FAILURE : STATUS_REFUSED;
}

bool ctl_is_hopeless(const sd_bus_error *error)
{
	return sd_bus_error_is_set(error) &&
	       (means_no_daemon(error->name) ||
		sd_bus_error_has_name(error, "org.storpower1.Error.UnknownDevice") ||
		sd_bus_error_has_name(error, "org.storpower1.Error.UnknownGroup"));
}

static int new_call(Ctl *c, const char *interface, const char *member, sd_bus_message **ret)
{
	int status = connect_to_daemon(c), r;

	if (status)
		return status;
	r = sd_bus_message_new_method_call(c->bus, ret, BUS_NAME, BUS_PATH, interface, member);
	return r < 0 ? complain(STATUS_FAILURE, "%s: %s", member, strerror(-r)) : STATUS_OK;
}

int ctl_new_call(Ctl *c, const char *member, sd_bus_message **ret)
{
	return new_call(c, BUS_MANAGER, member, ret);
}

/* Polkit may ask for a password before the daemon does what a call of its manager wants. Root is
 * not asked, and where an answer is wanted soon nobody is there to type one. */
static uint64_t let_polkit_ask(const Ctl *c, sd_bus_message *call)
{
	if (geteuid() == 0 || !streq(sd_bus_message_get_interface(call), BUS_MANAGER) ||
	    (c->patience_us && c->patience_us < PASSWORD_PATIENCE_LEAST_US))
		return c->patience_us;
	(void)sd_bus_message_set_allow_interactive_authorization(call, true);
	return c->patience_us + PASSWORD_PATIENCE_US;
}

int ctl_call(Ctl *c, sd_bus_message *call, sd_bus_message **ret_reply)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	int r = sd_bus_call(c->bus, call, let_polkit_ask(c, call), &error, ret_reply);

	return r < 0 ? report(c, sd_bus_message_get_member(call), &error, r) : STATUS_OK;
}

int ctl_simple_call(Ctl *c, sd_bus_message **ret_reply, const char *member, const char *types, ...)
{
	_cleanup_message_ sd_bus_message *call = NULL;
	int status = ctl_new_call(c, member, &call), r;
	va_list ap;

	if (status)
		return status;
	va_start(ap, types);
	r = sd_bus_message_appendv(call, types, ap);
	va_end(ap);
	if (r < 0)
		return complain(STATUS_FAILURE, "%s: %s", member, strerror(-r));
	return ctl_call(c, call, ret_reply);
}

/* Properties are answered from what was seen last: without a budget that may be a while ago. A
 * daemon that does not answer this is asked for its properties all the same. */
static int refresh(Ctl *c)
{
	_cleanup_message_ sd_bus_message *call = NULL;
	int status = new_call(c, BUS_MANAGER, "Refresh", &call);

	if (!status)
		(void)sd_bus_call(c->bus, call, c->patience_us, NULL, NULL);
	return status;
}

int ctl_get_known_state(Ctl *c, json_object **ret)
{
	_cleanup_message_ sd_bus_message *call = NULL, *reply = NULL;
	int status = new_call(c, "org.freedesktop.DBus.Properties", "GetAll", &call);

	if (!status && sd_bus_message_append(call, "s", BUS_MANAGER) < 0)
		status = complain(STATUS_FAILURE, "Out of memory");
	if (!status)
		status = ctl_call(c, call, &reply);
	if (!status)
		*ret = json_from_message(reply);
	return status;
}

int ctl_get_state(Ctl *c, json_object **ret)
{
	int status = refresh(c);

	return status ?: ctl_get_known_state(c, ret);
}

int ctl_get_devices(Ctl *c, json_object **ret)
{
	_cleanup_message_ sd_bus_message *call = NULL, *reply = NULL;
	_cleanup_json_ json_object *objects = NULL;
	int status = refresh(c);

	if (!status)
		status = new_call(c, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects",
				  &call);
	if (!status)
		status = ctl_call(c, call, &reply);
	if (status)
		return status;
	objects = json_from_message(reply);
	*ret = json_object_new_array();
	json_object_object_foreach(objects, path, interfaces)
	{
		json_object *device = json_member(interfaces, BUS_DEVICE);

		(void)path;
		if (device)
			json_object_array_add(*ret, json_object_get(device));
	}
	return STATUS_OK;
}

int ctl_match_daemon(Ctl *c, sd_bus_message_handler_t handler, void *userdata)
{
	return sd_bus_add_match(c->bus, NULL,
				"type='signal',sender='org.freedesktop.DBus',"
				"member='NameOwnerChanged',arg0='" BUS_NAME "'",
				handler, userdata);
}
