/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/bus-connect.h"

#include "base/text.h"

static int connect_address(const char *address, sd_bus **ret)
{
	_cleanup_(sd_bus_unrefp) sd_bus *bus = NULL;
	int r = sd_bus_new(&bus);

	if (r >= 0)
		r = sd_bus_set_address(bus, address);
	if (r >= 0)
		r = sd_bus_set_bus_client(bus, true);
	if (r >= 0)
		r = sd_bus_start(bus);
	if (r >= 0)
		*ret = TAKE_PTR(bus);
	return r;
}

int bus_connect(const char *address, sd_bus **ret)
{
	if (streq(address, "system"))
		return sd_bus_open_system(ret);
	if (streq(address, "session"))
		return sd_bus_open_user(ret);
	return connect_address(address, ret);
}
