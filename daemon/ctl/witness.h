/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* verify --witness: what other people's tools say of the same devices. */

#include "ctl/ctl.h"

/* Returns one row for each device that a tool knows: Device, Witness (the command), Ours, Theirs,
 * Agrees (null: the tool is missing or does not understand the device; Theirs says so). It needs
 * the rights to open the devices, and wakes none. *ret_n_differ counts those that do not agree. */
json_object *witness_devices(json_object *devices, size_t *ret_n_differ);
