/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The one way through control/:
 *
 *	take events -> observe -> judge -> facts -> decide -> admit -> submit -> tell
 *
 * Whatever has happened lies in the queue, or is due by the clock. Nothing that a turn calls starts
 * another one; what follows from its effects is in the queue when it ends. */

#include "control/control-state.h"

/* Turns until nothing is left to be taken, then sets the timer for whatever is next. */
void turn(Control *c);
