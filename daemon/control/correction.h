/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the things that one sensor measures draw above idle, over what their profiles say: a factor
 * for each profile, since all drives of a profile share its error. Where the loads of the profiles
 * move together their factors stay together; where they move apart the sensor tells them apart. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/profile.h"

#define CORRECTION_FAMILIES 6 /* those beyond share the last one's factor */

typedef struct Correction {
	bool known; /* it is measured now */
	size_t n;
	const Profile *family[CORRECTION_FAMILIES];
	double factor[CORRECTION_FAMILIES]; /* believed: down to it only slowly */
	double estimate[CORRECTION_FAMILIES];
	double covariance[CORRECTION_FAMILIES][CORRECTION_FAMILIES];
	double spread; /* how far single readings are off, relative */
	double off_w;  /* what the estimate of the total may be off by, one standard deviation */
	double kept_off_w;  /* correct.c: the same, as drift.c knows it better; for the margin */
	uint64_t looked_us; /* when it was last held against a reading */
	double modelled_w, measured_w; /* at that look */
} Correction;

/* A reading, and what the profiles say of the same moment. */
typedef struct CorrectionLook {
	double measured_w; /* NAN: none */
	double fixed_w;    /* what they draw without IO */
	double dynamic_w[CORRECTION_FAMILIES];
	bool settling; /* the draw is being changed: what is measured is of another moment */
	uint64_t at_us;
} CorrectionLook;

/* Counts a device's part into the look. */
void correction_add(Correction *c, CorrectionLook *look, const Profile *p, double fixed_w,
		    double dynamic_w);
/* Who draws more than was believed is believed at once, who draws less only so fast that a
 * hundredth of the draw is freed in a second. Without a reading it is no longer known: what was
 * found to draw more is believed to go on doing so, and what was found to draw less is believed no
 * more. */
void correction_take(Correction *c, const CorrectionLook *look);
/* 1 where nothing is known. */
double correction_of(const Correction *c, const Profile *p);
