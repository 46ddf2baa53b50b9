/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What processors and memory have drawn, by RAPL: beside storage's own joules, what a request costs
 * in all (Nibler and Ropars). */

#include <stdint.h>

#include "base/cleanup.h"

typedef struct RaplEnergy RaplEnergy;

/* Looks for the zones below SYSFS/class/powercap. -ENOENT: there are none; -EACCES; -ENOMEM. */
int rapl_energy_open(const char *sysfs_root, RaplEnergy **ret);
RaplEnergy *rapl_energy_close(RaplEnergy *r); /* returns NULL */
DEFINE_CLEANUP(RaplEnergy *, rapl_energy_close);

/* Microjoules since the last call, 0 with the first. What a zone has lost meanwhile because it
 * started again more than once cannot be known: call it every minute at least. -ENODEV: none can be
 * read any more. */
int rapl_energy_read(RaplEnergy *r, int64_t *ret_cpu_uj, int64_t *ret_memory_uj);
