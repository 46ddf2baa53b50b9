/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Who is of which pool, and how many of it are held back. It is found in one walk over the devices:
 * among thousands, to compare each with each takes longer than a look may. */

#include "control/control.h"
#include "control/managed.h"

/* The number of each device's pool, from 1: one more than the index of the first device of it. 0:
 * it is of none. ret: room for each device. -ENOMEM. */
int pools_number(const Fleet *f, size_t *ret);

/* May any member of that pool serve what is asked of it? */
bool pools_spread(const ControlConfig *c, const char *name);

/* To be called at each look, and when a device is gone. Without memory nobody is known to be of a
 * pool until the next one; who is of one that spreads waits for no other member. */
void pools_find(Fleet *f, const ControlConfig *c);
/* The first of those with which the device waits, and the next after a member; NULL: there is none.
 */
Managed *pools_first(const Fleet *f, const Managed *md);
Managed *pools_next(const Fleet *f, const Managed *md);
void pools_done(Fleet *f);
/* Whether it serves its pool and is held back, as it was judged last. */
void pools_note_held(Fleet *f, Managed *md, bool held);
/* Is any other member of its pool? */
bool pools_hold_back(const Fleet *f, const Managed *md);
