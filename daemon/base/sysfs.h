/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What sysfs says of block devices and disks; never sends the device a command. */

#include <stdbool.h>
#include <sys/types.h>

#include "base/cleanup.h"

#define BLOCK_ATTR_MAX 4096 /* sysfs gives a page at most */

/* One attribute of SYSFS/FOLDER/, without the blanks around it; "" when it cannot be read. */
char *sysfs_attribute(const char *sysfs_root, const char *folder, const char *attr, char *buf,
		      size_t size);
/* The same of SYSFS/block/NAME/. */
char *block_attribute(const char *sysfs_root, const char *name, const char *attr, char *buf,
		      size_t size);
/* Where the same device, attached anew to something else, differs; stable over restarts. NULL: not
 * there (a loop device without its file is not). */
char *block_device_id(const char *sysfs_root, const char *name);
/* "SCHEME:WHAT" as one word. */
char *block_make_id(const char *scheme, char *what);
/* The file "dev" of a folder of sysfs; 0 where it has none. */
dev_t sysfs_devnum(const char *sysfs_root, const char *folder);
bool is_loop_name(const char *name);
/* Behind the last slash. */
const char *base_name(const char *path);
