/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How much of what is tolerated above the budget has been spent, and what follows when the budget
 * is exceeded: for a moment what the devices can draw counts, until it is known what is asked of
 * them. */

#include "control/gauges.h"

/* alarmed: eBPF tells of an overrun; else the next look does. */
void overload_init(Overload *o, bool alarmed);
/* To be called at each look. */
Need overload_count(Overload *o, const Limits *l, double draw_w, bool counts_expected,
		    const Tools *t);
/* eBPF tells that a device spends more than is expected of it. */
Need overload_take_alarm(Overload *o, const Limits *l, double draw_w, const Tools *t);
/* So long it took from an overrun to the last fast knob. */
void overload_note_reaction(Overload *o, uint64_t us);
/* What may be drawn at once, over the limit. Who draws that for react_s, of which it grows for as
 * long as it falls, spends no more than what is left of the tolerance: sqrt(1 + left / react). */
double overload_at_once(const Overload *o, double tolerance_s);
/* What all devices may draw at once under the active claims on the node: the least limit itself
 * where nothing is tolerated. 0: nothing is tolerated now. */
double overload_at_once_w(const Overload *o, const Limits *l, const Tools *t);
/* Did the fallback plan hold then, or did its last steps come in? */
bool overload_was_strict(const Overload *o, uint64_t then_us);
bool overload_clear_due(Overload *o, uint64_t now_us);
