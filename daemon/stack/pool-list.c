/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stack/pool-list.h"

#include <errno.h>
#include <string.h>

#include "base/sysfs.h"
#include "base/text.h"
#include "stack/pool-kinds.h"
#include "stack/topology-read.h"

#define LVM_PREFIX  "LVM-"
#define LVM_VG_UUID 32 /* characters behind the prefix; then comes the volume's own */

static void pool_done(Pool *p)
{
	names_done(&p->disks);
	free(p->key);
	free(p->name);
}

PoolList *pool_list_new(void)
{
	return calloc(1, sizeof(PoolList));
}

PoolList *pool_list_free(PoolList *p)
{
	for (size_t i = 0; p && i < p->n; i++)
		pool_done(&p->list[i]);
	for (size_t i = 0; p && i < p->n_caches; i++) {
		names_done(&p->caches[i].disks);
		names_done(&p->caches[i].behind);
		free(p->caches[i].of);
		free(p->caches[i].device);
	}
	if (p) {
		free(p->caches);
		free(p->list);
	}
	free(p);
	return NULL;
}

/* NULL when out of memory. */
static Pool *pool_of_key(PoolList *p, PoolKind kind, const char *key, const char *name)
{
	Pool *pool;

	for (size_t i = 0; i < p->n; i++)
		if (p->list[i].kind == kind && streq(p->list[i].key, key))
			return &p->list[i];
	pool = ARRAY_GROW(p->list, p->n);
	if (!pool)
		return NULL;
	pool->kind = kind;
	pool->key = strdup(key);
	pool->name = strdup(name);
	return pool->key && pool->name ? pool : NULL;
}

typedef struct Finder {
	const char *sysfs_root;
	PoolList *to;
	PoolDisks which;
	const char *btrfs; /* the one whose devices are being looked at */
} Finder;

typedef struct DiskSearch {
	PoolDisks which;
	Names *found;
} DiskSearch;

static bool turns(const char *folder)
{
	char rotational[16];

	return !streq(
		sysfs_attribute("", folder, "queue/rotational", rotational, sizeof(rotational)),
		"0");
}

static int add_if_disk(const char *folder, unsigned layer, void *userdata)
{
	const DiskSearch *s = userdata;

	(void)layer;
	if (folder_has(folder, "partition") || folder_has_any(folder, "slaves") ||
	    (s->which != POOL_OF_ANY && (s->which == POOL_OF_SPINDLES) != turns(folder)))
		return 0;
	return names_add(s->found, base_name(folder));
}

/* A member's caches are no members; what a cache itself lies on holds the same writes. */
static int add_disks(const Finder *f, const char *device, PoolDisks which, Names *to)
{
	return topology_each_below(f->sysfs_root, device, which == POOL_OF_ANY, add_if_disk,
				   &(DiskSearch){ .which = which, .found = to });
}

/* A device is a part of the pool, and so are the disks that it lies on. */
static int add_member(const Finder *f, PoolKind kind, const char *key, const char *name,
		      const char *device)
{
	Pool *pool = pool_of_key(f->to, kind, key, name);

	return pool ? add_disks(f, device, f->which, &pool->disks) : -ENOMEM;
}

/* lvm(8) doubles each hyphen of "my-vg" in "my--vg-home"; the single one ends it. In place. */
static void keep_group_name(char *name)
{
	char *to = name;

	for (const char *c = name; *c; c++) {
		if (*c == '-' && *++c != '-')
			break;
		*to++ = *c;
	}
	*to = '\0';
}

/* The device, and so the disks that it lies on, is the cache of another one, which has a name
 * besides the kernel's. */
static int add_cache(const Finder *f, const char *device, const char *cached, const char *of)
{
	Cache *c = ARRAY_GROW(f->to->caches, f->to->n_caches);
	int r;

	if (!c)
		return -ENOMEM;
	c->of = strdup(of);
	c->device = strdup(cached);
	r = c->of && c->device ? add_disks(f, device, POOL_OF_ANY, &c->disks) : -ENOMEM;
	return r
		       ?: topology_each_below(
				  f->sysfs_root, cached, false, add_if_disk,
				  &(DiskSearch){ .which = POOL_OF_ANY, .found = &c->behind });
}

static int add_mapped_caches(const Finder *f, const char *folder, const char *name)
{
	dev_t caches[POOL_DM_CACHES];
	unsigned n = pool_dm_caches(f->sysfs_root, folder, caches);
	int r = 0;

	for (unsigned i = 0; i < n && r == 0; i++) {
		_cleanup_free_ char *cache = topology_folder_of(f->sysfs_root, caches[i]);

		r = cache ? add_cache(f, base_name(cache), base_name(folder), name) : 0;
	}
	return r;
}

static int add_mapped(const Finder *f, const char *folder)
{
	const char *device = base_name(folder);
	char name[256], uuid[256];
	int r;

	sysfs_attribute("", folder, "dm/name", name, sizeof(name));
	sysfs_attribute("", folder, "dm/uuid", uuid, sizeof(uuid));
	if (!*name)
		snprintf(name, sizeof(name), "%s", device);
	r = add_mapped_caches(f, folder, name);
	if (r < 0)
		return r;
	if (strncmp(uuid, LVM_PREFIX, strlen(LVM_PREFIX)) != 0)
		return add_member(f, POOL_DM, device, name, device);
	uuid[strlen(LVM_PREFIX) + LVM_VG_UUID] = '\0';
	keep_group_name(name);
	return add_member(f, POOL_LVM, uuid, name, device);
}

/* Nothing that the kernel shows has the device open: it may be of a ZFS pool, or of a btrfs that is
 * not mounted. */
static int add_by_contents(const Finder *f, const char *device)
{
	_cleanup_free_ char *type = topology_property(f->sysfs_root, device, "ID_FS_TYPE");
	_cleanup_free_ char *key = NULL, *name = NULL;
	bool btrfs = type && streq(type, "btrfs"), zfs = type && streq(type, "zfs_member");

	if (!btrfs && !zfs)
		return 0;
	key = topology_property(f->sysfs_root, device, btrfs ? "ID_FS_UUID" : "ID_FS_LABEL");
	if (!key || !*key)
		return 0;
	name = text_printf("%s %s", btrfs ? "btrfs" : "zpool", key);
	return name ? add_member(f, btrfs ? POOL_BTRFS : POOL_ZFS, key, name, device) : -ENOMEM;
}

static int add_bcache(const Finder *f, const char *folder)
{
	_cleanup_(names_done) Names cached = {};
	int r = topology_cached(folder, &cached);

	for (size_t i = 0; i < cached.n && r == 0; i++)
		r = add_cache(f, base_name(folder), cached.list[i], cached.list[i]);
	return r;
}

static int add_pools_of(const char *folder, void *userdata)
{
	const Finder *f = userdata;
	const char *device = base_name(folder);
	int r = add_bcache(f, folder);

	if (r == 0 && folder_has(folder, "md"))
		r = add_member(f, POOL_MD, device, device, device);
	else if (r == 0 && folder_has(folder, "dm"))
		r = add_mapped(f, folder);
	if (r < 0 || folder_has_any(folder, "holders"))
		return r;
	return add_by_contents(f, device);
}

static int add_btrfs_device(const char *path, void *userdata)
{
	const Finder *f = userdata;
	_cleanup_free_ char *name = text_printf("btrfs %s", f->btrfs);

	return name ? add_member(f, POOL_BTRFS, f->btrfs, name, base_name(path)) : -ENOMEM;
}

/* SYSFS/fs/btrfs/UUID/devices/NAME, of what is mounted; "features" is no file system. */
static int add_btrfs(const char *path, void *userdata)
{
	Finder f = *(const Finder *)userdata;
	_cleanup_free_ char *devices = text_printf("%s/devices", path);

	f.btrfs = base_name(path);
	return devices ? folder_each(devices, add_btrfs_device, &f) : -ENOMEM;
}

static void drop_single_disks(PoolList *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->n; i++) {
		if (p->list[i].disks.n > 1)
			p->list[kept++] = p->list[i];
		else
			pool_done(&p->list[i]);
	}
	p->n = kept;
}

static bool share_a_disk(const Pool *a, const Pool *b)
{
	for (size_t i = 0; i < a->disks.n; i++)
		if (names_have(&b->disks, a->disks.list[i]))
			return true;
	return false;
}

static bool names_both(const Pool *a, const Pool *b)
{
	if (a->disks.n != b->disks.n)
		return a->disks.n > b->disks.n;
	if (a->kind != b->kind)
		return a->kind < b->kind;
	return strverscmp(a->name, b->name) < 0;
}

/* Pools that share disks all get the name of the largest of them. */
static void name_joined(PoolList *p)
{
	bool again = true;

	for (size_t i = 0; i < p->n; i++)
		p->list[i].largest = i;
	while (again) {
		again = false;
		for (size_t i = 0; i < p->n; i++)
			for (size_t j = 0; j < p->n; j++) {
				size_t of_i = p->list[i].largest, of_j = p->list[j].largest;

				if (of_i == of_j || !names_both(&p->list[of_j], &p->list[of_i]) ||
				    !share_a_disk(&p->list[i], &p->list[j]))
					continue;
				p->list[i].largest = of_j;
				again = true;
			}
	}
}

int pool_list_find(const char *sysfs_root, PoolDisks which, PoolList *p)
{
	_cleanup_free_ char *devices = text_printf("%s/class/block", sysfs_root);
	_cleanup_free_ char *btrfs = text_printf("%s/fs/btrfs", sysfs_root);
	Finder f = { .sysfs_root = sysfs_root, .to = p, .which = which };
	int r;

	if (p->found)
		return 0;
	r = devices && btrfs ? folder_each(devices, add_pools_of, &f) : -ENOMEM;

	if (r >= 0)
		r = folder_each(btrfs, add_btrfs, &f);
	if (r < 0)
		return r;
	drop_single_disks(p);
	name_joined(p);
	p->found = true;
	return 0;
}
