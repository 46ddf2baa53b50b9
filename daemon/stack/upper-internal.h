/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The inside of upper.h: one table and one file for each component. Nothing is kept between two
 * calls, for arrays are assembled, caches attached and file systems mounted while a disk is known:
 * upper_read() and upper_write() find the component, ask it once and let it go. */

#include <stdbool.h>
#include <sys/types.h>

#include "stack/upper.h"

/* The disk that something is looked for on. */
typedef struct UpperDisk {
	const char *sysfs_root; /* "/sys" or a fake tree */
	const char *disk;       /* kernel name */
	bool real;              /* below "/sys": other interfaces may be asked, too */
} UpperDisk;

typedef struct UpperComponent {
	const char *name; /* "bcache" */
	/* -ENOENT: it does not lie on this disk; other errors are those of reading and writing.
	 * *ret is what the others are given. Never wakes the disk. */
	int (*find)(const UpperDisk *on, void **ret);
	/* As upper_read() and upper_write(): text without its last newline, -ENOBUFS where it does
	 * not fit; -ENOENT: there is no such thing, -EACCES: it cannot be written. */
	int (*read)(void *found, const char *what, char *buf, size_t size);
	int (*write)(void *found, const char *what, const char *value);
	void (*free)(void *found);
} UpperComponent;

extern const UpperComponent upper_bcache, upper_md, upper_writecache, upper_mergerfs, upper_nvmet;

/* The kernel names of the disk, of its partitions, and of whatever lies on nothing else than those
 * (a volume, an encrypted device), from below upwards: "sda", "sda1", "dm-0"; NULL-terminated;
 * strv_free(). What lies on other disks, too, is not among them: it is not this disk's to steer.
 * NULL when out of memory. */
char **upper_nodes(const UpperDisk *on);
/* printf into a buffer of the caller's; -ENOBUFS where it does not fit. */
int upper_print(char *buf, size_t size, const char *format, ...) _printf_(3, 4);
