/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The sections and keys of storpower.conf, for config.c. */

#include "base/ini.h"
#include "config/config.h"

/* Takes one line or heading (key NULL) into the configuration. -EINVAL or -ENOENT after a
 * complaint, which leaves the value as it was; -ENOMEM. */
int config_take(const IniLine *l, Config *c);
