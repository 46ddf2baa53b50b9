/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "control/facts.h"

/* Enforcement is one rule. A step that lowers what its device can draw may be taken at once; one
 * that raises it only when the sum of what all devices can draw, with it, stays within the limit,
 * of the node and of its group. So savings come before spendings, a failed saving keeps the others
 * from spending it, and the sum of the enforced caps never exceeds the budget once it has come
 * under it.
 *
 * Pure. Fills in at most one step a device, lowerings first; how many. */
size_t admit(const InForce *f, Admitted *ret);
/* What the device can draw in that setting. */
double admit_cap_w(const DeviceInForce *d, const Setting *s);
