/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What each kind of pool is doing, as far as it must stay up for that. All of them return 1 with
 * *ret_why set when something keeps it up, 0 when nothing does or the device is none of that kind,
 * or -ENOMEM. */

#include <sys/types.h>

#include "base/cleanup.h"

/* An md array (its folder of sysfs): "md0 is being resynced (recover)", "md0 is degraded". */
int pool_md_busy(const char *folder, char **ret_why);
/* A RAID of LVM's (the folder of a mapped device): "vg0-lv is being resynced (resync)". Below a
 * root other than "/sys" device mapper is not asked. */
int pool_dm_busy(const char *sysfs_root, const char *folder, char **ret_why);
/* The mounted btrfs that this device (kernel name) is a part of: "btrfs on /srv is being balanced",
 * "... misses a device", "... is being scrubbed". */
int pool_btrfs_busy(const char *sysfs_root, const char *device, char **ret_why);
/* The ZFS pool that this device is a part of: "zpool tank is being scrubbed", "zpool tank is
 * DEGRADED"; or that zpool(8) does not say, which is asked as no file of sysfs says it. No pool
 * where there is no zpool(8) or it is not imported. Takes up to 10 s. zpool(8) asks the kernel and
 * no disk. */
int pool_zfs_busy(const char *sysfs_root, const char *device, char **ret_why);

/* For the above: what keeps the pool up. 1, or -ENOMEM. */
int pool_keep_up(char **ret_why, const char *format, ...) _printf_(2, 3);
/* What an array does in md's own word for it, "recover": "NAME is being resynced (recover)". */
int pool_keep_up_to_sync(char **ret_why, const char *name, const char *action);

#define POOL_DM_CACHES 2

/* Of a mapped device (its folder) what it uses as a cache: of dm-writecache the cache, of dm-cache
 * the cache and its metadata (Documentation/admin-guide/device-mapper). Their number. */
unsigned pool_dm_caches(const char *sysfs_root, const char *folder, dev_t ret[POOL_DM_CACHES]);
