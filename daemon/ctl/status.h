/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The screen of storpowerctl status, of the node or of a device. */

#include "ctl/ctl.h"

#define LABEL_WIDTH 11
#define LINE_SIZE   512

/* What is asked of the daemon for it. */
typedef struct Screen {
	const Ctl *ctl;
	json_object *state, *devices;
	json_object *waiting;   /* NULL: simulated, or unknown */
	json_object *unlimited; /* planned without a limit; NULL: unknown */
	json_object *claim;     /* that is the limit of the node; NULL: none */
	json_object *advised;   /* that would be, and is not held; NULL: none */
} Screen;

void say(const Screen *s, const char *label, const char *format, ...) _printf_(3, 4);
void say_claim(const Screen *s, const char *label, json_object *claim);
void say_cost(const Screen *s); /* of the screen's devices */

int status_of_device(Ctl *c, const char *name); /* ctl-status-device.c */
