/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The inside of the inventory of this machine: for block-inventory.c, which knows all slots, and
 * block-slot.c, which knows one. */

#include "hw/block-monitor.h"
#include "hw/block-nvme.h"
#include "hw/block.h"
#include "stack/topology.h"

/* A controller or block device that is or was there. */
typedef struct BlockSlot {
	char *name;
	char *identity; /* of the device that is there now; NULL: there is nothing to manage */
	const BlockConfig *config;
	NvmeSubsystem subsystem; /* of an NVMe controller */
	Device *device;
	bool refused; /* it was logged once, and is not logged again until the device goes */
	bool reset;
} BlockSlot;

typedef struct BlockInventory {
	Inventory inventory; /* first */
	char *sysfs_root;
	BlockOptions options;
	BlockConfig *configs;
	bool *found; /* by configuration: something goes by that name */
	BlockSlot *slots;
	size_t n_slots;
	Topology *topology;    /* while looking */
	bool configured;       /* anew: what the configuration says of a device may have changed */
	BlockMonitor *monitor; /* NULL below a fake root */
} BlockInventory;

/* Looks which device has that name now, and reports what has changed. */
int block_slot_look(BlockInventory *b, BlockSlot *s);
/* Reports the device as one that departs if it has that id. -ENODEV: it has another; -EBUSY: it
 * cannot be used now. */
int block_slot_adopt(BlockInventory *b, BlockSlot *s, const char *id);
/* The device stays, but what lies on it may have changed. */
int block_slot_review(BlockInventory *b, BlockSlot *s);
void block_slot_done(BlockSlot *s);
void block_tell(BlockInventory *b, Device *d, DeviceEvent event);
