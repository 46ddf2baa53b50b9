/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The kinds of values that keys of storpower.conf have, for config*.c. What sets one returns
 * -EINVAL after a complaint, leaving the value as it was, or -ENOMEM. */

#include <stdbool.h>

#include "base/ini.h"

/* A name that is a part of a file name, and cannot lead out of its folder. */
bool config_is_name(const char *s);
/* A copy; "" becomes NULL. */
int config_set_text(char **to, const char *value);
int config_set_name(const IniLine *l, char **to);
int config_set_flag(const IniLine *l, bool *to);
int config_set_watts(const IniLine *l, double *to);
