/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The storage of this machine: NVMe controllers, SATA and SAS disks, and whatever other block
 * device the configuration names; from sysfs. */

#include "config/block-config.h"
#include "device/inventory.h"
#include "device/wake-record.h"

typedef struct BlockOptions {
	bool discover; /* also manage controllers and disks that are not named */
	const BlockConfig *configs;
	size_t n_configs;
	const ProfileStore *profiles;
	const WakeRecord *wakes; /* which HBAs wake a disk; NULL: none is known to */
} BlockOptions;

/* sysfs_root: "/sys", or a fake tree in tests. What is not there is waited for (udev, or the
 * kernel where no udev runs). Devices that hold root, boot, swap or the journal get
 * protected_why. */
int block_inventory_open(const char *sysfs_root, const BlockOptions *options, Inventory **ret);
/* Goes by other options from now on, those of before having been read again, and reports what
 * follows: DEVICE_DESCRIBED, DEVICE_MOVED, devices that are managed now, and those that are given
 * back because they are not any more. -ENOMEM: they are as before. */
int block_inventory_configure(Inventory *i, const BlockOptions *options);
