/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* dm-writecache: the disk, or a volume on it, is the origin of a write cache, as LVM makes one
 * (Linux Documentation/admin-guide/device-mapper/writecache.rst). */

#include "device/device.h"

#define WRITECACHE "writecache" /* the target's type */

/* The mapped device. -ENOENT: the disk has none in front of it; -EMLINK: several volumes on it
 * have one. */
int writecache_find(Device *d, dev_t *ret);
