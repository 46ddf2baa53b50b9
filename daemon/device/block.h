/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Real block devices named in the configuration: /sys/block and /sys/dev/block. */

#include "device/inventory.h"

/* One [device NAME] section of the configuration. */
typedef struct BlockConfig {
	char *name;    /* kernel name: loop0, sdb, nvme0n1 */
	char *profile; /* profile name; NULL: by model string, else generic */
	char *group;   /* NULL: none */
} BlockConfig;

/* sysfs_root: "/sys", or a fake tree in tests. A named device that does not exist is waited for
 * (udev). Devices that hold root, boot, swap or the journal get protected_why. */
int block_inventory_open(const char *sysfs_root, const BlockConfig *configs, size_t n_configs,
			 const ProfileStore *profiles, Inventory **ret);
