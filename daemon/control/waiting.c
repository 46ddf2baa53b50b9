/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control/waiting.h"

#include <math.h>

#include "control/control-state.h"

void waiting_state_clear(WaitingState *w)
{
	free(w->cgroup);
	w->cgroup = NULL;
}

void control_waiting(const Control *c, WaitingState *ret)
{
	*ret = (WaitingState){ .why_not = meter_waits_why_not(c->tools.meter), .pressure = NAN };
	meter_worst_pressure(c->tools.meter, &ret->cgroup, &ret->pressure);
}
