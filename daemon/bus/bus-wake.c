/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/printable.h"
#include "bus/bus-internal.h"

static int wake_error(sd_bus_error *error, int r, const char *text)
{
	if (r == -EPERM || r == -EBUSY || r == -EOPNOTSUPP)
		return bus_manager_error(error, -EINVAL, text ?: strerror(-r), BUS_ERROR_REFUSED,
					 BUS_ERROR_REFUSED);
	return bus_manager_error(error, r, text, BUS_ERROR_REFUSED, BUS_ERROR_UNKNOWN_DEVICE);
}

int bus_wake(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	static const BusPermit permit = { ACTION_WAKE, bus_wake };
	Bus *b = userdata;
	_cleanup_free_ char *text = NULL;
	DeviceState d;
	const char *device;
	int r = sd_bus_message_read(m, "s", &device);

	if (r >= 0 && *device)
		r = bus_check_device(b, device, &d, error);
	if (r >= 0)
		r = bus_authorize(b, m, &permit, error);
	if (r != 0)
		return r;
	r = control_wake_device(b->control, device, &text);
	return r < 0 ? wake_error(error, r, text) : sd_bus_reply_method_return(m, NULL);
}

static int answer(sd_bus_message *call, int result, double seconds, const char *text)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;

	if (result >= 0)
		return sd_bus_reply_method_return(call, "ds", seconds, text);
	wake_error(&error, result, text);
	return sd_bus_reply_method_error(call, &error);
}

/* Whoever asked may have left the bus, which then drops the answer. The result of the test is
 * recorded all the same. */
static void on_wake_tested(int result, double seconds, const char *text, void *userdata)
{
	_cleanup_(bus_call_freep) Call *c = userdata;

	if (!c->bus)
		return;
	bus_call_note_sent(answer(c->message, result, seconds, text), "the outcome of a wake test");
	c->bus->testing = false;
	c->bus->events.changed(c->bus);
}

static int start_test(Bus *b, sd_bus_message *m, const char *device, sd_bus_error *error)
{
	_cleanup_free_ char *text = NULL;
	Call *c = bus_call_new(b, m);
	int r;

	if (!c)
		return -ENOMEM;
	b->testing = true; /* before: it may have ended by the time that this returns */
	r = control_wake_test(b->control, device, on_wake_tested, c, &text);
	if (r < 0) {
		b->testing = false;
		bus_call_free(c);
		return wake_error(error, r, text);
	}
	return 1; /* answered when it is done */
}

int bus_wake_test(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	static const BusPermit permit = { ACTION_WAKE, bus_wake_test };
	Bus *b = userdata;
	DeviceState d;
	const char *device;
	int r = sd_bus_message_read(m, "s", &device);

	if (r >= 0)
		r = bus_check_device(b, device, &d, error);
	if (r >= 0)
		r = bus_authorize(b, m, &permit, error);
	if (r != 0)
		return r;
	if (b->testing)
		return sd_bus_error_setf(error, BUS_ERROR_REFUSED,
					 "Another wake test is under way, for two minutes at most: "
					 "try again when it has ended");
	return start_test(b, m, device, error);
}

static const char *wakeup_kind(const Wakeup *w)
{
	if (w->passed_through)
		return "command";
	if (w->bytes == 0)
		return "";
	return w->direction == READ_IO ? "read" : "write";
}

static int append_wakeup(sd_bus_message *m, const Wakeup *w)
{
	_cleanup_free_ char *cgroup = printable_copy(w->cgroup ?: ""),
			    *process = printable_copy(w->process);

	if (!cgroup || !process)
		return -ENOMEM;
	return sd_bus_message_append(m, "a{sv}", 8, "TimeUSec", "t", w->realtime_us, "Device", "s",
				     w->device, "Why", "s", w->why, "Cgroup", "s", cgroup,
				     "Process", "s", process, "Pid", "u", (uint32_t)w->pid, "Kind",
				     "s", wakeup_kind(w), "Bytes", "t", w->bytes);
}

int bus_list_wakeups(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	Bus *b = userdata;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	const Wakeup *w;
	int r = sd_bus_message_new_method_return(call, &m);

	(void)error;
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'a', "a{sv}");
	for (size_t i = 0; r >= 0 && (w = control_wakeup(b->control, i)); i++)
		r = append_wakeup(m, w);
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	return r < 0 ? r : sd_bus_send(NULL, m, NULL);
}
