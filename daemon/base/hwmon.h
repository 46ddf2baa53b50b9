/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

/* Is a folder of /sys/class/hwmon of this chip? CHIP or CHIP@DEVICE: what its "name" says, and the
 * last part of where its "device" leads to. */
bool hwmon_is_chip(const char *folder, const char *chip);
