/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stack/pool-list.h"

#include <errno.h>
#include <string.h>

#include "base/sysfs.h"
#include "base/text.h"
#include "stack/pool-dm.h"
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
		free(p->caches[i].of);
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
	const char *within; /* the btrfs whose devices, the cache whose users are being looked at */
} Finder;

/* A device is a part of the pool, and so are the disks that it lies on. */
static int add_member(const Finder *f, PoolKind kind, const char *key, const char *name,
		      const char *device)
{
	Pool *pool = pool_of_key(f->to, kind, key, name);

	return pool ? topology_disks_below(f->sysfs_root, device, true, &pool->disks) : -ENOMEM;
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

/* The device, and so the disks that it lies on, holds writes of another one. */
static int add_cache(const Finder *f, const char *device, const char *of)
{
	Cache *c = ARRAY_GROW(f->to->caches, f->to->n_caches);

	if (!c)
		return -ENOMEM;
	c->of = strdup(of);
	return c->of ? topology_disks_below(f->sysfs_root, device, false, &c->disks) : -ENOMEM;
}

static int add_mapped_caches(const Finder *f, const char *device, const char *name)
{
	dev_t caches[POOL_DM_CACHES];
	unsigned n = pool_dm_caches(f->sysfs_root, device, caches);
	int r = 0;

	for (unsigned i = 0; i < n && r >= 0; i++) {
		_cleanup_free_ char *folder = topology_folder_of(f->sysfs_root, caches[i]);

		r = folder ? add_cache(f, base_name(folder), *name ? name : device) : 0;
	}
	return r;
}

static int add_mapped(const Finder *f, const char *device)
{
	char name[256], uuid[256];

	block_attribute(f->sysfs_root, device, "dm/name", name, sizeof(name));
	block_attribute(f->sysfs_root, device, "dm/uuid", uuid, sizeof(uuid));
	if (add_mapped_caches(f, device, name) < 0)
		return -ENOMEM;
	if (strncmp(uuid, LVM_PREFIX, strlen(LVM_PREFIX)) != 0)
		return add_member(f, POOL_DM, device, *name ? name : device, device);
	uuid[strlen(LVM_PREFIX) + LVM_VG_UUID] = '\0';
	keep_group_name(name);
	return add_member(f, POOL_LVM, uuid, name, device);
}

/* Nothing has it open, or nothing that the kernel shows: ZFS, or a btrfs that is not mounted. */
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

static int any_entry(const char *path, void *userdata)
{
	(void)path;
	(void)userdata;
	return 1;
}

static bool is_held(const char *folder)
{
	_cleanup_free_ char *holders = text_printf("%s/holders", folder);

	return holders && folder_each(holders, any_entry, NULL) > 0;
}

/* SYSFS/fs/bcache/UUID/bdevN/dev leads to a device that is cached. */
static int add_if_cached(const char *path, void *userdata)
{
	const Finder *f = userdata;
	_cleanup_free_ char *dev = text_printf("%s/dev", path);
	_cleanup_free_ char *cached = dev ? realpath(dev, NULL) : NULL;

	if (strncmp(base_name(path), "bdev", strlen("bdev")) != 0 || !cached)
		return 0;
	return add_cache(f, f->within, base_name(cached));
}

static int add_bcache(const Finder *finder, const char *folder)
{
	_cleanup_free_ char *set = text_printf("%s/bcache/set", folder);
	Finder f = *finder;

	f.within = base_name(folder);
	return set ? folder_each(set, add_if_cached, &f) : -ENOMEM;
}

static int find_on_device(const char *folder, void *userdata)
{
	const Finder *f = userdata;
	const char *device = base_name(folder);

	if (add_bcache(f, folder) < 0)
		return -ENOMEM;
	if (folder_has(folder, "md"))
		return add_member(f, POOL_MD, device, device, device)
			       ?: is_held(folder) ? 0
						  : add_by_contents(f, device);
	if (folder_has(folder, "dm") && add_mapped(f, device) < 0)
		return -ENOMEM;
	return is_held(folder) ? 0 : add_by_contents(f, device);
}

static int find_btrfs_device(const char *path, void *userdata)
{
	const Finder *f = userdata;
	_cleanup_free_ char *name = text_printf("btrfs %s", f->within);

	return name ? add_member(f, POOL_BTRFS, f->within, name, base_name(path)) : -ENOMEM;
}

/* SYSFS/fs/btrfs/UUID/devices/NAME, of what is mounted; "features" is no file system. */
static int find_btrfs(const char *path, void *userdata)
{
	Finder f = *(const Finder *)userdata;
	_cleanup_free_ char *devices = text_printf("%s/devices", path);

	f.within = base_name(path);
	return devices ? folder_each(devices, find_btrfs_device, &f) : -ENOMEM;
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

/* Whatever hangs together by shared disks gets the name of its largest part. */
static void join(PoolList *p)
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

int pool_list_find(const char *sysfs_root, PoolList *p)
{
	_cleanup_free_ char *devices = text_printf("%s/class/block", sysfs_root);
	_cleanup_free_ char *btrfs = text_printf("%s/fs/btrfs", sysfs_root);
	Finder f = { .sysfs_root = sysfs_root, .to = p };
	int r = devices && btrfs ? folder_each(devices, find_on_device, &f) : -ENOMEM;

	if (r >= 0)
		r = folder_each(btrfs, find_btrfs, &f);
	if (r < 0)
		return r;
	drop_single_disks(p);
	join(p);
	p->found = true;
	return 0;
}
