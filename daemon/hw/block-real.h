/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The inside of a real device: for block-device.c, which makes it, and block-real.c, which acts. */

#include <sys/types.h>

#include "device/wake-record.h"
#include "hw/cgroup.h"
#include "hw/disk-condition.h"
#include "hw/nvme-device.h"

typedef struct RealDevice {
	char *sysfs_root;
	char *folder;      /* is gone when the device is */
	ino_t inode;       /* of the folder: names are given out again, these are not */
	char *block;       /* has queue/ and device/; NULL where there is no one block device */
	char *host;        /* of the SCSI host, or of the only NVMe controller; NULL: none */
	char **stats;      /* files "stat" that make up its counters */
	char *cgroup_root; /* NULL: no cgroup v2 */
	NvmeDevice *nvme;  /* NULL: no controller, or it did not answer */
	DiskCondition *condition; /* NULL: no such commands */
	bool condition_due;       /* it was asleep, and is to be asked when awake */
	bool wake_tested;         /* as the configuration says */
	const WakeRecord *wakes;  /* NULL: none is kept */
} RealDevice;

/* One table for each kind of device, so that what can never be is NULL there: any block device, a
 * SCSI or SATA disk, an NVMe controller. */
extern const DeviceOps block_ops, disk_ops, nvme_ops;
void real_device_free(Device *d);
/* Sets its conditions by what is known of its HBA. */
void real_device_trust(Device *d);
