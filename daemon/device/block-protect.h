/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which block devices must never be slowed down or put to sleep. */

#include <stdbool.h>

#include "base/cleanup.h"

/* Does this disk hold, by itself or below partitions, device mapper and RAID, what the system needs
 * to live? *ret_why in words ("holds the root file system"), NULL when not. Below "/sys" the mounts
 * are /proc's, below another root ROOT/proc's. */
int block_protected(const char *sysfs_root, const char *name, char **ret_why);
/* The kinds of device that are refused outright; NULL when it is none of them. */
const char *block_refused(const char *sysfs_root, const char *name);
