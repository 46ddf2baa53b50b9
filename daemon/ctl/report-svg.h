/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Power over time as an SVG inside of HTML. Its colours are those of the page's style sheet. */

#include "ctl/report.h"

typedef struct PowerChart {
	const ReportRows *steps;
	int64_t since_s, until_s;
	unsigned step_s;
	double width, height; /* of the drawing; a screen may show it at another size */
	const char *class;    /* of the element */
} PowerChart;

void svg_power(FILE *f, const PowerChart *chart);

/* The next of 1, 2 and 5 times a power of ten at or above v, which is above 0. */
double axis_nice(double v);
/* The step of a time axis that has at most n ticks on so many seconds. */
int64_t axis_time_step(int64_t seconds, unsigned n);
