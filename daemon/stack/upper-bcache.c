/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* bcache: the disk, or something on it, is the backing device of a cache (Linux
 * Documentation/admin-guide/bcache.rst). Everything is in sysfs. */

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "stack/topology-read.h"
#include "stack/topology-walk.h"
#include "stack/upper-internal.h"

#define SET   "set/"
#define CACHE "cache/"

/* "bcache" of a cache device has no mode. */
static bool is_backing(const char *folder)
{
	return folder_has(folder, "cache_mode");
}

static bool is_attached(const char *folder)
{
	return folder_has(folder, "cache");
}

static int take(const char *sysfs_root, const char *name, char **folder)
{
	_cleanup_free_ char *device = topology_folder(sysfs_root, name), *path = NULL;

	if (!device)
		return 0;
	path = text_printf("%s/bcache", device);
	if (!path)
		return -ENOMEM;
	if (!is_backing(path) || (*folder && !is_attached(path)))
		return 0;
	if (*folder && is_attached(*folder))
		return -EMLINK;
	free(*folder);
	*folder = TAKE_PTR(path);
	return 0;
}

static int bcache_find(const UpperDisk *on, void **ret)
{
	_cleanup_(strv_freep) char **nodes = upper_nodes(on);
	_cleanup_free_ char *folder = NULL;

	if (!nodes)
		return -ENOMEM;
	for (char **n = nodes; *n; n++) {
		int r = take(on->sysfs_root, *n, &folder);

		if (r < 0)
			return r;
	}
	*ret = TAKE_PTR(folder);
	return *ret ? 0 : -ENOENT;
}

/* In the folder of a backing device, "cache" leads to the set, and in that "cache0" to its first
 * cache device. */
static char *path_of(const char *folder, const char *what)
{
	if (strncmp(what, SET, strlen(SET)) == 0)
		return text_printf("%s/cache/%s", folder, what + strlen(SET));
	if (strncmp(what, CACHE, strlen(CACHE)) == 0)
		return text_printf("%s/cache/cache0/%s", folder, what + strlen(CACHE));
	return text_printf("%s/%s", folder, what);
}

static int count_backing(const char *path, void *userdata)
{
	*(unsigned *)userdata += strncmp(strrchr(path, '/') + 1, "bdev", strlen("bdev")) == 0;
	return 0;
}

static int print_backing(const char *folder, char *buf, size_t size)
{
	_cleanup_free_ char *set = text_printf("%s/cache", folder);
	unsigned n = 0;

	if (!set)
		return -ENOMEM;
	folder_each(set, count_backing, &n);
	return upper_print(buf, size, "%u", n);
}

static int bcache_read(void *found, const char *what, char *buf, size_t size)
{
	_cleanup_free_ char *path = path_of(found, what);

	if (streq(what, "backing_devices"))
		return print_backing(found, buf, size);
	return path ? read_attribute(path, buf, size) : -ENOMEM;
}

static int bcache_write(void *found, const char *what, const char *value)
{
	_cleanup_free_ char *path = path_of(found, what);

	return path ? write_attribute(path, value) : -ENOMEM;
}

const UpperComponent upper_bcache = {
	.name = "bcache",
	.find = bcache_find,
	.read = bcache_read,
	.write = bcache_write,
	.free = free,
};
