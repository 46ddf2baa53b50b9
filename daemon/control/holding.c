/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/holding.h"

#include <math.h>

#include "base/cleanup.h"

/* A percentage of a node moves with its devices' rounding. */
#define SAME_W 1e-6

static bool is_of(const Holding *h, double budget_w)
{
	return h->budget_w == budget_w || fabs(h->budget_w - budget_w) < SAME_W;
}

void holding_note(Holding *h, double budget_w, double drawn_w, uint64_t now_us)
{
	bool within = drawn_w <= budget_w;

	if (!is_of(h, budget_w))
		*h = (Holding){ .budget_w = budget_w };
	if (within && !h->held)
		h->since_us = now_us;
	h->held = within;
	if (!h->begun && within)
		h->highest_w = drawn_w;
	h->begun |= within;
	if (h->begun)
		h->highest_w = MAX(h->highest_w, drawn_w);
}

double holding_seconds(const Holding *h, uint64_t now_us)
{
	return h->held && !isinf(h->budget_w) ? (double)(now_us - h->since_us) / 1e6 : NAN;
}

double holding_highest_w(const Holding *h)
{
	return h->begun && !isinf(h->budget_w) ? h->highest_w : NAN;
}
