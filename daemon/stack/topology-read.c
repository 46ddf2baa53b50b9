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
#include "stack/topology-walk.h"

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

char *topology_zfs_pool(const char *sysfs_root, const char *name)
{
	_cleanup_free_ char *type = topology_property(sysfs_root, name, "ID_FS_TYPE");

	if (!type || !streq(type, "zfs_member"))
		return NULL;
	return topology_property(sysfs_root, name, "ID_FS_LABEL") ?: strdup("");
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

char *topology_kernel_name(const char *path)
{
	_cleanup_free_ char *real = realpath(path, NULL);

	return strdup(base_name(real ?: path));
}

typedef struct BtrfsSearch {
	const char *device;
	char *found;
} BtrfsSearch;

static int take_if_member(const char *folder, void *userdata)
{
	BtrfsSearch *s = userdata;
	_cleanup_free_ char *member = text_printf("devices/%s", s->device);

	if (!member || !folder_has(folder, member))
		return member ? 0 : -ENOMEM;
	s->found = strdup(folder);
	return s->found ? 1 : -ENOMEM;
}

char *topology_btrfs(const char *sysfs_root, const char *device)
{
	_cleanup_free_ char *all = text_printf("%s/fs/btrfs", sysfs_root);
	BtrfsSearch s = { .device = device };

	if (all)
		folder_each(all, take_if_member, &s);
	return s.found;
}

static int add_entry(const char *path, void *userdata)
{
	return names_add(userdata, base_name(path));
}

static int add_btrfs_members(const char *sysfs_root, const char *source, Names *to)
{
	_cleanup_free_ char *name = topology_kernel_name(source), *folder = NULL, *devices = NULL;

	if (!name)
		return -ENOMEM;
	folder = topology_btrfs(sysfs_root, name);
	if (!folder)
		return names_add(to, name);
	devices = text_printf("%s/devices", folder);
	return devices ? folder_each(devices, add_entry, to) : -ENOMEM;
}

typedef struct ZfsSearch {
	const char *sysfs_root, *pool;
	Names *found;
} ZfsSearch;

static int add_if_in_pool(const char *path, void *userdata)
{
	const ZfsSearch *s = userdata;
	_cleanup_free_ char *pool = topology_zfs_pool(s->sysfs_root, base_name(path));

	return pool && streq(pool, s->pool) ? names_add(s->found, base_name(path)) : 0;
}

/* ZFS tells nobody its disks, but blkid has read their labels. */
static int add_zfs_members(const char *sysfs_root, const char *pool, Names *to)
{
	_cleanup_free_ char *devices = text_printf("%s/class/block", sysfs_root);
	ZfsSearch s = { .sysfs_root = sysfs_root, .pool = pool, .found = to };

	return devices ? folder_each(devices, add_if_in_pool, &s) : -ENOMEM;
}

/* The length of the part of the source that names all devices: of ZFS's "POOL/DATASET" that is the
 * pool. */
static size_t pool_length(const Mount *m)
{
	return strcspn(m->source, streq(m->type, "zfs") ? "/" : "");
}

/* Containers mount one file system many times: its members are looked for once. */
static char **known_members(const Topology *t, const Mount *m)
{
	size_t n = pool_length(m);

	for (size_t i = 0; i + 1 < t->n_mounts; i++) {
		const Mount *other = &t->mounts[i];

		if (other->members && streq(other->type, m->type) && pool_length(other) == n &&
		    strncmp(other->source, m->source, n) == 0)
			return other->members;
	}
	return NULL;
}

static int find_members(const Topology *t, const Mount *m, Names *to)
{
	_cleanup_free_ char *pool = strndup(m->source, pool_length(m));
	char **known = known_members(t, m);
	int r = pool ? 0 : -ENOMEM;

	if (pool && !known)
		return streq(m->type, "zfs") ? add_zfs_members(t->sysfs_root, pool, to)
					     : add_btrfs_members(t->sysfs_root, pool, to);
	for (; r == 0 && *known; known++)
		r = names_add(to, *known);
	return r;
}

/* A FUSE mount's source may be a folder, whose path is not to be walked: that wakes disks. */
static bool is_device_node(const char *source)
{
	return strncmp(source, "/dev/", strlen("/dev/")) == 0;
}

static int take_mount(const MountEntry *entry, void *userdata)
{
	Topology *t = userdata;
	Names members = {};
	Mount *m;
	int r;

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
	r = major(entry->devnum) ? 0 : find_members(t, m, &members);
	m->members = members.list;
	return r;
}

static bool lies_under(const char *path, const char *point)
{
	size_t n = strlen(point);

	return streq(point, "/") || (strncmp(path, point, n) == 0 && path[n] == '/');
}

/* NULL: it lies on nothing that is known here. The last of those that are mounted at one point
 * covers the others. */
static const Mount *mount_of_path(const Topology *t, const char *path)
{
	const Mount *found = NULL;

	for (size_t i = 0; i < t->n_mounts; i++) {
		const Mount *m = &t->mounts[i];

		if (lies_under(path, m->point) &&
		    (!found || strlen(m->point) >= strlen(found->point)))
			found = m;
	}
	return found;
}

/* 0: the device number is not known. */
static dev_t devnum_of_swap(const Topology *t, const MountEntry *swap)
{
	_cleanup_free_ char *name = NULL, *folder = NULL;
	struct stat st;

	if (streq(swap->type, "file"))
		return stat(swap->source, &st) == 0 ? st.st_dev : 0;
	name = topology_kernel_name(swap->source);
	folder = name ? topology_folder(t->sysfs_root, name) : NULL;
	return folder ? sysfs_devnum("", folder) : 0;
}

static int take_swap(const MountEntry *entry, void *userdata)
{
	Topology *t = userdata;
	Swap s = { .is_file = streq(entry->type, "file"), .devnum = devnum_of_swap(t, entry) };
	Swap *place;

	/* its file is out of sight, or on a btrfs, which makes its number up */
	if (s.is_file && !major(s.devnum))
		s.mount = mount_of_path(t, entry->source);
	if (!s.devnum && !s.mount)
		return 0;
	place = ARRAY_GROW(t->swaps, t->n_swaps);
	if (!place)
		return -ENOMEM;
	*place = s;
	return 0;
}

char *topology_proc(const char *sysfs_root, const char *file)
{
	return text_printf("%s/proc/%s", streq(sysfs_root, "/sys") ? "" : sysfs_root, file);
}

static int read_table(Topology *t, const char *file, typeof(mounts_each) *each, MountVisit take)
{
	_cleanup_free_ char *path = topology_proc(t->sysfs_root, file);
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
	t->flash_pools = pool_list_new();
	r = t->sysfs_root && t->pools && t->flash_pools
		    ? read_table(t, "self/mountinfo", mounts_each, take_mount)
		    : -ENOMEM;
	if (r >= 0)
		r = read_table(t, "swaps", swaps_each, take_swap);
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
	pool_list_free(t->flash_pools);
	free(t->sysfs_root);
	free(t);
	return NULL;
}
