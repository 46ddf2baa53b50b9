/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Offers org.storpower1 on D-Bus. The contract is org.storpower1.xml beside this file. */

#include <systemd/sd-event.h>

#include "control/control.h"

typedef struct Bus Bus;

typedef struct BusConfig {
	Clock clock;           /* the loop's: leases run on it */
	const char *simulated; /* the node file; NULL: the devices are real */
	/* Reads everything again; on error *ret_error (malloc'd) says what is wrong. */
	int (*reload)(void *userdata, char **ret_error);
	void *userdata;
} BusConfig;

/* Connects to "system", "session" or an address ("unix:path=..."), offers the manager there, takes
 * the name org.storpower1 and becomes the manager's ControlEvents. Open before control_start(): the
 * name is what keeps two daemons off the same devices. Failures are logged with the next step. When
 * the connection is lost later the event loop is left with EXIT_FAILURE. */
int bus_open(const char *address, sd_event *event, Control *c, const BusConfig *config, Bus **ret);
/* After control_start(): claims of an earlier run hold on where their owners are still on the bus.
 */
void bus_adopt_claims(Bus *b);
/* Sends what is queued and takes control's events back. Call it before control_free(). Returns
 * NULL. */
Bus *bus_close(Bus *b);
DEFINE_CLEANUP(Bus *, bus_close);
