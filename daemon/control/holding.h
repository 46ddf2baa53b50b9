/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Whether the budget is held, and for how long. */

#include <stdbool.h>
#include <stdint.h>

typedef struct Holding {
	bool begun;        /* the draw has been within this budget */
	bool held;         /* it is now */
	double budget_w;   /* INFINITY: none */
	double highest_w;  /* drawn since it was first within this budget */
	uint64_t since_us; /* held since then */
} Holding;

/* The node draws so much now, under this budget. A new budget begins anew. */
void holding_note(Holding *h, double budget_w, double drawn_w, uint64_t now_us);
/* Seconds; NAN: it is not held, or there is nothing to hold. */
double holding_seconds(const Holding *h, uint64_t now_us);
/* Watts, since the draw was first within the budget; NAN: it never was, or there is none. */
double holding_highest_w(const Holding *h);
