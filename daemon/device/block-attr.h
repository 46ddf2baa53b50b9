/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A real block device: its attributes and counters, below SYSFS/block/NAME. */

#include "device/device.h"

/* Reads who and what it is; without a profile. -ENODEV when it is not there (a loop device without
 * its file is not). */
int block_device_new(const char *sysfs_root, const char *name, Device **ret);

/* One attribute of SYSFS/block/NAME/; "" when it cannot be read. */
char *block_attribute(const char *sysfs_root, const char *name, const char *attr, char *buf,
		      size_t size);
/* Where the same device, attached anew to something else, differs. NULL: not there. */
char *block_device_id(const char *sysfs_root, const char *name);
