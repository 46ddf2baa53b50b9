/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Calls when the kernel says that a power supply has changed. */

#include <systemd/sd-event.h>

#include "base/cleanup.h"

typedef struct SupplyMonitor SupplyMonitor;

int supply_monitor_new(sd_event *event, void (*changed)(void *userdata), void *userdata,
		       SupplyMonitor **ret);
SupplyMonitor *supply_monitor_free(SupplyMonitor *m); /* returns NULL */
DEFINE_CLEANUP(SupplyMonitor *, supply_monitor_free);
