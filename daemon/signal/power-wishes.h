/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "signal/power-config.h"
#include "signal/wish.h"

/* Adds what a feed that fails wants: a limit of each thing that hangs on its rails, or of the node.
 */
int feed_wishes(const PowerConfig *c, const Feed *f, const char *how, Wishes *wishes);
