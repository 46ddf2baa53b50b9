/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The storage of this machine: NVMe controllers, SATA and SAS disks, and whatever other block
 * device the configuration names; from sysfs. */

#include "device/inventory.h"
#include "device/wake-record.h"

/* One [device NAME] section of the configuration. */
typedef struct BlockConfig {
	char *name; /* kernel name (nvme0, sdb, loop0), namespace (nvme0n1), or id ("wwid:...") */
	char *profile;    /* profile name; NULL: by model string, else generic */
	char *group;      /* NULL: none */
	bool unmanaged;   /* leave it alone */
	bool wake_tested; /* a SAS disk may be put to standby: its IO wakes it on this HBA */
	bool keep_awake;  /* never put it to sleep */
	char *redirect;   /* the component that may keep IO off it: "bcache", ...; "none": whatever
			   * is found is left alone; NULL: what is found, but nvmet */
} BlockConfig;

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
