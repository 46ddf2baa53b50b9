/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a sensor says of one device, and how far that may be off. */

#include "control/control.h"
#include "control/gauges.h"

/* What model and counters say that it draws may be so much more or less. */
double reading_model_error_w(const Managed *md);
/* By the sensor nearest to the device. */
DeviceReading reading_of(const Gauges *g, const Fleet *f, const Managed *md);
