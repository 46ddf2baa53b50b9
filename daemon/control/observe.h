/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Once a second, as long as anything is enforced or anybody asks: the node is looked at. */

#include "control/control-state.h"

void observe_note_asked(Control *c);
/* A plan waits so long for the looks that are out; 0: it does not. */
void observe_hold_plan(Control *c, uint64_t until_us);
bool observe_holds_plan(const Control *c);
/* The look itself: sets out to read what can be read, and judges what is known. *ret_overrun: the
 * budget has just been found exceeded. */
Need observe_tick(Control *c, bool *ret_overrun);
bool observe_tick_is_due(const Control *c);
/* Between two looks: has IO woken a sleeping disk? */
void observe_peek(Control *c);
/* Counters have been read. */
Need observe_take_look(Control *c, Managed *md, int r, const DeviceCounters *counters, bool peeks);
uint64_t observe_due_us(const Control *c);
/* When the figures are of, with no reading of then outstanding. */
uint64_t observe_fresh_us(const Control *c);
