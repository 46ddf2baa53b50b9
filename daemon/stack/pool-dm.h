/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What device mapper says of a device beyond sysfs: its targets. Nothing below a root other than
 * "/sys". */

#include <sys/types.h>

#define POOL_DM_CACHES 2

/* Of a mapped device (kernel name, "dm-3") what it uses as a cache: of dm-writecache the cache, of
 * dm-cache the cache and its metadata (Documentation/admin-guide/device-mapper). Their number. */
unsigned pool_dm_caches(const char *sysfs_root, const char *mapped, dev_t ret[POOL_DM_CACHES]);
/* Why a RAID of LVM's (dm-raid) must not sleep: "vg0-lv is being resynced (resync)"; *ret_why NULL:
 * it may, or is none. -ENOMEM. */
int pool_dm_busy(const char *sysfs_root, const char *mapped, char **ret_why);
