/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The [device NAME] sections of storpower.conf, for config.c. */

#include "base/ini.h"
#include "config/block-config.h"

/* Takes one key in; -EINVAL after a complaint, -ENOMEM. */
int config_device_key(BlockConfig *d, const IniLine *l);
void config_device_done(BlockConfig *d);
