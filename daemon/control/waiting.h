/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* How applications wait for their IO, where the devices' own figures do not tell. */

#include "control/control.h"

typedef struct WaitingState {
	const char
		*why_not; /* the devices' waits are not known; NULL: they are, where eBPF counts */
	char *cgroup;    /* that waits most of those that pacing acts on; "/": all; NULL: unknown */
	double pressure; /* percent of the last ten seconds; NAN: unknown */
} WaitingState;

void waiting_state_clear(WaitingState *w);

/* cgroup is malloc'd. */
void control_waiting(const Control *c, WaitingState *ret);
