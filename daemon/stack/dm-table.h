/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The tables of device mapper devices, by the kernel's own interface (linux/dm-ioctl.h): read, and
 * replaced while they are in use. Safe from any thread, which libdevmapper is not, and no udev
 * cookie is waited for: to udev a replaced table is a change like any that the kernel makes. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct DmTable {
	char target[16]; /* its one target's type: "writecache" */
	char parameters[1024];
	uint64_t start, length; /* sectors of 512 bytes */
	bool read_only;
	bool suspended; /* of the device: somebody is at work on it */
	bool waiting;   /* another table is loaded and not in use */
} DmTable;

typedef enum DmPart {
	DM_ACTIVE,  /* the table in use */
	DM_WAITING, /* the one that is loaded and not in use */
	DM_STATUS,  /* the target's status in place of its parameters */
} DmPart;

/* -ENOENT: no such device, table or device mapper; -EMLINK: it has not exactly one target. Sends
 * nothing to any disk. */
int dm_table_read(dev_t devnum, DmPart part, DmTable *ret);
/* Loads it and takes it into use in one step, so that nothing that ends here leaves the device
 * suspended. IO waits meanwhile, file systems are not frozen. */
int dm_table_replace(dev_t devnum, const DmTable *t);
/* Throws away the table that waits. */
int dm_table_clear(dev_t devnum);
