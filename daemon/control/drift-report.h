/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The fitted energies beside the profiles', as far as the sensors determine them. */

#include "control/control.h"

#define DRIFT_FIGURES 10

typedef struct DriftFigure {
	const char *name;       /* "all-io", "idle", "random-read-io", "random-read-page", ... */
	double profile, fitted; /* a ratio, watts, or joules; fitted NAN: not determined */
	double error;           /* fitted is within so much, 95 times in 100; NAN likewise */
	bool determined;
} DriftFigure;

/* One profile behind one sensor. */
typedef struct DriftState {
	const char *profile, *sensor;
	size_t n_devices;
	double observations;  /* forgotten ones count in part */
	double profile_error; /* relative, of its energies, as the profile itself says */
	const char *why_not;  /* nothing is determined; "": something may be */
	DriftFigure figures[DRIFT_FIGURES];
} DriftState;

/* *ret is malloc'd. -ENOMEM. */
int control_drift(const Control *c, DriftState **ret, size_t *ret_n);
