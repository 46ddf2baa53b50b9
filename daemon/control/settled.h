/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* When a change of a limit has reached the devices and the draw. */

#include "control/control-state.h"

/* Tells of the changes that have, each once. */
void settled_tell(Control *c);
