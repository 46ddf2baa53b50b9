/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the topology asks of udev's database and sysfs. */

#include "stack/topology.h"

/* A property that udev found on a device, "ID_FS_LABEL"; NULL for none. Below a root other than
 * "/sys" it is the file ROOT/udev/NAME, of lines KEY=VALUE. */
char *topology_property(const char *sysfs_root, const char *name, const char *key);
/* The ZFS pool whose label is on a device, "" where that has no name; NULL: it is in none. */
char *topology_zfs_pool(const char *sysfs_root, const char *name);
/* The folder SYSFS/fs/btrfs/UUID of the mounted btrfs that a device is in; NULL: it is in none. */
char *topology_btrfs(const char *sysfs_root, const char *name);
/* The folder of a device by its kernel name, links resolved; NULL: there is none. */
char *topology_folder(const char *sysfs_root, const char *name);
char *topology_folder_of(const char *sysfs_root, dev_t devnum);
/* The kernel name of what a mount or swap was made from: "/dev/mapper/vg-log" is "dm-0". NULL when
 * out of memory. */
char *topology_kernel_name(const char *path);
/* A file of /proc, "self/mountinfo"; below a root other than "/sys" it is ROOT/proc/FILE. NULL when
 * out of memory. */
char *topology_proc(const char *sysfs_root, const char *file);
