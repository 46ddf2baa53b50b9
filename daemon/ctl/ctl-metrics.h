/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* storpowerctl metrics: the daemon's figures for Prometheus. */

#include "ctl/ctl.h"
#include "ctl/exposition.h"

#define MEASURED "measured" /* labels of sources */
#define MODEL    "model"

#define BYTES_PER_MB   1e6
#define SECONDS_PER_US 1e-6

/* What is told; as from D-Bus. */
typedef struct Figures {
	json_object *state;   /* NULL: no daemon answers */
	json_object *devices; /* sorted */
	json_object *planned; /* the devices' plan without a limit; NULL: nothing is limited, or
				 unknown */
} Figures;

/* All of it, in an order that stays. */
void metrics_write(Exposition *e, const Figures *f);

void metrics_write_node(Exposition *e, const Figures *f);    /* metrics-node.c */
void metrics_write_devices(Exposition *e, const Figures *f); /* metrics-devices.c */
void metrics_write_units(Exposition *e, const Figures *f);   /* metrics-units.c */
