/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the kernel says of a feed of power. words: how it fails, else why nothing is known; size
 * bytes. */

#include <stddef.h>

#include "signal/feed.h"

/* class/power_supply/NAME: a mains supply that is offline, a battery that discharges. */
FeedSeen supply_seen(const char *sysfs, const char *name, char *words, size_t size);
/* Any file of the hwmon chips of this name that is like one of the globs and says other than 0.
 * NULL: any alarm. */
FeedSeen alarm_seen(const char *sysfs, const char *chip, char *const *globs, char *words,
		    size_t size);
