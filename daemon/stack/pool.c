/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stack/pool.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/sysfs.h"
#include "base/text.h"
#include "stack/pool-kinds.h"
#include "stack/pool-list.h"

/* NULL: it is in none of these. */
static const Pool *pool_with(const PoolList *p, const char *disk)
{
	for (size_t i = 0; i < p->n; i++)
		if (names_have(&p->list[i].disks, disk))
			return &p->list[p->list[i].largest];
	return NULL;
}

char *pool_name(const Topology *t, const char *disk)
{
	const Pool *pool;

	if (pool_list_find(t->sysfs_root, POOL_OF_SPINDLES, t->pools) < 0 ||
	    pool_list_find(t->sysfs_root, POOL_OF_FLASH, t->flash_pools) < 0)
		return NULL;
	pool = pool_with(t->pools, disk) ?: pool_with(t->flash_pools, disk);
	return strdup(pool ? pool->name : "");
}

int pool_redirect_target(const Topology *t, const char *disk, char **ret_why)
{
	_cleanup_(names_done) Names of = {};
	_cleanup_free_ char *why = NULL;
	const PoolList *p = t->pools;
	int r = pool_list_find(t->sysfs_root, POOL_OF_SPINDLES, t->pools);

	for (size_t i = 0; r >= 0 && i < p->n_caches; i++)
		if (names_have(&p->caches[i].disks, disk))
			r = names_add(&of, p->caches[i].of);
	for (size_t i = 0; i < of.n && r >= 0; i++) {
		_cleanup_free_ char *before = why;

		why = text_printf("%s%s%s", before ?: "it is the cache of ", before ? ", " : "",
				  of.list[i]);
		r = why ? 0 : -ENOMEM;
	}
	if (r < 0)
		return r;
	*ret_why = TAKE_PTR(why);
	return 0;
}

int pool_keep_up(char **ret_why, const char *format, ...)
{
	va_list ap;
	char *why;
	int n;

	va_start(ap, format);
	n = vasprintf(&why, format, ap);
	va_end(ap);
	if (n < 0)
		return -ENOMEM;
	*ret_why = why;
	return 1;
}

typedef struct BusySearch {
	const char *sysfs_root;
	char *why;
} BusySearch;

static int device_busy(const char *folder, unsigned layer, void *userdata)
{
	BusySearch *s = userdata;
	const char *device = base_name(folder);
	int r = 0;

	(void)layer;
	if (folder_has(folder, "md"))
		r = pool_md_busy(folder, &s->why);
	if (r == 0 && folder_has(folder, "dm"))
		r = pool_dm_busy(s->sysfs_root, folder, &s->why);
	return r ?: pool_btrfs_busy(s->sysfs_root, device, &s->why)
			       ?: pool_zfs_busy(s->sysfs_root, device, &s->why);
}

/* Not covered, for nothing says it: an LVM device of several targets (a RAID extended by other
 * means), a btrfs that is scrubbed and mounted nowhere that this process sees, and what happens
 * inside of virtual machines. */
int pool_busy(const char *sysfs_root, const char *disk, char **ret_why)
{
	BusySearch s = { .sysfs_root = sysfs_root };
	int r = topology_each_above(sysfs_root, disk, device_busy, &s);

	if (r < 0)
		return r;
	*ret_why = s.why;
	return 0;
}
