/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Names that others choose (processes, cgroups) are any bytes; D-Bus and JSON carry only UTF-8. */

#include "base/cleanup.h"

/* A copy in which each byte that is not part of valid UTF-8, and each control byte, is "?". NULL
 * when out of memory. */
char *utf8_copy(const char *s);
