/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The carbon intensity of the grid over time, from a file that its operator or a service keeps:
 * a line for each change, in order,
 *
 *	2026-11-24T10:00:00Z 381
 *
 * with the time in UTC, or as seconds since the epoch, a blank or a comma, and g of CO2e a kWh. A
 * line that begins with '#' is a comment, and one without a figure in it, as the head of a table,
 * may be the first. Pure. */

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

/* What was not said for so long is not known any more. */
#define INTENSITY_HOLDS_S 86400

typedef struct IntensityPoint {
	int64_t time_s;
	double g_kwh;
} IntensityPoint;

typedef struct Intensity {
	IntensityPoint *points; /* by time */
	size_t n;
} Intensity;

/* 0, or -EINVAL with the number of the first line that makes no sense, or -ENOMEM. */
int intensity_parse(const char *text, Intensity *ret, unsigned *ret_line);
/* The same of other figures in such a file, as prices are, none of which is below this. */
int intensity_parse_from(const char *text, double least, Intensity *ret, unsigned *ret_line);
void intensity_done(Intensity *i);
/* g of CO2e a kWh at that time; NAN: not known. */
double intensity_at(const Intensity *i, int64_t time_s);
