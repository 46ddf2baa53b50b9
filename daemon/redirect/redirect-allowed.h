/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which component above a disk the operator lets be used ([device NAME] redirect=). Asked before
 * anything is set, and never before it is put back. */

#include "device/device.h"

/* For Knob.probe: -EOPNOTSUPP and why not. */
int redirect_allowed(const Device *d, const char *component, char **ret_why_not);
