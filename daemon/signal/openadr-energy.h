/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Asks storpowerd what storage has drawn since the daemon's start. */

#include "base/bus-connect.h"

typedef struct OpenadrEnergy OpenadrEnergy;

/* joules: NaN: the daemon has not answered. daemon: its own name on the bus, another one after a
 * restart. */
typedef void (*OpenadrOnEnergy)(void *userdata, double joules, const char *daemon);

int openadr_energy_new(OpenadrOnEnergy done, void *userdata, OpenadrEnergy **ret);
OpenadrEnergy *openadr_energy_free(OpenadrEnergy *e); /* returns NULL */
DEFINE_CLEANUP(OpenadrEnergy *, openadr_energy_free);

/* bus: NULL: there is none now. It answers later; nothing happens while it is being asked already.
 */
int openadr_energy_ask(OpenadrEnergy *e, sd_bus *bus);
