/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "redirect/mergerfs-host.h"

#include <errno.h>
#include <limits.h>
#include <linux/limits.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>

#include "base/sysfs.h"
#include "base/text.h"
#include "redirect/component.h"
#include "redirect/mergerfs-branch.h"
#include "stack/mounts.h"
#include "stack/topology-read.h"

/* Of all file systems, and of those of type fuse.mergerfs. */
typedef struct MountPoints {
	Names all, merged;
} MountPoints;

static void mount_points_done(MountPoints *p)
{
	names_done(&p->all);
	names_done(&p->merged);
}

static int take_mount(const MountEntry *entry, void *userdata)
{
	MountPoints *p = userdata;
	int r = names_add(&p->all, entry->point);

	return r < 0 || !streq(entry->type, "fuse.mergerfs") ? r
							     : names_add(&p->merged, entry->point);
}

static int read_mount_points(MountPoints *p)
{
	return mounts_each("/proc/self/mountinfo", take_mount, p);
}

static int get_option(const char *mount, const char *name, char **ret)
{
	_cleanup_free_ char *path = text_printf("%s/.mergerfs", mount);
	_cleanup_free_ char *text = malloc(XATTR_SIZE_MAX + 1);
	ssize_t n;

	if (!path || !text)
		return -ENOMEM;
	n = getxattr(path, name, text, XATTR_SIZE_MAX);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	*ret = TAKE_PTR(text);
	return 0;
}

#define BRANCHES "user.mergerfs.branches"

int mergerfs_set_branches(const Merged *m, const char *branches)
{
	_cleanup_free_ char *path = text_printf("%s/.mergerfs", m->mount);

	if (!path)
		return -ENOMEM;
	return setxattr(path, BRANCHES, branches, strlen(branches), XATTR_REPLACE) < 0 ? -errno : 0;
}

int mergerfs_create_policies(const Merged *m, char **ret)
{
	return get_option(m->mount, "user.mergerfs.category.create", ret);
}

static bool is_below(const char *point, const char *path, size_t length)
{
	size_t n = strlen(point);

	if (streq(point, "/"))
		return true;
	return n <= length && strncmp(point, path, n) == 0 && (n == length || path[n] == '/');
}

/* Finds the mount point that a branch lies below by its name, because walking there could wake the
 * disk. mergerfs resolves links in the name. */
static const char *point_of(const MountPoints *p, const MergerfsBranch *b)
{
	const char *best = NULL;

	for (size_t i = 0; i < p->all.n; i++)
		if (is_below(p->all.list[i], b->path, (size_t)b->path_length) &&
		    (!best || strlen(p->all.list[i]) > strlen(best)))
			best = p->all.list[i];
	return best;
}

/* What tells a disk's branches from others. */
typedef struct Lookup {
	OwnNodes own;
	MountPoints points;
	Topology *topology;
} Lookup;

static void lookup_done(Lookup *l)
{
	own_nodes_done(&l->own);
	mount_points_done(&l->points);
	topology_free(l->topology);
}

/* Is the file system on this disk alone? One that lies on several would be steered by each. */
static bool is_on_disk(const Lookup *l, const Mount *mount)
{
	_cleanup_free_ char *folder = NULL;

	for (char **member = mount->members; member && *member; member++)
		if (!own_nodes_have(&l->own, *member))
			return false;
	if (mount->members)
		return *mount->members;
	folder = topology_folder_of(l->own.sysfs_root, mount->devnum);
	return folder && own_nodes_have(&l->own, base_name(folder));
}

/* Has the disk a file system that is mounted? Without one no mergerfs is asked, so that one that
 * hangs does not matter to this disk. */
static bool has_mount(const Lookup *l)
{
	for (size_t i = 0; i < l->topology->n_mounts; i++)
		if (is_on_disk(l, &l->topology->mounts[i]))
			return true;
	return false;
}

static bool is_own_branch(const Lookup *l, const MergerfsBranch *b)
{
	const char *point = point_of(&l->points, b);
	const Mount *mount = NULL;

	/* the last one covers those before */
	for (size_t i = 0; point && i < l->topology->n_mounts; i++)
		if (streq(l->topology->mounts[i].point, point))
			mount = &l->topology->mounts[i];
	return mount && is_on_disk(l, mount);
}

static char *own_branches(const Lookup *l, const char *branches)
{
	MergerfsBranch b;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	while (mergerfs_branch_next(&branches, &b))
		if (is_own_branch(l, &b))
			fprintf(out, "%s%.*s", ftell(out) ? ":" : "", b.path_length, b.path);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

/* Is the disk part of this mergerfs? The first one counts, so that what was set is found again. */
static int take_merged(Merged *m, const Lookup *l, const char *mount)
{
	_cleanup_free_ char *branches = NULL, *own = NULL, *copy = NULL;
	int r = get_option(mount, BRANCHES, &branches);

	if (r < 0)
		return r == -ENODATA ? -EOPNOTSUPP : r; /* too old for it */
	own = own_branches(l, branches);
	copy = strdup(mount);
	if (!own || !copy)
		return -ENOMEM;
	if (!*own)
		return 0;
	if (m->mount) {
		free(m->second);
		m->second = TAKE_PTR(copy);
		return 0;
	}
	*m = (Merged){ .mount = TAKE_PTR(copy),
		       .branches = TAKE_PTR(branches),
		       .own = TAKE_PTR(own) };
	return 0;
}

/* A mergerfs that has died (ENOTCONN) counts only where no other has the disk, because then nobody
 * knows whether it had the disk. */
static int ask_all(const Lookup *l, Merged *ret)
{
	_cleanup_(merged_done) Merged m = {};
	int first = -ENOENT;

	for (size_t i = 0; i < l->points.merged.n; i++) {
		int r = take_merged(&m, l, l->points.merged.list[i]);

		if (r == -ENOMEM)
			return r;
		if (r < 0 && first == -ENOENT)
			first = r;
	}
	if (!m.mount)
		return first;
	*ret = m;
	m = (Merged){};
	return 0;
}

int mergerfs_find(Device *d, Merged *ret)
{
	_cleanup_(lookup_done) Lookup l = {};
	int r = own_nodes_find(d, &l.own);

	if (r >= 0)
		r = streq(l.own.sysfs_root, "/sys") ? read_mount_points(&l.points) : -ENOENT;
	if (r >= 0)
		r = l.points.merged.n ? topology_read(l.own.sysfs_root, &l.topology) : -ENOENT;
	if (r < 0)
		return r;
	return has_mount(&l) ? ask_all(&l, ret) : -ENOENT;
}

void merged_done(Merged *m)
{
	free(m->mount);
	free(m->second);
	free(m->branches);
	free(m->own);
}

/* A branch's own limit, which follows its mode, or the one of all. */
static uint64_t min_free(const MergerfsBranch *b, uint64_t of_all)
{
	char text[32];
	uint64_t bytes;

	snprintf(text, sizeof(text), "%.*s", MAX(b->options_length - 1, 0), b->options + 1);
	return b->options_length > 1 && parse_bytes(text, &bytes) == 0 ? bytes : of_all;
}

static bool takes_new_files(const Merged *m, const MergerfsBranch *b)
{
	MergerfsBranch own;

	return mergerfs_branch_is(b, "RW") &&
	       !mergerfs_branch_find(m->own, b->path, b->path_length, &own);
}

/* Adds what there is for new files below the mount point, and what of that is free. */
static void add_space(const char *point, uint64_t min, CacheState *to)
{
	struct statvfs s;
	uint64_t bytes, free_bytes;

	if (statvfs(point, &s) < 0 || s.f_flag & ST_RDONLY)
		return;
	bytes = (uint64_t)s.f_blocks * s.f_frsize;
	free_bytes = (uint64_t)s.f_bavail * s.f_frsize;
	to->size_bytes += bytes > min ? bytes - min : 0;
	to->room_bytes += free_bytes > min ? free_bytes - min : 0;
}

/* Adds the space of the branches. Two branches of one file system share what is free there, so it
 * counts once. */
static int add_branches(const Merged *m, const MountPoints *p, uint64_t of_all, CacheState *to)
{
	_cleanup_(names_done) Names counted = {};
	const char *list = m->branches;
	MergerfsBranch b;
	int r = 0;

	while (r >= 0 && mergerfs_branch_next(&list, &b)) {
		const char *point = takes_new_files(m, &b) ? point_of(p, &b) : NULL;

		if (!point || names_have(&counted, point))
			continue;
		add_space(point, min_free(&b, of_all), to);
		r = names_add(&counted, point);
	}
	return r;
}

int mergerfs_space(const Merged *m, CacheState *ret)
{
	_cleanup_(mount_points_done) MountPoints points = {};
	_cleanup_free_ char *text = NULL;
	CacheState sum = {};
	uint64_t of_all;
	int r = get_option(m->mount, "user.mergerfs.minfreespace", &text);

	if (r >= 0)
		r = parse_bytes(text, &of_all);
	if (r >= 0)
		r = read_mount_points(&points);
	if (r >= 0)
		r = add_branches(m, &points, of_all, &sum);
	if (r >= 0)
		*ret = sum;
	return r;
}
