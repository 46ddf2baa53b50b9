/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Private to the meter: what the kernel's counters say in the words of the house. */

#include <linux/types.h>

#include "device/device.h"
#include "meter-counters.h"

/* NULL energies: none are known. Leaves time_us alone. The latency is NAN when the kernel has noted
 * no time of any IO (queue/iostats 0). */
void meter_figures(const struct meter_counters *c, const Energy (*energy)[_PATTERN_MAX],
		   DeviceCounters *ret);
