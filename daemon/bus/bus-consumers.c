/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>

#include "base/printable.h"
#include "bus/bus-internal.h"
#include "control/consumers.h"
#include "control/waiting.h"

static int append_figures(sd_bus_message *m, const Consumer *c)
{
	const DeviceCounters *k = &c->counters;
	_cleanup_free_ char *cgroup = printable_copy(c->cgroup);

	if (!cgroup)
		return -ENOMEM;

	return sd_bus_message_append(
		m, "{sv}{sv}{sv}{sv}{sv}{sv}{sv}{sv}{sv}{sv}{sv}{sv}{sv}{sv}", "Device", "s",
		c->device, "Cgroup", "s", cgroup, "CgroupId", "t", c->cgroup_id, "Gone", "b",
		(int)c->gone, "Uncontrolled", "b", (int)c->uncontrolled, "IdlePower", "d",
		c->idle_w, "TimeUSec", "t", k->time_us, "ReadIOs", "t", k->ios[READ_IO], "WriteIOs",
		"t", k->ios[WRITE_IO], "ReadBytes", "t", k->bytes[READ_IO], "WriteBytes", "t",
		k->bytes[WRITE_IO], "SequentialIOs", "d",
		k->has_pattern ? (double)k->sequential_ios : NAN, "LatencyTotal", "d",
		k->latency_us, "Joules", "d", k->has_joules ? k->joules : NAN);
}

static int append_waits(sd_bus_message *m, const DeviceCounters *k)
{
	size_t n = k->has_waits ? WAITS_MAX : 0;
	int r;

	while (n && !k->waits[n - 1])
		n--;
	r = sd_bus_message_open_container(m, 'e', "sv");
	if (r >= 0)
		r = sd_bus_message_append(m, "s", "Waits");
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'v', "at");
	if (r >= 0)
		r = sd_bus_message_append_array(m, 't', k->waits, n * sizeof(*k->waits));
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

static int append_consumer(sd_bus_message *m, const Consumer *c)
{
	int r = sd_bus_message_open_container(m, 'a', "{sv}");

	if (r >= 0)
		r = append_figures(m, c);
	if (r >= 0)
		r = append_waits(m, &c->counters);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

int bus_list_consumers(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	static const BusPermit permit = { ACTION_INSPECT, bus_list_consumers, COST_OF_QUESTION };
	Bus *b = userdata;
	_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
	_cleanup_free_ Consumer *consumers = NULL;
	size_t n = 0;
	int r = bus_authorize(b, call, &permit, error);

	if (r != 0)
		return r;
	r = control_consumers(b->control, &consumers, &n);
	if (r >= 0)
		r = sd_bus_message_new_method_return(call, &m);
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'a', "a{sv}");
	for (size_t i = 0; i < n && r >= 0; i++)
		r = append_consumer(m, &consumers[i]);
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	return r < 0 ? r : sd_bus_send(NULL, m, NULL);
}

/* The pressure of the machine means nothing where the devices are simulated. */
int bus_get_waiting(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
	static const BusPermit permit = { ACTION_INSPECT, bus_get_waiting, COST_OF_QUESTION };
	Bus *b = userdata;
	_cleanup_(waiting_state_clear) WaitingState w = {};
	_cleanup_free_ char *cgroup = NULL;
	bool real = !b->config.simulated;
	int r = bus_authorize(b, call, &permit, error);

	if (r != 0)
		return r;
	control_waiting(b->control, &w);
	cgroup = printable_copy(real && w.cgroup ? w.cgroup : "");
	if (!cgroup)
		return -ENOMEM;
	return sd_bus_reply_method_return(call, "a{sv}", 3, "WhyNot", "s", w.why_not ?: "",
					  "Cgroup", "s", cgroup, "Pressure", "d",
					  real ? w.pressure : NAN);
}
