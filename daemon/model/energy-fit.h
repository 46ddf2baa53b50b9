/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "model/profile.h"

/* The energies that no file gives, from the points; a NaN io_j or page_j means not given. Where
 * energy_error is NaN it becomes the worst miss of the watts at the points, at least the profile's
 * error. */
void energy_fit(Profile *p);
