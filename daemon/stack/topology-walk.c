/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stack/topology-walk.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/sysfs.h"
#include "base/text.h"

#define LAYERS_MAX 16 /* more are taken for a circle */

bool names_have(const Names *names, const char *name)
{
	for (size_t i = 0; i < names->n; i++)
		if (streq(names->list[i], name))
			return true;
	return false;
}

int names_add(Names *names, const char *name)
{
	if (names_have(names, name))
		return 0;
	if (strv_add(&names->list, name) < 0)
		return -ENOMEM;
	names->n++;
	return 0;
}

void names_done(Names *names)
{
	strv_free(names->list);
	*names = (Names){};
}

static int is_visible(const struct dirent *entry)
{
	return *entry->d_name != '.';
}

int folder_each(const char *path, int (*f)(const char *path, void *userdata), void *userdata)
{
	_cleanup_free_ struct dirent **list = NULL;
	int n = scandir(path, &list, is_visible, versionsort), r = 0;

	if (n < 0 && errno == ENOMEM)
		return -ENOMEM;
	for (int i = 0; i < n; i++) {
		_cleanup_free_ struct dirent *found = list[i];
		_cleanup_free_ char *entry = text_printf("%s/%s", path, found->d_name);

		if (r == 0)
			r = entry ? f(entry, userdata) : -ENOMEM;
	}
	return r;
}

bool folder_has(const char *folder, const char *what)
{
	_cleanup_free_ char *path = text_printf("%s/%s", folder, what);

	return path && access(path, F_OK) == 0;
}

static int stop_at_entry(const char *path, void *userdata)
{
	(void)path;
	(void)userdata;
	return 1;
}

bool folder_has_any(const char *folder, const char *what)
{
	_cleanup_free_ char *path = text_printf("%s/%s", folder, what);

	return path && folder_each(path, stop_at_entry, NULL) > 0;
}

typedef struct Walk {
	int (*go_on)(char *folder, struct Walk *w);
	bool caches;
	TopologyVisit f;
	void *userdata;
	unsigned layer;
} Walk;

static int walk(const char *path, void *userdata)
{
	Walk here = *(const Walk *)userdata;
	_cleanup_free_ char *folder = realpath(path, NULL);
	int r;

	if (!folder || here.layer > LAYERS_MAX)
		return 0;
	r = here.f(folder, here.layer++, here.userdata);
	return r ?: here.go_on(folder, &here);
}

static int walk_partition(const char *path, void *userdata)
{
	return folder_has(path, "partition") ? walk(path, userdata) : 0;
}

static int go_up(char *folder, Walk *w)
{
	_cleanup_free_ char *holders = text_printf("%s/holders", folder);
	int r = holders ? folder_each(holders, walk, w) : -ENOMEM;

	return r ?: folder_each(folder, walk_partition, w);
}

/* Some kernels have the caches of a bcache among its slaves, others do not. */
static int walk_slave(const char *path, void *userdata)
{
	const Walk *w = userdata;

	return w->caches || !folder_has(path, "bcache/set") ? walk(path, userdata) : 0;
}

/* SYSFS/fs/bcache/UUID/cacheN leads to the folder "bcache" of a cache
 * (Documentation/admin-guide/bcache.rst). */
static int walk_cache(const char *path, void *userdata)
{
	_cleanup_free_ char *device = text_printf("%s/..", path);
	const char *name = base_name(path);
	size_t n = strlen("cache");

	if (strncmp(name, "cache", n) != 0 || !isdigit((unsigned char)name[n]))
		return 0;
	return device ? walk(device, userdata) : -ENOMEM;
}

static int go_down(char *folder, Walk *w)
{
	_cleanup_free_ char *slaves = text_printf("%s/slaves", folder);
	_cleanup_free_ char *caches = text_printf("%s/bcache/cache", folder);
	int r = slaves && caches ? folder_each(slaves, walk_slave, w) : -ENOMEM;

	if (r == 0 && w->caches)
		r = folder_each(caches, walk_cache, w);
	if (r != 0 || !folder_has(folder, "partition"))
		return r;
	*strrchr(folder, '/') = '\0';
	return walk(folder, w);
}

static int walk_from(const char *sysfs_root, const char *name, Walk *w)
{
	_cleanup_free_ char *path = text_printf("%s/class/block/%s", sysfs_root, name);

	return path ? walk(path, w) : -ENOMEM;
}

int topology_each_above(const char *sysfs_root, const char *name, TopologyVisit f, void *userdata)
{
	return walk_from(sysfs_root, name, &(Walk){ .go_on = go_up, .f = f, .userdata = userdata });
}

int topology_each_below(const char *sysfs_root, const char *name, bool caches, TopologyVisit f,
			void *userdata)
{
	return walk_from(
		sysfs_root, name,
		&(Walk){ .go_on = go_down, .caches = caches, .f = f, .userdata = userdata });
}

/* SYSFS/fs/bcache/UUID/bdevN/dev leads to the device that is cached. */
static int add_cached(const char *path, void *userdata)
{
	_cleanup_free_ char *dev = text_printf("%s/dev", path);
	_cleanup_free_ char *cached = dev ? realpath(dev, NULL) : NULL;

	if (strncmp(base_name(path), "bdev", strlen("bdev")) != 0 || !cached)
		return dev ? 0 : -ENOMEM;
	return names_add(userdata, base_name(cached));
}

int topology_cached(const char *folder, Names *to)
{
	_cleanup_free_ char *set = text_printf("%s/bcache/set", folder);

	return set ? folder_each(set, add_cached, to) : -ENOMEM;
}
