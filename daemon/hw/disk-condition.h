/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The power conditions of a SATA or SAS disk. Nothing here changes what outlives a condition: no
 * timer, no APM level, no saved setting. */

#include <stdbool.h>

#include "base/cleanup.h"
#include "model/setting.h"

typedef struct DiskCondition DiskCondition;

/* node: "/dev/sda"; sysfs_device_folder: "/sys/block/sda/device". wake_tested: a disk of this HBA
 * is known to come back from standby by itself. Until then no SAS disk is put there: many HBAs
 * fail the IO that should wake it. *ret_conditions: bits of those that can be set, with
 * CONDITION_ACTIVE. -EOPNOTSUPP: it has none. -EAGAIN: the kernel has put it to sleep, and asking
 * would wake it. */
int disk_condition_open(const char *node, const char *sysfs_device_folder, bool wake_tested,
			DiskCondition **ret, unsigned *ret_conditions);
DiskCondition *disk_condition_close(DiskCondition *c); /* returns NULL */
DEFINE_CLEANUP(DiskCondition *, disk_condition_close);

/* Never wakes the disk. -EIO: it is stopped and its next IO fails (logged); -EBUSY: it is between
 * two conditions. */
int disk_condition_get(DiskCondition *c, Condition *ret);
/* Returns when the disk has reached the condition, or has had the time to: read it back. A disk's
 * write cache is flushed before it goes to standby. ACTIVE wakes it. */
int disk_condition_set(DiskCondition *c, Condition condition);
/* Sets whether standby may be commanded: returns the conditions that can be set now. Sends
 * nothing. */
unsigned disk_condition_trust(DiskCondition *c, bool trusted);
bool disk_condition_is_trusted(const DiskCondition *c);
/* Has it a standby that needs a wake test first? */
bool disk_condition_needs_wake_test(const DiskCondition *c);
