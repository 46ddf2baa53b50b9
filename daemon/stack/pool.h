/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Pools: disks that are planned as one, and sleep and wake together, because an IO to one is an IO
 * to all: members of an md array, of an LVM volume group or another mapped device, of a btrfs or a
 * ZFS pool. From sysfs, udev's database (libblkid's findings, without reading a disk) and the
 * mounts; what a ZFS pool is doing by `zpool status -P` where that is there. Disks that turn and
 * flash are in pools of their own: flash need not be woken, and keeps no disk that it mirrors or
 * caches from sleeping. */

#include "stack/topology.h"

/* The name of the disk's pool: "md0", "vg0", "btrfs 1f2e...", "zpool tank"; "" for none, and for
 * one that no other disk is in. A disk in several (an array that is a volume group's only member,
 * two partitions in two arrays) is in the one that joins most disks; two disks in any common pool
 * have the same name here. NULL when out of memory. */
char *pool_name(const Topology *t, const char *disk);

/* How the data of an md array is protected, as data+parity: "1+1" of a mirror of two, "3+1" of RAID
 * 5 over four; "": the pool is none, or has no redundancy. malloc'd; NULL when out of memory. */
char *pool_protection(const char *sysfs_root, const char *pool);

/* Why what lies on the disk must stay up now, pool or not: "md0 is being resynced (recover)", "md0
 * is degraded", "zpool tank is being scrubbed", "btrfs on /srv is being balanced"; *ret_why NULL:
 * nothing keeps it. Asked just before a disk is put to sleep, off the loop; wakes nothing; may run
 * zpool(8), which has 10 s. -ENOMEM. */
int pool_busy(const char *sysfs_root, const char *disk, char **ret_why);

/* Why this disk serves as the cache that others' writes are redirected to, "it is the cache of
 * bcache0": such a disk never sleeps. bcache, dm-writecache and dm-cache; the branches of a
 * mergerfs are not told apart, as only asking the mount would, which may hang. NULL in *ret_why: it
 * is none. -ENOMEM. */
int pool_redirect_target(const Topology *t, const char *disk, char **ret_why);
