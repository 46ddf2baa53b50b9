/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Up and down through what stacks on disks: partitions, device mapper, RAID, bcache. From sysfs
 * alone. */

#include <stdbool.h>
#include <stddef.h>

#define TOPOLOGY_LAYERS 16 /* more are taken for a circle */

/* A list of names that owns them. */
typedef struct Names {
	char **list;
	size_t n;
} Names;

/* Once each. -ENOMEM. */
int names_add(Names *names, const char *name);
bool names_have(const Names *names, const char *name);
void names_done(Names *names);

/* Calls back for every entry of a folder but hidden ones, with its full path, until something else
 * than 0 is returned; which is passed on. A folder that is not there is empty. */
int folder_each(const char *path, int (*f)(const char *path, void *userdata), void *userdata);

/* Adds the whole disks that a device (kernel name) lies on. spindles: only such as turn (what has
 * no spindle need not be woken, and keeps no other from sleeping), and not the caches of a bcache.
 * -ENOMEM. */
int topology_disks_below(const char *sysfs_root, const char *name, bool spindles, Names *to);

/* Calls back for the disk, its partitions, and whatever lies on any of them, from below upwards,
 * with the real path of the folder; a device that is reached in two ways comes twice. Until
 * something else than 0 is returned; which is passed on. */
int topology_each_above(const char *sysfs_root, const char *disk,
			int (*f)(const char *folder, void *userdata), void *userdata);

/* Is there such a file or folder below a device's folder: has(folder, "md")? */
bool folder_has(const char *folder, const char *what);
