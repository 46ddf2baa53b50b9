/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stack/topology.h"

#include <string.h>

#include "base/sysfs.h"
#include "base/text.h"
#include "stack/topology-read.h"

#define LAYERS_MAX 16 /* of device mapper, RAID, partitions */
#define POINTS_MAX 3  /* mount points named of one file system */

static bool is_below(const char *disk, const char *folder, unsigned layer);

static bool any_below(const char *disk, const char *folder, const char *links, unsigned layer)
{
	_cleanup_free_ char *path = text_printf("%s/%s", folder, links);
	_cleanup_closedir_ DIR *dir = path ? opendir(path) : NULL;
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		_cleanup_free_ char *link = text_printf("%s/%s", path, e->d_name);

		if (*e->d_name != '.' && link && is_below(disk, link, layer + 1))
			return true;
	}
	return false;
}

/* The caches of a bcache device are not among its slaves: SYSFS/fs/bcache/UUID/cacheN leads to
 * their folder "bcache" (Documentation/admin-guide/bcache.rst). */
static bool cache_below(const char *disk, const char *folder, unsigned layer)
{
	for (unsigned i = 0; i < LAYERS_MAX; i++) {
		_cleanup_free_ char *path = text_printf("%s/bcache/cache/cache%u", folder, i);
		_cleanup_free_ char *cache = path ? realpath(path, NULL) : NULL;

		if (!cache)
			return false;
		*strrchr(cache, '/') = '\0';
		if (is_below(disk, cache, layer + 1))
			return true;
	}
	return false;
}

static bool is_partition(const char *folder)
{
	_cleanup_free_ char *path = text_printf("%s/partition", folder);

	return path && access(path, F_OK) == 0;
}

static bool is_below(const char *disk, const char *folder, unsigned layer)
{
	_cleanup_free_ char *real = realpath(folder, NULL);

	if (!real || layer > LAYERS_MAX)
		return false;
	if (any_below(disk, real, "slaves", layer) || cache_below(disk, real, layer))
		return true;
	if (is_partition(real))
		*strrchr(real, '/') = '\0';
	return streq(base_name(real), disk);
}

bool topology_below(const Topology *t, dev_t devnum, const char *disk)
{
	_cleanup_free_ char *folder = topology_folder_of(t->sysfs_root, devnum);

	return folder && is_below(disk, folder, 0);
}

bool topology_below_mount(const Topology *t, const Mount *m, const char *disk)
{
	if (!m->members)
		return topology_below(t, m->devnum, disk);
	for (char **name = m->members; *name; name++) {
		_cleanup_free_ char *folder = topology_folder(t->sysfs_root, *name);

		if (folder && is_below(disk, folder, 0))
			return true;
	}
	return false;
}

/* The words as they come, with what belongs between them. */
typedef struct Teller {
	const Topology *t;
	FILE *out;
	const char *between;
	const char *partition; /* that is named before the first word about it */
} Teller;

static void tell(Teller *w, const char *word)
{
	if (w->partition) {
		fprintf(w->out, "%s%s: ", ftell(w->out) ? "; " : "", w->partition);
		w->between = "";
		w->partition = NULL;
	}
	fprintf(w->out, "%s%s", w->between, word);
	w->between = ", ";
}

static bool lies_on(const Mount *m, const char *name, dev_t devnum)
{
	if (!m->members)
		return m->devnum == devnum;
	for (char **member = m->members; *member; member++)
		if (streq(*member, name))
			return true;
	return false;
}

/* A part of a file system that is mounted whole elsewhere says nothing new. */
static void tell_mounts(Teller *w, const char *name, dev_t devnum)
{
	size_t told = 0, whole = 0;

	for (size_t i = 0; i < w->t->n_mounts; i++)
		whole += lies_on(&w->t->mounts[i], name, devnum) && w->t->mounts[i].whole;
	for (size_t i = 0; i < w->t->n_mounts; i++) {
		const Mount *m = &w->t->mounts[i];

		if (!lies_on(m, name, devnum) || (whole && !m->whole))
			continue;
		if (told++ < POINTS_MAX)
			tell(w, m->point);
	}
	if (told > POINTS_MAX)
		fprintf(w->out, " and %zu more", told - POINTS_MAX);
}

static void tell_swap(Teller *w, dev_t devnum)
{
	for (size_t i = 0; i < w->t->n_swaps; i++)
		if (w->t->swaps[i].devnum == devnum)
			tell(w, w->t->swaps[i].is_file ? "a swap file" : "swap");
}

/* What blkid saw on it, where nothing of that is in use. */
static void tell_contents(Teller *w, const char *name)
{
	_cleanup_free_ char *type = topology_property(w->t->sysfs_root, name, "ID_FS_TYPE");
	_cleanup_free_ char *label = NULL, *words = NULL;

	if (!type)
		return;
	if (streq(type, "zfs_member"))
		label = topology_property(w->t->sysfs_root, name, "ID_FS_LABEL");
	words = streq(type, "zfs_member") ? text_printf("ZFS pool %s", label ?: "of no name")
					  : text_printf("unused %s", type);
	if (words)
		tell(w, words);
}

static void tell_device(Teller *w, const char *folder, unsigned layer);

static void tell_holders(Teller *w, const char *folder, unsigned layer)
{
	_cleanup_free_ char *path = text_printf("%s/holders", folder);
	_cleanup_closedir_ DIR *dir = path ? opendir(path) : NULL;
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		_cleanup_free_ char *holder = NULL;
		char name[128];

		if (*e->d_name == '.')
			continue;
		holder = topology_folder(w->t->sysfs_root, e->d_name);
		block_attribute(w->t->sysfs_root, e->d_name, "dm/name", name, sizeof(name));
		tell(w, *name ? name : e->d_name);
		if (holder && layer < LAYERS_MAX)
			tell_device(w, holder, layer + 1);
	}
}

/* The other direction of cache_below(): SYSFS/fs/bcache/UUID/bdevN/dev leads to the device. */
static void tell_cached(Teller *w, const char *folder)
{
	for (unsigned i = 0; i < LAYERS_MAX; i++) {
		_cleanup_free_ char *path = text_printf("%s/bcache/set/bdev%u/dev", folder, i);
		_cleanup_free_ char *cached = path ? realpath(path, NULL) : NULL, *words = NULL;

		if (!cached)
			return;
		words = text_printf("cache of %s", base_name(cached));
		if (words)
			tell(w, words);
	}
}

static void tell_device(Teller *w, const char *folder, unsigned layer)
{
	const char *name = base_name(folder);
	_cleanup_free_ char *path = text_printf("class/block/%s", name);
	dev_t devnum = path ? sysfs_devnum(w->t->sysfs_root, path) : 0;
	long before = ftell(w->out);

	tell_mounts(w, name, devnum);
	tell_swap(w, devnum);
	tell_holders(w, folder, layer);
	tell_cached(w, folder);
	if (ftell(w->out) == before)
		tell_contents(w, name);
}

static int compare_names(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

static size_t list_partitions(const char *folder, char **list, size_t max)
{
	_cleanup_closedir_ DIR *dir = opendir(folder);
	struct dirent *e;
	size_t n = 0;

	while (dir && n < max && (e = readdir(dir))) {
		_cleanup_free_ char *path = text_printf("%s/%s", folder, e->d_name);

		if (*e->d_name != '.' && path && is_partition(path) && (list[n] = TAKE_PTR(path)))
			n++;
	}
	qsort(list, n, sizeof(*list), compare_names);
	return n;
}

static void tell_disk(Teller *w, const char *folder)
{
	char *partitions[128];
	size_t n = list_partitions(folder, partitions, ELEMENTSOF(partitions));

	tell_device(w, folder, 0);
	for (size_t i = 0; i < n; i++) {
		w->partition = base_name(partitions[i]);
		tell_device(w, partitions[i], 0);
		free(partitions[i]);
	}
}

char *topology_stack(const Topology *t, const char *disk)
{
	_cleanup_free_ char *folder = topology_folder(t->sysfs_root, disk), *text = NULL;
	size_t size;
	Teller w = { .t = t, .out = open_memstream(&text, &size), .between = "" };

	if (!w.out)
		return NULL;
	if (folder)
		tell_disk(&w, folder);
	return fclose(w.out) == 0 ? TAKE_PTR(text) : NULL;
}
