/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Does an IO alone bring a disk back from standby? Many HBAs fail that IO instead, and a file
 * system or a pool then takes the disk for dead. */

#include <stdint.h>

#include "hw/disk-condition.h"

/* Flushes the disk and puts it to standby, tested or not; reads a block of size block_bytes near
 * the end of its size_bytes; and wakes it by a command where that read did not. Results as of
 * DeviceOps.wake_test(). */
int disk_wake_test(DiskCondition *c, const char *node, uint64_t size_bytes, unsigned block_bytes,
		   double *ret_seconds, char **ret_text);
