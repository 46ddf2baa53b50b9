/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* All pools and caches of the machine, as they are found; pool.c says what a disk is in. */

#include "stack/topology-walk.h"

/* Of two pools of the same disks the first kind gives its name. */
typedef enum PoolKind { POOL_MD, POOL_LVM, POOL_DM, POOL_BTRFS, POOL_ZFS } PoolKind;

/* Those that turn sleep together; flash that they share need not be woken, and joins none of them.
 */
typedef enum PoolDisks { POOL_OF_SPINDLES, POOL_OF_FLASH, POOL_OF_ANY } PoolDisks;

typedef struct Pool {
	PoolKind kind;
	char *key;      /* tells it from all others of its kind */
	char *name;     /* as people call it */
	Names disks;    /* of those looked for; at least two */
	size_t largest; /* index of the one that names all pools which share disks with it */
} Pool;

/* Something that holds others' writes back, or serves their reads, and what that lies on. */
typedef struct Cache {
	char *of;     /* "bcache0", or the name of a mapped device */
	char *device; /* its kernel name */
	Names disks;  /* flash as well */
	Names behind; /* what the cached device lies on; of a mapped one its caches are among it */
} Cache;

typedef struct PoolList {
	bool found;
	Pool *list;
	size_t n;
	Cache *caches;
	size_t n_caches;
} PoolList;

PoolList *pool_list_new(void);
PoolList *pool_list_free(PoolList *p); /* returns NULL */
/* From sysfs and udev's database; reads no disk. Does nothing where they have been found. -ENOMEM.
 */
int pool_list_find(const char *sysfs_root, PoolDisks which, PoolList *p);
