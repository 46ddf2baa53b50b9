/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* From a plan to steps: what is decided is aimed at, and what is admitted is sent. */

#include "control/control-state.h"

/* What was enforced of late is counted from now on. */
void enforce_note_event(Control *c, uint64_t now_us);
bool enforce_is_settling(const Control *c); /* what is exceeded is being brought down already */

/* A plan, as far as it is worth it, and the steps that may go now. *ret_changes: any setting is
 * another one. -errno: none could be made; the last one stays in force. */
int enforce_plan(Control *c, bool may_keep, bool *ret_changes, Need *ret_more);
/* The steps alone. */
Need enforce_steps(Control *c);
/* No fast knob is out any longer: that is when it was done. */
void enforce_note_done(Control *c);
/* The least that the devices can be brought down to now. */
void enforce_update_floor(Control *c);
void enforce_done(Control *c);
bool enforce_is_news(const Control *c, const Managed *md); /* beside what was planned for */
