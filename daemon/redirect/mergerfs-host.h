/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The mergerfs that has a file system of the disk as a branch, through the extended attributes of
 * MOUNT/.mergerfs (mergerfs(1), "runtime config"). They are answered from memory, as the sizes of
 * the file systems are: neither wakes a disk. A mergerfs that hangs lets its caller hang. */

#include "knob/knob.h"

typedef struct Merged {
	char *mount;    /* of the mergerfs that the disk is part of */
	char *second;   /* NULL, or of another one */
	char *branches; /* "/hdd0=RW,10G:/ssd=NC": all of them */
	char *own;      /* the paths of those that are this disk's alone: "/hdd0/a:/hdd0/b" */
} Merged;

/* -ENOENT: the disk is no branch of any, -EOPNOTSUPP: of one that is too old to tell its branches;
 * what getxattr(2) says, where one that cannot be asked may have the disk. */
int mergerfs_find(Device *d, Merged *ret);
void merged_done(Merged *m);
/* Its policies for new files, "mfs" or "epmfs,lfs"; malloc'd. */
int mergerfs_create_policies(const Merged *m, char **ret);
/* Bytes of the other branches that take new files, and how many of them are free. */
int mergerfs_space(const Merged *m, CacheState *ret);
int mergerfs_set_branches(const Merged *m, const char *branches);
