/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Before anything is written: everything that could be lost is looked for, and one thing that is
 * found, or that cannot be looked for, is enough to refuse. */

#include <blkid.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/sysfs.h"
#include "ctl/calibrate-drive.h"

static int _printf_(2, 3) refuse(char **ret_why, const char *format, ...)
{
	va_list ap;
	int r;

	va_start(ap, format);
	r = vasprintf(ret_why, format, ap);
	va_end(ap);
	return r < 0 ? -ENOMEM : -EPERM;
}

static int check_word(const CalibrateDoor *d, char **ret_why)
{
	if (!d->destructive)
		return refuse(ret_why, "writing destroys all that it holds, and --destructive= was "
				       "not given");
	if (!*d->serial)
		return refuse(ret_why, "it tells no serial number, so that nobody can say for sure "
				       "that it is the one meant");
	if (!streq(d->destructive, d->serial))
		return refuse(ret_why,
			      "--destructive=%s is not its serial number: look whether it is the "
			      "one meant",
			      d->destructive);
	return 0;
}

/* Folders in SYSFS/block/NAME that have a file "partition". */
static int check_partitions(const CalibrateDoor *d, char **ret_why)
{
	_cleanup_free_ char *path = text_printf("%s/block/%s", d->sysfs_root, d->name);
	_cleanup_closedir_ DIR *dir = path ? opendir(path) : NULL;
	struct dirent *e;

	if (!dir)
		return -errno;
	while ((e = readdir(dir))) {
		_cleanup_free_ char *mark = text_printf("%s/%s/partition", path, e->d_name);

		if (!mark)
			return -ENOMEM;
		if (*e->d_name != '.' && access(mark, F_OK) == 0)
			return refuse(ret_why, "it has a partition, %s", e->d_name);
	}
	return 0;
}

static int check_holders(const CalibrateDoor *d, char **ret_why)
{
	_cleanup_free_ char *path = text_printf("%s/block/%s/holders", d->sysfs_root, d->name);
	_cleanup_closedir_ DIR *dir = path ? opendir(path) : NULL;
	struct dirent *e;

	if (!dir)
		return -errno;
	while ((e = readdir(dir)))
		if (*e->d_name != '.')
			return refuse(ret_why, "%s lies on it", e->d_name);
	return 0;
}

static const char *value_of(blkid_probe probe, const char *name)
{
	const char *value = NULL;

	return blkid_probe_lookup_value(probe, name, &value, NULL) == 0 ? value : NULL;
}

/* blkid_do_safeprobe(): 0 something was found, 1 nothing, -2 several, -1 it could not be read. */
static int check_signatures(int fd, char **ret_why)
{
	blkid_probe probe = blkid_new_probe();
	const char *type;
	int r;

	if (!probe)
		return -ENOMEM;
	r = blkid_probe_set_device(probe, fd, 0, 0);
	if (r == 0) {
		blkid_probe_enable_superblocks(probe, 1);
		blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_TYPE);
		blkid_probe_enable_partitions(probe, 1);
		blkid_probe_enable_topology(probe, 0);
		r = blkid_do_safeprobe(probe);
	}
	if (r == 1) {
		r = 0;
	} else if (r == 0) {
		type = value_of(probe, "TYPE") ?: value_of(probe, "PTTYPE");
		r = refuse(ret_why, "it holds a %s: if that may go, wipefs(8) takes it away",
			   type ?: "signature");
	} else {
		r = refuse(ret_why, r == -2 ? "it holds several signatures at once"
					    : "it cannot be read to see what it holds");
	}
	blkid_free_probe(probe);
	return r;
}

/* The path is opened: it must be what sysfs calls by that name. */
static int check_same(const CalibrateDoor *d, int fd, char **ret_why)
{
	_cleanup_free_ char *folder = text_printf("block/%s", d->name);
	struct stat st;

	if (!folder || fstat(fd, &st) < 0)
		return folder ? -errno : -ENOMEM;
	if (!S_ISBLK(st.st_mode))
		return refuse(ret_why, "%s is no block device", d->path);
	if (st.st_rdev != sysfs_devnum(d->sysfs_root, folder))
		return refuse(ret_why, "%s is not the device that sysfs calls %s", d->path,
			      d->name);
	return 0;
}

/* Mounts, swap, md, device mapper, bcache, btrfs and ZFS claim what they use, or a partition of
 * it, exclusively: the kernel refuses then. */
static int claim(const CalibrateDoor *d, int *ret_fd, char **ret_why)
{
	int fd = open(d->path, O_RDWR | O_EXCL | O_CLOEXEC);

	if (fd >= 0) {
		*ret_fd = fd;
		return 0;
	}
	if (errno == EBUSY)
		return refuse(ret_why, "it is in use: mounted, swapped to, or a part of something");
	return refuse(ret_why, "%s cannot be opened to write: %s", d->path, strerror(errno));
}

int calibrate_open_for_writing(const CalibrateDoor *d, int *ret_fd, char **ret_why)
{
	_cleanup_close_ int fd = -EBADF;
	int r = check_word(d, ret_why);

	/* from here on nobody else can take it */
	if (r >= 0)
		r = claim(d, &fd, ret_why);
	if (r >= 0)
		r = check_same(d, fd, ret_why);
	if (r >= 0)
		r = check_partitions(d, ret_why);
	if (r >= 0)
		r = check_holders(d, ret_why);
	if (r >= 0)
		r = check_signatures(fd, ret_why);
	if (r >= 0)
		*ret_fd = TAKE_FD(fd);
	return r;
}

bool calibrate_is_in_use(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_EXCL | O_CLOEXEC);

	return fd < 0 && errno == EBUSY;
}
