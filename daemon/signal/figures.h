/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Asks storpowerd for figures that it has as properties, without waiting for it. */

#include <stddef.h>
#include <systemd/sd-bus.h>

#include "base/bus-connect.h"

typedef struct Figures Figures;

/* In the order of their names; NULL: there was no answer to one of them. daemon: its name on the
 * bus, another one after it was started anew. */
typedef void (*OnFigures)(void *userdata, const double *figures, const char *daemon);

/* names: of four properties of org.storpower1.Manager at most, a vector that ends with NULL and
 * stays the caller's. */
int figures_new(const char *const *names, OnFigures done, void *userdata, Figures **ret);
Figures *figures_free(Figures *f); /* done() is not called any more; returns NULL */
DEFINE_CLEANUP(Figures *, figures_free);

/* Once more is of no effect while an answer is awaited. -ENOTCONN: there is no bus. */
int figures_ask(Figures *f, sd_bus *bus);
