/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which block devices must never be slowed down or put to sleep, which are no storage to manage,
 * and which are managed without being asked for. */

#include "stack/topology.h"

/* Why this disk is never touched: what the system needs to live lies on it, by itself or below
 * partitions, device mapper, RAID, bcache, btrfs and ZFS ("holds the root file system"), or it is a
 * path of a multipath device. NULL: nothing protects it. */
const char *stack_why_protected(const Topology *t, const char *disk);
/* Why a device (kernel name) is refused even when it is named; NULL: it is not. */
const char *stack_why_refused(const char *name);
/* Why a disk is not managed without being named; NULL: it is managed. */
const char *stack_why_ignored(const char *sysfs_root, const char *name);
