/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Asks zpool(8), the one that knows: no file of sysfs says what a ZFS pool is doing. */

/* Why the pool must stay up: "zpool tank is being scrubbed", "zpool tank is DEGRADED"; or that
 * zpool(8) does not say. NULL in *ret_why: nothing keeps it, it is not imported, or there is no
 * zpool(8). Takes up to 10 s. zpool(8) asks the kernel and no disk. -ENOMEM. */
int pool_zfs_busy(const char *sysfs_root, const char *pool, char **ret_why);
