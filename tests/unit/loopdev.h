/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A loop device of the test's own over a file in a folder of its own: the only block device that a
 * test may write to. It detaches itself when its descriptor is closed, however the test ends. */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/loop.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/cleanup.h"

typedef struct LoopDev {
	int fd; /* of the device, O_DIRECT; holds it attached */
	int number;
	dev_t devnum;
	char name[16];              /* "loop3" */
	char path[32];              /* "/dev/loop3" */
	char folder[48];            /* mkdtemp'd */
	char backing[LO_NAME_SIZE]; /* file in it */
} LoopDev;

/* -EBADF unless the device is still the one over our own file; asked before every write. */
static inline int loopdev_verify(const LoopDev *l)
{
	struct loop_info64 info = {}; /* valgrind does not know that the kernel fills it */
	struct stat st;

	if (stat(l->backing, &st) < 0 || ioctl(l->fd, LOOP_GET_STATUS64, &info) < 0)
		return -errno;
	if (info.lo_inode != st.st_ino || info.lo_number != (uint32_t)l->number ||
	    strncmp((char *)info.lo_file_name, l->backing, LO_NAME_SIZE - 1) != 0)
		return -EBADF;
	return 0;
}

/* Detaches the device and removes the file and its folder. */
static inline void loopdev_detach(LoopDev *l)
{
	if (l->fd >= 0) {
		if (loopdev_verify(l) == 0)
			ioctl(l->fd, LOOP_CLR_FD, 0);
		close(l->fd);
	}
	if (l->backing[0])
		unlink(l->backing);
	if (l->folder[0])
		rmdir(l->folder);
	*l = (LoopDev){ .fd = -1 };
}

static inline int loopdev_make_backing(LoopDev *l, uint64_t size)
{
	_cleanup_close_ int fd = -1;

	snprintf(l->folder, sizeof(l->folder), "/var/tmp/storpower-loop-XXXXXX");
	if (!mkdtemp(l->folder)) {
		l->folder[0] = 0;
		return -errno;
	}
	snprintf(l->backing, sizeof(l->backing), "%s/disk", l->folder);
	fd = open(l->backing, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	if (fallocate(fd, 0, 0, (off_t)size) < 0 && ftruncate(fd, (off_t)size) < 0)
		return -errno;
	return TAKE_FD(fd);
}

/* Takes a free device number and attaches the file; another program may be quicker: -EBUSY. */
static inline int loopdev_attach(LoopDev *l, int control, int backing)
{
	struct loop_config config = {
		.fd = backing,
		.info = { .lo_flags = LO_FLAGS_DIRECT_IO | LO_FLAGS_AUTOCLEAR },
	};
	_cleanup_close_ int fd = -1;
	struct stat st;

	l->number = ioctl(control, LOOP_CTL_GET_FREE);
	if (l->number < 0)
		return -errno;
	snprintf(l->name, sizeof(l->name), "loop%d", l->number);
	snprintf(l->path, sizeof(l->path), "/dev/%s", l->name);
	fd = open(l->path, O_RDWR | O_DIRECT | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* udev probes no disk that somebody has locked: its reads would be counted */
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return -errno;
	snprintf((char *)config.info.lo_file_name, LO_NAME_SIZE, "%s", l->backing);
	if (ioctl(fd, LOOP_CONFIGURE, &config) < 0 || fstat(fd, &st) < 0)
		return -errno;
	l->devnum = st.st_rdev;
	l->fd = TAKE_FD(fd);
	return loopdev_verify(l);
}

/* Size in bytes. On error nothing is left behind; -EPERM, -EACCES or -ENOENT: no loop devices for
 * us here, the test says so and skips. */
static inline int loopdev_create(LoopDev *l, uint64_t size)
{
	_cleanup_close_ int control = -1, backing = -1;
	int r = -EBUSY;

	*l = (LoopDev){ .fd = -1 };
	control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	if (control < 0)
		return -errno;
	backing = loopdev_make_backing(l, size);
	if (backing < 0)
		r = backing;
	for (int attempt = 0; backing >= 0 && r == -EBUSY && attempt < 16; attempt++)
		r = loopdev_attach(l, control, backing);
	if (r < 0)
		loopdev_detach(l);
	return r;
}

/* Field 1..17 of /sys/block/NAME/stat (Documentation/block/stat.rst); -errno. */
static inline int loopdev_stat(const LoopDev *l, uint64_t ret_fields[17])
{
	_cleanup_fclose_ FILE *f = NULL;
	char path[64];

	snprintf(path, sizeof(path), "/sys/block/%s/stat", l->name);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	for (int i = 0; i < 17; i++)
		if (fscanf(f, "%" SCNu64, &ret_fields[i]) != 1)
			return -EBADMSG;
	return 0;
}
