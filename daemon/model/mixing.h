/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What reads and writes give together of what each gives alone. Pure. */

#include "model/profile.h"

/* At one mix. */
typedef struct Mixing {
	double mb_s_part, watts_part; /* of the parts' mean, as in MixPoint; 1: nothing is known */
	double error;                 /* relative, of the watts; NAN: none was measured there */
} Mixing;

/* By the measured mixes of this state and pattern whose chunk, and then whose depth, is nearest;
 * linear in the share of reads between them and the pure ends. power_state -1: as found. */
Mixing mixing_at(const Profile *p, int power_state, const Point *at);
/* By how much a mix may draw more than its parts; 1 or above. */
double mixing_most(const Profile *p);
/* Fills what the mixes give of their parts' mean. */
void mixes_relate(Profile *p);
