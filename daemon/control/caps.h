/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What a device can draw at most, in what is in force. */

#include "control/tools.h"

/* In that setting, W. Until a device has been probed: its rated watts. */
double caps_of(const Managed *md, const Setting *s, uint64_t now_us);
/* Brings what it can draw up to date: the setting in force, or the spin-up that is under way. */
void caps_update(Managed *md, uint64_t now_us);
/* Another profile has other watts. */
void caps_forget(Managed *md);
/* The least that the plan can bring it down to without what is forbidden (a set of Mechanism). It
 * is found anew when the workload is another one, as far as that is worth a plan. */
double caps_floor_w(Managed *md, unsigned forbidden);
double caps_sum_w(const Fleet *f);
