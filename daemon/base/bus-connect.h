/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

#include "base/cleanup.h"

#define _cleanup_message_ _cleanup_(sd_bus_message_unrefp)

/* address: "system", "session" or a bus address. -EINVAL: it is none of these. */
int bus_connect(const char *address, sd_bus **ret);
