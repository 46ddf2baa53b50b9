/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Why the mounted btrfs that this device (kernel name) is a part of must stay up: "btrfs on /srv is
 * being balanced", "... misses a device", "... is being scrubbed"; NULL in *ret_why: nothing keeps
 * it, or it is part of none. -ENOMEM. */
int pool_btrfs_busy(const char *sysfs_root, const char *device, char **ret_why);
