/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What stacks on a disk: partitions, device mapper, RAID, bcache, file systems where they are
 * mounted, swap. From sysfs, /proc and udev's database; no disk is read for it. */

#include <stdbool.h>
#include <sys/types.h>

#include "base/cleanup.h"

typedef struct Mount {
	dev_t devnum; /* made up by btrfs, ZFS and network file systems */
	bool whole;   /* not a part of another mount (bind mount) */
	char *point, *type, *source;
	char **members; /* NULL, or the kernel names of all devices of a btrfs or ZFS */
} Mount;

typedef struct Swap {
	bool is_file;
	dev_t devnum;       /* of the device, or of the one that the file lies on */
	const Mount *mount; /* or NULL: what the file lies on where devnum does not say it */
} Swap;

/* The mounts and swaps of one moment. */
typedef struct Topology {
	char *sysfs_root;
	Mount *mounts;
	size_t n_mounts;
	Swap *swaps;
	size_t n_swaps;
	struct PoolList *pools, *flash_pools; /* pool.c's, found when first asked for */
} Topology;

/* Below "/sys" the mounts are /proc's, below another root ROOT/proc's. */
int topology_read(const char *sysfs_root, Topology **ret);
Topology *topology_free(Topology *t); /* returns NULL */
DEFINE_CLEANUP(Topology *, topology_free);

/* Is the disk this device, the disk of this partition, or anywhere below either? */
bool topology_below(const Topology *t, dev_t devnum, const char *disk);
bool topology_below_mount(const Topology *t, const Mount *m, const char *disk);

/* All that lies on the disk, in words: "sda1: /boot; sda2: md0, vg0-data, /srv"; "" for nothing.
 * NULL when out of memory. */
char *topology_stack(const Topology *t, const char *disk);
