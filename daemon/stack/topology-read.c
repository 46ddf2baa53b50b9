/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stack/topology-read.h"

#include <errno.h>
#include <libudev.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/file.h"
#include "base/log.h"
#include "base/sysfs.h"
#include "base/text.h"
#include "stack/mounts.h"
#include "stack/pool-list.h"

static char *udev_property(const char *name, const char *key)
{
	struct udev *udev = udev_new();
	struct udev_device *d =
		udev ? udev_device_new_from_subsystem_sysname(udev, "block", name) : NULL;
	const char *value = d ? udev_device_get_property_value(d, key) : NULL;
	char *copy = value ? strdup(value) : NULL;

	udev_device_unref(d);
	udev_unref(udev);
	return copy;
}

static char *file_property(const char *sysfs_root, const char *name, const char *key)
{
	_cleanup_free_ char *path = text_printf("%s/udev/%s", sysfs_root, name), *text = NULL;
	size_t n = strlen(key);

	if (!path || read_file(path, &text) < 0)
		return NULL;
	for (char *save, *line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save))
		if (strncmp(line, key, n) == 0 && line[n] == '=')
			return strdup(line + n + 1);
	return NULL;
}

char *topology_property(const char *sysfs_root, const char *name, const char *key)
{
	return streq(sysfs_root, "/sys") ? udev_property(name, key)
					 : file_property(sysfs_root, name, key);
}

char *topology_folder(const char *sysfs_root, const char *name)
{
	_cleanup_free_ char *path = text_printf("%s/class/block/%s", sysfs_root, name);

	return path ? realpath(path, NULL) : NULL;
}

char *topology_folder_of(const char *sysfs_root, dev_t devnum)
{
	_cleanup_free_ char *path =
		text_printf("%s/dev/block/%u:%u", sysfs_root, major(devnum), minor(devnum));

	return path ? realpath(path, NULL) : NULL;
}

/* The kernel name of what a mount or swap was made from: "/dev/mapper/vg-log" is "dm-0". */
static char *kernel_name(const char *path)
{
	_cleanup_free_ char *real = realpath(path, NULL);

	return strdup(base_name(real ?: path));
}

static int strv_add(char ***list, size_t *n, const char *s)
{
	char **bigger = reallocarray(*list, *n + 2, sizeof(*bigger));

	if (!bigger)
		return -ENOMEM;
	*list = bigger;
	bigger[*n] = strdup(s);
	bigger[*n + 1] = NULL;
	return bigger[(*n)++] ? 0 : -ENOMEM;
}

/* Every entry of a folder that a test holds for. */
static char **list_folder(const char *path, bool (*test)(const char *name, const void *userdata),
			  const void *userdata)
{
	_cleanup_closedir_ DIR *dir = opendir(path);
	char **list = NULL;
	struct dirent *e;
	size_t n = 0;

	while (dir && (e = readdir(dir)))
		if (*e->d_name != '.' && (!test || test(e->d_name, userdata)) &&
		    strv_add(&list, &n, e->d_name) < 0)
			return strv_free(list);
	return list;
}

/* All devices of the btrfs that one of them belongs to: SYSFS/fs/btrfs/UUID/devices/NAME. */
static char **btrfs_members(const char *sysfs_root, const char *source)
{
	_cleanup_free_ char *path = text_printf("%s/fs/btrfs", sysfs_root);
	_cleanup_free_ char *name = kernel_name(source);
	_cleanup_closedir_ DIR *dir = path ? opendir(path) : NULL;
	char **alone = NULL;
	struct dirent *e;
	size_t n = 0;

	while (name && dir && (e = readdir(dir))) {
		_cleanup_free_ char *devices = text_printf("%s/%s/devices", path, e->d_name);
		_cleanup_free_ char *one = text_printf("%s/%s", devices ?: "", name);

		if (*e->d_name != '.' && one && access(one, F_OK) == 0)
			return list_folder(devices, NULL, NULL);
	}
	if (name)
		strv_add(&alone, &n, name);
	return alone;
}

typedef struct ZfsName {
	const char *sysfs_root, *name;
} ZfsName;

static bool is_in_pool(const char *name, const void *userdata)
{
	const ZfsName *pool = userdata;
	_cleanup_free_ char *type = topology_property(pool->sysfs_root, name, "ID_FS_TYPE");
	_cleanup_free_ char *label = NULL;

	if (!type || !streq(type, "zfs_member"))
		return false;
	label = topology_property(pool->sysfs_root, name, "ID_FS_LABEL");
	return label && streq(label, pool->name);
}

/* ZFS tells nobody its disks, but blkid has read their labels. */
static char **zfs_members(const char *sysfs_root, const char *dataset)
{
	_cleanup_free_ char *name = strndup(dataset, strcspn(dataset, "/"));
	_cleanup_free_ char *path = text_printf("%s/class/block", sysfs_root);

	return name && path ? list_folder(path, is_in_pool,
					  &(ZfsName){ .sysfs_root = sysfs_root, .name = name })
			    : NULL;
}

/* Containers mount one file system many times: its members are looked for once. */
static char **copy_members(const Topology *t, const Mount *m)
{
	for (size_t i = 0; i + 1 < t->n_mounts; i++) {
		const Mount *other = &t->mounts[i];
		char **copy = NULL;
		size_t n = 0;

		if (!other->members || !streq(other->source, m->source))
			continue;
		for (char **s = other->members; *s; s++)
			strv_add(&copy, &n, *s);
		return copy;
	}
	return NULL;
}

/* A FUSE mount's source may be a folder, whose path is not to be walked: that wakes disks. */
static bool is_device_node(const char *source)
{
	return strncmp(source, "/dev/", strlen("/dev/")) == 0;
}

static char **find_members(const Topology *t, const Mount *m)
{
	char **copy = copy_members(t, m);

	if (copy)
		return copy;
	if (streq(m->type, "zfs"))
		return zfs_members(t->sysfs_root, m->source);
	return is_device_node(m->source) ? btrfs_members(t->sysfs_root, m->source) : NULL;
}

static int take_mount(const MountEntry *entry, void *userdata)
{
	Topology *t = userdata;
	Mount *m;

	/* no block device below: proc, tmpfs, nfs, ... */
	if (!major(entry->devnum) && !is_device_node(entry->source) && !streq(entry->type, "zfs"))
		return 0;
	m = ARRAY_GROW(t->mounts, t->n_mounts);
	if (!m)
		return -ENOMEM;
	m->devnum = entry->devnum;
	m->whole = streq(entry->root, "/");
	m->point = strdup(entry->point);
	m->type = strdup(entry->type);
	m->source = strdup(entry->source);
	if (!m->point || !m->type || !m->source)
		return -ENOMEM;
	if (!major(entry->devnum))
		m->members = find_members(t, m);
	return 0;
}

static bool lies_under(const char *path, const char *point)
{
	size_t n = strlen(point);

	return streq(point, "/") || (strncmp(path, point, n) == 0 && path[n] == '/');
}

/* What the path lies on, plus one; 0: nothing that is known here. The last of those that are
 * mounted at one point covers the others. */
static size_t mount_of(const Topology *t, const char *path)
{
	size_t found = 0, longest = 0;

	for (size_t i = 0; i < t->n_mounts; i++) {
		size_t n = strlen(t->mounts[i].point);

		if (!lies_under(path, t->mounts[i].point) || n < longest)
			continue;
		longest = n;
		found = i + 1;
	}
	return found;
}

/* 0: that is not known. */
static dev_t devnum_of_swap(const Topology *t, const MountEntry *swap)
{
	_cleanup_free_ char *name = NULL, *folder = NULL;
	struct stat st;

	if (streq(swap->type, "file"))
		return stat(swap->source, &st) == 0 ? st.st_dev : 0;
	name = kernel_name(swap->source);
	folder = name ? text_printf("class/block/%s", name) : NULL;
	return folder ? sysfs_devnum(t->sysfs_root, folder) : 0;
}

static int take_swap(const MountEntry *entry, void *userdata)
{
	Topology *t = userdata;
	dev_t devnum = devnum_of_swap(t, entry);
	Swap *s;

	if (!devnum)
		return 0;
	s = ARRAY_GROW(t->swaps, t->n_swaps);
	if (!s)
		return -ENOMEM;
	*s = (Swap){ .is_file = streq(entry->type, "file"), .devnum = devnum };
	if (s->is_file && !major(devnum)) /* btrfs, with a number that it made up */
		s->mount = mount_of(t, entry->source);
	return 0;
}

typedef int (*TableReader)(const char *path, int (*take)(const MountEntry *entry, void *userdata),
			   void *userdata);

static int read_table(Topology *t, TableReader each, const char *file,
		      int (*take)(const MountEntry *entry, void *userdata))
{
	const char *root = streq(t->sysfs_root, "/sys") ? "" : t->sysfs_root;
	_cleanup_free_ char *path = text_printf("%s/proc/%s", root, file);
	int r = path ? each(path, take, t) : -ENOMEM;

	/* a kernel without swap has no swaps */
	if (r >= 0 || r == -ENOENT || !path)
		return r == -ENOENT ? 0 : r;
	/* without an answer no disk may be taken for one that holds nothing vital */
	return log_error_errno(r, "%s: cannot tell what the disks hold", path);
}

int topology_read(const char *sysfs_root, Topology **ret)
{
	_cleanup_(topology_freep) Topology *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return -ENOMEM;
	t->sysfs_root = strdup(sysfs_root);
	t->pools = pool_list_new();
	r = t->sysfs_root && t->pools ? read_table(t, mounts_each, "self/mountinfo", take_mount)
				      : -ENOMEM;
	if (r >= 0)
		r = read_table(t, swaps_each, "swaps", take_swap);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(t);
	return 0;
}

Topology *topology_free(Topology *t)
{
	if (!t)
		return NULL;
	for (size_t i = 0; i < t->n_mounts; i++) {
		free(t->mounts[i].point);
		free(t->mounts[i].type);
		free(t->mounts[i].source);
		strv_free(t->mounts[i].members);
	}
	free(t->mounts);
	free(t->swaps);
	pool_list_free(t->pools);
	free(t->sysfs_root);
	free(t);
	return NULL;
}
