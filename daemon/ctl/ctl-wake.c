/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "base/clock.h"
#include "ctl/table.h"

/* A test takes up to two minutes. The daemon gives up before this, and says so. */
#define WAKE_TEST_PATIENCE_US (200 * USEC_PER_SEC)

const char *ctl_device_name(const char *name)
{
	return strncmp(name, "/dev/", strlen("/dev/")) ? name : name + strlen("/dev/");
}

int ctl_wake(Ctl *c, const char *device)
{
	int status = ctl_simple_call(c, NULL, "Wake", "s", device);

	if (status || c->json)
		return status;
	if (*device)
		printf("%s wakes as soon as the budget bears its spin-up\n", device);
	else
		puts("The disks that sleep wake in turn, as the budget bears their spin-ups");
	return STATUS_OK;
}

int verb_wake(Ctl *c)
{
	if (c->all == (c->n_args > 0))
		return complain(STATUS_USAGE, "wake takes one device, or --all for all that sleep");
	return ctl_wake(c, c->all ? "" : ctl_device_name(c->args[0]));
}

static int print_outcome(const Ctl *c, const char *device, sd_bus_message *reply)
{
	_cleanup_json_ json_object *o = json_object_new_object();

	json_object_object_add(o, "Device", json_object_new_string(device));
	json_object_object_add(o, "Seconds", json_from_message(reply));
	json_object_object_add(o, "Text", json_from_message(reply));
	if (c->json)
		json_print(c, o);
	else
		printf("%s: %s\n", device, json_text(o, "Text"));
	return STATUS_OK;
}

int verb_wake_test(Ctl *c)
{
	_cleanup_message_ sd_bus_message *reply = NULL;
	const char *device = ctl_device_name(c->args[0]);
	int status;

	if (!c->json)
		printf("%s will be put to standby and one block of it read: does that alone wake it? This "
		       "costs one of\nits start/stop cycles, takes up to two minutes, and is recorded for "
		       "its HBA.\n",
		       device);
	fflush(stdout);
	c->patience_us = WAKE_TEST_PATIENCE_US;
	status = ctl_simple_call(c, &reply, "WakeTest", "s", device);
	return status ?: print_outcome(c, device, reply);
}

/* "fio[4711]" */
static const char *process_text(char *buf, size_t size, json_object *w)
{
	if (!json_number(w, "Pid"))
		return json_text(w, "Process");
	snprintf(buf, size, "%s[%.0f]", json_text(w, "Process"), json_number(w, "Pid"));
	return buf;
}

/* "write of 4.00 KiB" */
static const char *what_text(char *buf, size_t size, json_object *w)
{
	const char *kind = json_text(w, "Kind");
	char bytes[32];

	if (!json_number(w, "Bytes"))
		return kind;
	snprintf(buf, size, "%s of %s", kind,
		 format_bytes(bytes, sizeof(bytes), json_number(w, "Bytes")));
	return buf;
}

static void print_wakeups(const Ctl *c, json_object *wakeups)
{
	static const char *const columns[] = { "TIME",    "DEVICE", "WHY", "CGROUP",
					       "PROCESS", "WHAT",   NULL };
	_cleanup_(table_freep) Table *t = table_new(columns);

	for (size_t i = 0; i < json_count(wakeups); i++) {
		json_object *w = json_object_array_get_idx(wakeups, i);
		char time[32], process[64], what[64];

		format_time(time, sizeof(time), json_object_get_uint64(json_member(w, "TimeUSec")));
		table_row(t, time, json_text(w, "Device"), json_text(w, "Why"),
			  json_text(w, "Cgroup"), process_text(process, sizeof(process), w),
			  what_text(what, sizeof(what), w));
	}
	table_print(t, c);
}

int ctl_list_wakeups(Ctl *c)
{
	_cleanup_message_ sd_bus_message *reply = NULL;
	_cleanup_json_ json_object *wakeups = NULL;
	int status = ctl_simple_call(c, &reply, "ListWakeups", "");

	if (status)
		return status;
	wakeups = json_from_message(reply);
	if (c->json) {
		json_print(c, wakeups);
		return STATUS_OK;
	}
	pager_open(c);
	print_wakeups(c, wakeups);
	return STATUS_OK;
}
