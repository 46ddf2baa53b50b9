/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the operator's hooks are told of a slow step, and what follows from their answers. */

#include "control/control-state.h"

/* Asks for each step that waits for them. In an emergency they are told, and nothing waits. */
void hooks_ask(Control *c);
/* Whom a hook refused for another claim is asked about again. Before each plan. */
void hooks_end_vetoes(Control *c);
/* A step has come back. */
void hooks_tell_result(Control *c, const Job *j);
/* An answer has. */
Need hooks_take(Control *c, Job *j);
