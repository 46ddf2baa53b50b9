/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Holds the claims that a signal wants at storpowerd, for as long as it wants them. They are owned
 * by its name on the bus, so that they end with its process, whatever becomes of it. The daemon
 * keeps them over a restart; whatever it has lost is made again as soon as it is back. It waits for
 * nobody but the bus itself. */

#include <systemd/sd-event.h>

#include "base/bus-connect.h"
#include "signal/wish.h"

typedef struct Holder Holder;

/* address: "system", "session" or a bus address. source: who asks, for people. There need be
 * neither a bus nor a daemon yet. */
int holder_new(sd_event *event, const char *address, const char *source, Holder **ret);
Holder *holder_free(Holder *h); /* leaves the bus, which ends the claims; returns NULL */
DEFINE_CLEANUP(Holder *, holder_free);

/* From now on these are wanted, and no others: what is new or differs is claimed before what is no
 * longer wanted is released. -ENOMEM: nothing has changed. */
int holder_hold(Holder *h, const Wishes *wishes);
/* The bus on which it holds them, for other questions to the daemon; NULL: there is none now. */
sd_bus *holder_bus(const Holder *h);
