/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The daemon's bus, for the benchmarks that are its clients. */

#include <systemd/sd-bus.h>

#include "base/bus-connect.h"
#include "base/cleanup.h"
#include "base/log.h"

#define SERVICE   "org.storpower1"
#define OBJECT    "/org/storpower1"
#define INTERFACE "org.storpower1.Manager"

static inline int complain(int r, const char *what, const sd_bus_error *error)
{
	return log_error_errno(r, "%s: %s", what, error->message ?: "no answer");
}

static inline int release(sd_bus *bus, uint64_t cookie)
{
	_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
	int r = sd_bus_call_method(bus, SERVICE, OBJECT, INTERFACE, "Release", &error, NULL, "t",
				   cookie);

	return r < 0 ? complain(r, "Release", &error) : 0;
}
