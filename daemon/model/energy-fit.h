/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "model/profile.h"

/* Fits the energies that the file does not give to the points; a NaN io_j or page_j means not
 * given. A NaN energy_error becomes the worst miss of the watts at the points, and at least the
 * profile's error. */
void energy_fit(Profile *p);
