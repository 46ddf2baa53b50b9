/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stack/pool-btrfs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/sysfs.h"
#include "base/text.h"
#include "stack/topology-walk.h"
#include "stack/topology.h"

typedef struct Btrfs {
	const char *sysfs_root, *device;
	const char *folder;      /* SYSFS/fs/btrfs/UUID */
	const char *mount_point; /* NULL: not seen */
	char *why;
} Btrfs;

static const char *find_mount_point(const Topology *t, const char *device)
{
	for (size_t i = 0; i < t->n_mounts; i++) {
		const Mount *m = &t->mounts[i];

		for (char **member = m->members; member && *member; member++)
			if (streq(m->type, "btrfs") && streq(*member, device))
				return m->point;
	}
	return NULL;
}

static int say(Btrfs *b, const char *what)
{
	b->why = b->mount_point ? text_printf("btrfs on %s %s", b->mount_point, what)
				: text_printf("btrfs %s %s", base_name(b->folder), what);
	return b->why ? 1 : -ENOMEM;
}

/* Balance, and whatever else excludes others: "device replace", "resize", ... (kernel
 * fs/btrfs/sysfs.c). */
static int ask_operation(Btrfs *b)
{
	_cleanup_free_ char *words = NULL;
	char operation[64];

	sysfs_attribute("", b->folder, "exclusive_operation", operation, sizeof(operation));
	if (!*operation || streq(operation, "none"))
		return 0;
	if (streq(operation, "balance"))
		return say(b, "is being balanced");
	words = text_printf("is busy (%s)", operation);
	return words ? say(b, words) : -ENOMEM;
}

/* SYSFS/fs/btrfs/UUID/devinfo/DEVID */
static int ask_missing(const char *path, void *userdata)
{
	char missing[16];

	return streq(sysfs_attribute("", path, "missing", missing, sizeof(missing)), "1")
		       ? say(userdata, "misses a device")
		       : 0;
}

/* The one thing that sysfs does not say: -ENOTCONN is the kernel's "no scrub". */
static int ask_scrub(const char *path, void *userdata)
{
	struct btrfs_ioctl_scrub_args scrub = {};
	Btrfs *b = userdata;
	_cleanup_close_ int fd = -EBADF;
	unsigned long devid;

	if (parse_unsigned(base_name(path), UINT32_MAX, &devid) < 0)
		return 0;
	fd = open(b->mount_point, O_RDONLY | O_DIRECTORY | O_NOATIME | O_CLOEXEC);
	scrub.devid = devid;
	return fd >= 0 && ioctl(fd, BTRFS_IOC_SCRUB_PROGRESS, &scrub) == 0
		       ? say(b, "is being scrubbed")
		       : 0;
}

/* The mounts are read only where there is something to ask. */
static int ask_mounted(Btrfs *b)
{
	_cleanup_free_ char *devinfo = text_printf("%s/devinfo", b->folder);
	_cleanup_(topology_freep) Topology *t = NULL;
	int r = devinfo ? topology_read(b->sysfs_root, &t) : -ENOMEM;

	if (r == -ENOMEM)
		return r;
	b->mount_point = t ? find_mount_point(t, b->device) : NULL;
	r = ask_operation(b) ?: folder_each(devinfo, ask_missing, b);
	if (r == 0 && b->mount_point && streq(b->sysfs_root, "/sys"))
		r = folder_each(devinfo, ask_scrub, b);
	b->mount_point = NULL;
	return r;
}

static int ask_if_member(const char *path, void *userdata)
{
	Btrfs *b = userdata;
	_cleanup_free_ char *ours = text_printf("devices/%s", b->device);

	if (!ours)
		return -ENOMEM;
	b->folder = path;
	return folder_has(path, ours) ? ask_mounted(b) : 0;
}

int pool_btrfs_busy(const char *sysfs_root, const char *device, char **ret_why)
{
	_cleanup_free_ char *all = text_printf("%s/fs/btrfs", sysfs_root);
	Btrfs b = { .sysfs_root = sysfs_root, .device = device };
	int r = all ? folder_each(all, ask_if_member, &b) : -ENOMEM;

	if (r < 0)
		return r;
	*ret_why = b.why;
	return 0;
}
