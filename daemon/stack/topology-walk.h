/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Up and down through what stacks on disks: partitions, device mapper, RAID, bcache. From sysfs
 * alone. */

#include <stdbool.h>
#include <stddef.h>

/* A list of names that owns them; behind the last one is NULL. */
typedef struct Names {
	char **list;
	size_t n;
} Names;

/* Once each. -ENOMEM. */
int names_add(Names *names, const char *name);
bool names_have(const Names *names, const char *name);
void names_done(Names *names);

/* Calls back for every entry of a folder but hidden ones, in the order of their names, with the
 * full path, until something else than 0 is returned, which is passed on. A folder that is not
 * there is empty. -ENOMEM. */
int folder_each(const char *path, int (*f)(const char *path, void *userdata), void *userdata);
/* Is there such a file or folder below a device's folder: has(folder, "md")? */
bool folder_has(const char *folder, const char *what);
/* Does something stand in such a folder below a device's folder: has_any(folder, "holders")? */
bool folder_has_any(const char *folder, const char *what);

/* Is called for one device: its folder with links resolved, and how many layers it is away from the
 * one where the walk began. Something else than 0 ends the walk, which passes it on. */
typedef int (*TopologyVisit)(const char *folder, unsigned layer, void *userdata);

/* Visits the device (kernel name), what holds it or is a partition of it, what holds those, and so
 * on, each before what lies on it. A device that is reached in two ways comes twice; one that is
 * not there is not visited. -ENOMEM. */
int topology_each_above(const char *sysfs_root, const char *name, TopologyVisit f, void *userdata);
/* The same for the device and all that it lies on; the disk of a partition is below that. caches:
 * the caches of a bcache as well. */
int topology_each_below(const char *sysfs_root, const char *name, bool caches, TopologyVisit f,
			void *userdata);
/* Adds the kernel names of what a device caches by bcache (its folder). -ENOMEM. */
int topology_cached(const char *folder, Names *to);
