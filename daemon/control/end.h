/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "control/control-state.h"

/* Gives everything back, waiting for spindles too. What fails stays in the journal, for
 * storpowerd --restore and the next start. */
void end_give_all_back(Control *c);
