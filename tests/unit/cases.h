/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdlib.h>

#define CASES_BY_DEFAULT 20000

/* How much a test of many cases does: STORPOWER_CASES of CASES_BY_DEFAULT. The sanitizers set it
 * lower, make check-long higher. The seeds are fixed, so that a failure repeats. */
static inline double cases_share(void)
{
	const char *cases = getenv("STORPOWER_CASES");

	return cases ? strtod(cases, NULL) / CASES_BY_DEFAULT : 1;
}

/* That share of what it does by default, and never nothing. */
static inline unsigned long cases_of(unsigned long by_default)
{
	unsigned long n = (unsigned long)((double)by_default * cases_share());

	return n ? n : 1;
}

/* The same where the places are counted and not drawn: every so manieth of them. */
static inline unsigned cases_stride(void)
{
	double share = cases_share();

	return share > 0 && share < 1 ? (unsigned)(1 / share) : 1;
}
