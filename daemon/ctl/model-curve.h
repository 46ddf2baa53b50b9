/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A frontier as a drawing has it: watts from left to right, MB/s upwards. */

#include "ctl/ctl-model.h"

#define CURVE_MAX (3 * 64) /* of each candidate two ends, and the step to it */

typedef struct CurvePoint {
	double watts, mb_s;
	double error; /* relative, of the watts */
} CurvePoint;

typedef struct ModelCurve {
	CurvePoint line[CURVE_MAX];
	size_t n;
	CurvePoint *points;         /* of the profile */
	size_t n_points, n_outside; /* n_outside: more, which lie outside */
	CurvePoint now, planned;    /* watts NAN: not known */
	double from_w, to_w, most_mb_s;
} ModelCurve;

/* frontier: what "model frontier --json" prints. profile: of which the points are drawn; NULL: none
 * are. */
void model_curve_make(json_object *frontier, const Profile *profile, ModelCurve *ret);
void model_curve_done(ModelCurve *c);

/* model-chart.c: in braille, as wide as the terminal. */
void model_chart_print(const Ctl *c, const ModelCurve *curve);
/* model-plot.c: FILE.svg or FILE.png, by gnuplot. */
int model_plot(const char *file, const char *title, const ModelCurve *curve);
