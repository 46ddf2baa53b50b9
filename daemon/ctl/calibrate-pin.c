/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "ctl/calibrate-real.h"

#define NO_LIMIT 100.0 /* percent: a claim that pins a state limits nothing */

static int append(sd_bus_message *call, const char *device, int power_state)
{
	return sd_bus_message_append(call, "dsa{sv}", NO_LIMIT, "%", 4, "device", "s", device,
				     "power-state", "i", power_state, "reason", "s",
				     "its power is measured: storpowerctl calibrate", "source", "s",
				     "storpowerctl calibrate");
}

int calibrate_pin(Ctl *c, const char *device, int power_state, uint64_t *cookie)
{
	_cleanup_message_ sd_bus_message *call = NULL, *reply = NULL;
	int status = STATUS_OK;

	if (*cookie)
		status = ctl_simple_call(c, NULL, "Release", "t", *cookie);
	*cookie = 0;
	if (status || power_state < 0)
		return status;
	status = ctl_new_call(c, "SetBudget", &call);
	if (!status && append(call, device, power_state) < 0)
		status = complain(STATUS_FAILURE, "Out of memory");
	if (!status)
		status = ctl_call(c, call, &reply);
	if (!status && sd_bus_message_read(reply, "t", cookie) < 0)
		status = complain(STATUS_FAILURE, "SetBudget: the reply is not a cookie");
	return status;
}
