/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Looks after the feeds of power of one configuration, and has limits held while one of them fails.
 */

#include "signal/power-config.h"
#include "signal/signal.h"

typedef struct Power Power;

/* What was seen of a feed that was looked after before is taken over. before: NULL: nothing was. */
int power_start(const SignalHost *host, const PowerConfig *config, const Power *before,
		Power **ret);
Power *power_free(Power *p); /* returns NULL */
DEFINE_CLEANUP(Power *, power_free);
