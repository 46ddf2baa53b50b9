/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What others are told at the end of a turn: the log, the diary, the listeners on the bus, those
 * that wait. */

#include "control/control-state.h"

/* What a turn has come to. */
typedef struct Outcome {
	bool changed; /* something that people can see */
	bool planned; /* the plan in force is a new one, worth telling of... */
	Cause cause;  /* ...because of that */
	bool overrun; /* the budget has just been found exceeded */
	bool overrun_ended;
} Outcome;

void tell_device(Control *c, const char *name, bool present);
void tell_all(Control *c, const Outcome *o);
