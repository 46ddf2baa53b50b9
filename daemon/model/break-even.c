/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "model/predict.h"

double condition_break_even_s(const Profile *p, Condition c)
{
	const ConditionPower *to = &p->conditions[c];
	double saved_w, moving_s, moving_j;

	if (c == CONDITION_ACTIVE || !to->present)
		return INFINITY;
	saved_w = p->idle_w - to->watts;
	moving_s = to->enter_s + MAX(to->wake_s, to->recovery_s);
	moving_j = p->idle_w * (to->enter_s + to->recovery_s);
	/* where the spin-up power is known, it is drawn until the disk serves again, which is
	 * longer */
	if (to->wake_w > 0)
		moving_j = p->idle_w * to->enter_s + to->wake_w * to->wake_s;
	if (saved_w <= 0)
		return INFINITY;
	return MAX((moving_j - to->watts * moving_s) / saved_w, moving_s);
}
