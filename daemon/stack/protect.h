/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which block devices must never be slowed down or put to sleep, which are no storage to manage,
 * and which are managed without being asked for. */

#include "stack/topology.h"

/* NULL, or why: does this disk hold, by itself or below partitions, device mapper, RAID, bcache,
 * btrfs and ZFS, what the system needs to live? In words: "holds the root file system". */
const char *block_protected(const Topology *t, const char *name);
/* The kinds of device that are refused even when they are named; NULL when it is none of them. */
const char *block_refused(const char *name);
/* NULL for a disk that is managed without being named; else why not. */
const char *block_ignored(const char *sysfs_root, const char *name);
