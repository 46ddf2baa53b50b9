/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How long and by how much a budget was measured to be exceeded. */

#include <stdbool.h>
#include <stdint.h>

/* Of the overrun under way, or of the last one. */
typedef struct Overrun {
	bool lasts;
	uint64_t looked_us; /* at the sensors, last */
	double seconds;
	double joules;   /* drawn above the budget meanwhile */
	double budget_w; /* that is exceeded, or was last */
} Overrun;

/* To be called at each look. A look stands for the time since the one before it, for 5 s at most.
 */
void overrun_count(Overrun *o, bool exceeded, double measured_w, double budget_w, uint64_t now_us);
