/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What events of OpenADR want. Pure. */

#include "signal/openadr-config.h"
#include "signal/wish.h"

/* Is this event for this node? */
bool openadr_is_ours(const OpenadrConfig *c, const OpenadrEvent *e);
/* What they want at this time, and when that changes next. Of events in force that say the same
 * kind of thing those of the highest priority count, and among these the strictest. */
int openadr_wishes(const OpenadrConfig *c, const OpenadrEvents *events, int64_t now_s, Wishes *ret,
		   int64_t *ret_change_s);
