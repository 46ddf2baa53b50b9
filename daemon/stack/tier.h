/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Tiers: devices whose reads go to a cache first, and from there to the disks behind it. bcache,
 * dm-cache and dm-writecache. */

#include "device/device.h"
#include "stack/dm-table.h"
#include "stack/topology.h"

/* The kernel names of what the disk is the cache of: "bcache0 dm-3"; "" for nothing. NULL when out
 * of memory. */
char *tier_cached_by(const Topology *t, const char *disk);
/* The same of the devices with a cache that lie on the disk, and whose cache it is not. */
char *tier_behind(const Topology *t, const char *disk);

/* By the kernel's own count. Of what bypasses its cache bcache tells as well. It shifts what it has
 * counted in 14 seconds to the left by 16 of 32 bits: of more than 65535 hits it loses some, and
 * more reads seem to miss. -ENODATA: the kernel does not count them. Reads no disk. */
int tier_count_reads(const char *sysfs_root, const char *device, CacheReads *ret);
/* The same from the status of a mapped device. */
int tier_parse_status(const DmTable *status, CacheReads *ret);
