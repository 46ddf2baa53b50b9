/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Observe first: the plan for limits that are advised and not held. It is made from what is, as if
 * its predecessor were in force, and none of its steps is ever sent. */

#include "control/control-state.h"

/* The node as it is, with its limits held; it borrows everything. */
Control advice_as_if_held(const Control *c);
/* The mode has been set: counting begins anew. */
void advice_begin(Control *c);
/* A plan, as far as it is worth it. Ends the advice when no limit is to be advised. */
void advice_update(Control *c, bool may_keep);
/* What it would have saved since it was last counted. */
void advice_count(Control *c);
AdviceState advice_state(const Control *c);
void advice_done(Control *c);
