/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The kernel's tables of mounts and swaps, which libmount reads; no disk is read for them. */

#include <sys/types.h>

/* One line of a table, unescaped. Its texts live as long as the call that they are passed to. */
typedef struct MountEntry {
	dev_t devnum;     /* of a mount; its major number is 0 where the kernel made it up */
	const char *root; /* the part of the file system that is mounted: "/" is all of it */
	const char *point;
	const char *type;   /* of a swap "file" or "partition" */
	const char *source; /* of a swap its path */
} MountEntry;

typedef int (*MountVisit)(const MountEntry *entry, void *userdata);

/* Calls back for every mount of a file like /proc/self/mountinfo, in its order, until something
 * else than 0 is returned, which is passed on. A line that is no mount is left out. -ENOENT: there
 * is no such file; or another negative errno of reading it. */
int mounts_each(const char *path, MountVisit f, void *userdata);
/* The same for the swaps of a file like /proc/swaps. */
int swaps_each(const char *path, MountVisit f, void *userdata);
