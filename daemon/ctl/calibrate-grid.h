/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The settings that a calibration chooses from. */

#include "ctl/ctl.h"
#include "model/design.h"

/* The axes that the options name. An exit status, errors printed. */
int calibrate_grid_parse(const CalibrateOptions *o, DesignGrid *g);
/* The other axes, but for the power states: what is usual for this kind of drive. */
void calibrate_grid_fill(DeviceKind kind, bool writes, DesignGrid *g);
