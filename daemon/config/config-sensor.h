/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The [sensor NAME] sections of storpower.conf, for config.c. */

#include "base/ini.h"
#include "config/sensor-config.h"

/* Takes one key in; -EINVAL after a complaint, -ENOMEM. */
int config_sensor_key(SensorConfig *s, const IniLine *l);
/* Is all there that a sensor of its type needs? Else complains, once for the section. */
bool config_sensor_complete(const SensorConfig *s);
