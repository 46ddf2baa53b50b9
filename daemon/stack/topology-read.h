/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the topology asks of udev's database and sysfs. */

#include "stack/topology.h"

/* A property that udev found on a device, "ID_FS_LABEL"; NULL for none. Below a root other than
 * "/sys" it is the file ROOT/udev/NAME, of lines KEY=VALUE. */
char *topology_property(const char *sysfs_root, const char *name, const char *key);
/* The folder of a device by its kernel name, links resolved; NULL: there is none. */
char *topology_folder(const char *sysfs_root, const char *name);
char *topology_folder_of(const char *sysfs_root, dev_t devnum);
