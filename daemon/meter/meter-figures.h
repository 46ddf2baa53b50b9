/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Private to the meter: turns the kernel's counters into DeviceCounters, and a profile's energies
 * into the kernel's terms. */

#include <linux/types.h>

#include "device/device.h"
#include "meter-counters.h"

/* Leaves time_us, has_waits and what is uncontrolled alone. The latency is NAN when the kernel has
 * noted no time of any IO (queue/iostats 0). */
void meter_figures(const struct meter_counters *c, bool has_joules, DeviceCounters *ret);

/* False: some energy is not known, and all of them are set to 0. */
bool meter_energies(const Profile *p, struct meter_terms *ret);
/* The limit of a window in the kernel's units. */
__u64 meter_window_joules(double joules_per_s, uint64_t window_us);
