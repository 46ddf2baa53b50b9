/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/sysfs.h"
#include "base/text.h"
#include "stack/mounts.h"
#include "stack/pool-kinds.h"
#include "stack/topology-read.h"
#include "stack/topology-walk.h"

typedef struct Btrfs {
	const char *folder; /* SYSFS/fs/btrfs/UUID */
	char *mount_point;  /* NULL: not seen */
	char **ret_why;
} Btrfs;

static int take_mount_point(const MountEntry *entry, void *userdata)
{
	_cleanup_free_ char *device = NULL, *member = NULL;
	Btrfs *b = userdata;

	if (!streq(entry->type, "btrfs"))
		return 0;
	device = topology_kernel_name(entry->source);
	member = device ? text_printf("devices/%s", device) : NULL;
	if (!member || !folder_has(b->folder, member))
		return member ? 0 : -ENOMEM;
	b->mount_point = strdup(entry->point);
	return b->mount_point ? 1 : -ENOMEM;
}

static int keep_up(const Btrfs *b, const char *what)
{
	return b->mount_point ? pool_keep_up(b->ret_why, "btrfs on %s %s", b->mount_point, what)
			      : pool_keep_up(b->ret_why, "btrfs %s %s", base_name(b->folder), what);
}

/* Balance, and whatever else excludes others: "device replace", "resize", ... (kernel
 * fs/btrfs/sysfs.c). */
static int operation_busy(const Btrfs *b)
{
	_cleanup_free_ char *words = NULL;
	char operation[64];

	sysfs_attribute("", b->folder, "exclusive_operation", operation, sizeof(operation));
	if (!*operation || streq(operation, "none"))
		return 0;
	if (streq(operation, "balance"))
		return keep_up(b, "is being balanced");
	words = text_printf("is busy (%s)", operation);
	return words ? keep_up(b, words) : -ENOMEM;
}

/* SYSFS/fs/btrfs/UUID/devinfo/DEVID */
static int missing_busy(const char *path, void *userdata)
{
	char missing[16];

	return streq(sysfs_attribute("", path, "missing", missing, sizeof(missing)), "1")
		       ? keep_up(userdata, "misses a device")
		       : 0;
}

/* The one thing that sysfs does not say: -ENOTCONN is the kernel's "no scrub". */
static int scrub_busy(const char *path, void *userdata)
{
	struct btrfs_ioctl_scrub_args scrub = {};
	const Btrfs *b = userdata;
	_cleanup_close_ int fd = -EBADF;
	unsigned long devid;

	if (parse_unsigned(base_name(path), UINT32_MAX, &devid) < 0)
		return 0;
	fd = open(b->mount_point, O_RDONLY | O_DIRECTORY | O_NOATIME | O_CLOEXEC);
	scrub.devid = devid;
	return fd >= 0 && ioctl(fd, BTRFS_IOC_SCRUB_PROGRESS, &scrub) == 0
		       ? keep_up(b, "is being scrubbed")
		       : 0;
}

int pool_btrfs_busy(const char *sysfs_root, const char *device, char **ret_why)
{
	_cleanup_free_ char *folder = topology_btrfs(sysfs_root, device), *point = NULL;
	_cleanup_free_ char *mounts = topology_proc(sysfs_root, "self/mountinfo");
	_cleanup_free_ char *devinfo = folder ? text_printf("%s/devinfo", folder) : NULL;
	Btrfs b = { .folder = folder, .ret_why = ret_why };
	int r;

	if (!folder)
		return 0;
	r = mounts && devinfo ? mounts_each(mounts, take_mount_point, &b) : -ENOMEM;
	point = b.mount_point;
	if (r == -ENOMEM)
		return r;
	r = operation_busy(&b) ?: folder_each(devinfo, missing_busy, &b);
	if (r == 0 && point && streq(sysfs_root, "/sys"))
		r = folder_each(devinfo, scrub_busy, &b);
	return r;
}
