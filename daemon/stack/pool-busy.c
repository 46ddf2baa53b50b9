/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a pool must stay up for. Not covered, for nothing says it: an LVM device of several targets
 * (a RAID extended by other means), a btrfs that is scrubbed and mounted nowhere that this process
 * sees, and what happens inside of virtual machines. */

#include "stack/pool.h"

#include <errno.h>
#include <string.h>

#include "base/sysfs.h"
#include "base/text.h"
#include "stack/pool-btrfs.h"
#include "stack/pool-dm.h"
#include "stack/pool-md.h"
#include "stack/pool-zfs.h"
#include "stack/topology-read.h"
#include "stack/topology-walk.h"

static int zfs_busy(const char *sysfs_root, const char *device, char **ret_why)
{
	_cleanup_free_ char *type = topology_property(sysfs_root, device, "ID_FS_TYPE");
	_cleanup_free_ char *label = NULL;

	*ret_why = NULL;
	if (!type || !streq(type, "zfs_member"))
		return 0;
	label = topology_property(sysfs_root, device, "ID_FS_LABEL");
	return label ? pool_zfs_busy(sysfs_root, label, ret_why) : 0;
}

typedef struct Asked {
	const char *sysfs_root;
	char *why;
} Asked;

static int ask_device(const char *folder, void *userdata)
{
	Asked *a = userdata;
	const char *device = base_name(folder);
	int r = 0;

	if (folder_has(folder, "md"))
		r = pool_md_busy(folder, &a->why);
	if (r >= 0 && !a->why && folder_has(folder, "dm"))
		r = pool_dm_busy(a->sysfs_root, device, &a->why);
	if (r >= 0 && !a->why)
		r = pool_btrfs_busy(a->sysfs_root, device, &a->why);
	if (r >= 0 && !a->why)
		r = zfs_busy(a->sysfs_root, device, &a->why);
	return r < 0 ? r : a->why != NULL;
}

int pool_busy(const char *sysfs_root, const char *disk, char **ret_why)
{
	Asked a = { .sysfs_root = sysfs_root };
	int r = topology_each_above(sysfs_root, disk, ask_device, &a);

	if (r < 0)
		return r;
	*ret_why = a.why;
	return 0;
}
