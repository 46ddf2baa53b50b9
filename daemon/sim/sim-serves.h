/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Where a device serves less than its profile says: at settings that the profile's source did not
 * measure. */

#include "base/ini.h"
#include "sim/sim-file.h"

#define SIM_SERVES                                                                                 \
	"a depth, a chunk or both, and what is served there of what the profile says, such as "    \
	"depth<=1,chunk<=4K 10%"

/* For tables of keys: into a SimServes. */
int sim_take_serves(const IniLine *l, void *member);
/* What is served of what the profile says, awake and at that setting. */
double sim_serves_share(const SimServes *v, const Setting *s);
