/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The mergerfs that has a file system of the disk as a branch, through the extended attributes of
 * MOUNT/.mergerfs (mergerfs(1), "runtime config"). They are answered from memory, as the sizes of
 * the file systems are: neither wakes a disk. A mergerfs that hangs lets its caller hang. */

#include <errno.h>
#include <limits.h>
#include <linux/limits.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>

#include "base/sysfs.h"
#include "base/text.h"
#include "stack/mergerfs-branch.h"
#include "stack/topology-read.h"
#include "stack/upper-internal.h"

typedef struct Merged {
	Topology *topology;
	char **points, **mergers; /* all mount points; those of type fuse.mergerfs */
	size_t n_points, n_mergers;
	const char *point;  /* of the mergerfs that the disk is part of */
	const char *second; /* NULL, or of another one */
	char *branches, *own;
} Merged;

typedef struct Space {
	uint64_t size, free; /* bytes */
} Space;

static void free_list(char **list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(list[i]);
	free(list);
}

static void mergerfs_free(void *found)
{
	Merged *m = found;

	if (!m)
		return;
	topology_free(m->topology);
	free_list(m->points, m->n_points);
	free_list(m->mergers, m->n_mergers);
	free(m->branches);
	free(m->own);
	free(m);
}

static inline void merged_freep(Merged **m)
{
	mergerfs_free(*m);
}

static int append(char ***list, size_t *n, const char *text)
{
	char **place = ARRAY_GROW(*list, *n);

	if (!place)
		return -ENOMEM;
	*place = strdup(text);
	return *place ? 0 : -ENOMEM;
}

/* proc(5): ID PARENT MAJ:MIN ROOT MOUNT-POINT OPTIONS [FIELDS] - TYPE SOURCE OPTIONS */
static int take_mount(Merged *m, const char *line)
{
	const char *rest = strstr(line, " - ");
	char point[PATH_MAX], type[64];
	int r;

	if (!rest || sscanf(line, "%*u %*u %*s %*s %4095s", point) != 1 ||
	    sscanf(rest, " - %63s", type) != 1)
		return 0;
	unescape_octal(point);
	r = append(&m->points, &m->n_points, point);
	if (r >= 0 && streq(type, "fuse.mergerfs"))
		r = append(&m->mergers, &m->n_mergers, point);
	return r;
}

static int read_mounts(Merged *m)
{
	_cleanup_fclose_ FILE *f = fopen("/proc/self/mountinfo", "re");
	_cleanup_free_ char *line = NULL;
	size_t size = 0;
	int r = 0;

	if (!f)
		return -errno;
	while (r >= 0 && getline(&line, &size, f) > 0)
		r = take_mount(m, line);
	return r;
}

static int control_file(const char *point, const char *key, char **ret_path, char **ret_name)
{
	_cleanup_free_ char *path = text_printf("%s/.mergerfs", point);
	_cleanup_free_ char *name = text_printf("user.mergerfs.%s", key);

	if (!path || !name)
		return -ENOMEM;
	*ret_path = TAKE_PTR(path);
	*ret_name = TAKE_PTR(name);
	return 0;
}

static int ask(const char *point, const char *key, char **ret)
{
	_cleanup_free_ char *path = NULL, *name = NULL, *text = malloc(XATTR_SIZE_MAX + 1);
	ssize_t n;
	int r = text ? control_file(point, key, &path, &name) : -ENOMEM;

	if (r < 0)
		return r;
	n = getxattr(path, name, text, XATTR_SIZE_MAX);
	if (n < 0)
		return -errno;
	text[n] = '\0';
	*ret = TAKE_PTR(text);
	return 0;
}

static int tell(const char *point, const char *key, const char *value)
{
	_cleanup_free_ char *path = NULL, *name = NULL;
	int r = control_file(point, key, &path, &name);

	if (r < 0)
		return r;
	return setxattr(path, name, value, strlen(value), XATTR_REPLACE) < 0 ? -errno : 0;
}

static bool is_below(const char *point, const char *path, size_t length)
{
	size_t n = strlen(point);

	if (streq(point, "/"))
		return true;
	return n <= length && strncmp(point, path, n) == 0 && (n == length || path[n] == '/');
}

/* The mount point that a branch lies below, found by its name: walking there could wake the disk.
 * mergerfs resolves links in it. */
static const char *point_of(const Merged *m, const MergerfsBranch *b)
{
	const char *best = NULL;

	for (size_t i = 0; i < m->n_points; i++)
		if (is_below(m->points[i], b->path, (size_t)b->path_length) &&
		    (!best || strlen(m->points[i]) >= strlen(best)))
			best = m->points[i];
	return best;
}

static bool has_name(char *const *list, const char *name)
{
	for (; *list; list++)
		if (streq(*list, name))
			return true;
	return false;
}

/* On this disk alone: what lies on others, too, would be steered by each of them. */
static bool is_on(const Merged *m, const Mount *mount, char *const *nodes)
{
	_cleanup_free_ char *folder = NULL;

	for (char **member = mount->members; member && *member; member++)
		if (!has_name(nodes, *member))
			return false;
	if (mount->members)
		return *mount->members;
	folder = topology_folder_of(m->topology->sysfs_root, mount->devnum);
	return folder && has_name(nodes, base_name(folder));
}

/* Without a mount of its own there is nobody to ask: one that hangs is none of this disk's. */
static bool has_mount(const Merged *m, char *const *nodes)
{
	for (size_t i = 0; i < m->topology->n_mounts; i++)
		if (is_on(m, &m->topology->mounts[i], nodes))
			return true;
	return false;
}

static bool lies_on(const Merged *m, const MergerfsBranch *b, char *const *nodes)
{
	const char *point = point_of(m, b);
	const Mount *mount = NULL;

	/* the last one covers those before */
	for (size_t i = 0; point && i < m->topology->n_mounts; i++)
		if (streq(m->topology->mounts[i].point, point))
			mount = &m->topology->mounts[i];
	return mount && is_on(m, mount, nodes);
}

/* The paths of the branches on the disk: "/hdd0/a:/hdd0/b". */
static char *own_of(const Merged *m, const char *branches, char *const *nodes)
{
	MergerfsBranch b;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	while (mergerfs_branch_next(&branches, &b))
		if (lies_on(m, &b, nodes))
			fprintf(out, "%s%.*s", ftell(out) ? ":" : "", b.path_length, b.path);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

/* Is the disk part of this mergerfs? The first one counts, so that what was set is found again. */
static int look(Merged *m, const char *point, char *const *nodes)
{
	_cleanup_free_ char *branches = NULL, *own = NULL;
	int r = ask(point, "branches", &branches);

	if (r < 0)
		return r;
	own = own_of(m, branches, nodes);
	if (!own)
		return -ENOMEM;
	if (!*own)
		return 0;
	if (m->point) {
		m->second = point;
		return 0;
	}
	m->point = point;
	m->branches = TAKE_PTR(branches);
	m->own = TAKE_PTR(own);
	return 0;
}

/* One that has died (ENOTCONN) is only in the way where nothing else has the disk: then whether it
 * had is not known. */
static int look_at_all(Merged *m, char *const *nodes)
{
	int first = -ENOENT;

	for (size_t i = 0; i < m->n_mergers; i++) {
		int r = look(m, m->mergers[i], nodes);

		if (r == -ENOMEM)
			return r;
		if (r < 0 && first == -ENOENT)
			first = r == -ENODATA ? -EOPNOTSUPP : r; /* too old for "branches" */
	}
	return m->point ? 0 : first;
}

static int mergerfs_find(const UpperDisk *on, void **ret)
{
	_cleanup_(merged_freep) Merged *m = NULL;
	_cleanup_(strv_freep) char **nodes = NULL;
	int r;

	if (!on->real)
		return -ENOENT;
	m = calloc(1, sizeof(*m));
	r = m ? read_mounts(m) : -ENOMEM;
	if (r >= 0)
		r = m->n_mergers ? topology_read(on->sysfs_root, &m->topology) : -ENOENT;
	nodes = r >= 0 ? upper_nodes(on) : NULL;
	if (r >= 0)
		r = !nodes ? -ENOMEM : has_mount(m, nodes) ? look_at_all(m, nodes) : -ENOENT;
	if (r < 0)
		return r;
	*ret = TAKE_PTR(m);
	return 0;
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

/* Two branches of one file system share what is free there. */
static bool was_counted(const Merged *m, const MergerfsBranch *b)
{
	const char *list = m->branches;
	MergerfsBranch before;

	while (mergerfs_branch_next(&list, &before) && before.path != b->path)
		if (takes_new_files(m, &before) && point_of(m, &before) == point_of(m, b))
			return true;
	return false;
}

/* Adds what there is for new files on a branch, and what of that is free. */
static void add_space(const Merged *m, const MergerfsBranch *b, uint64_t min, Space *to)
{
	const char *point = point_of(m, b);
	struct statvfs s;
	uint64_t bytes, free_bytes;

	if (!point || statvfs(point, &s) < 0 || s.f_flag & ST_RDONLY)
		return;
	bytes = (uint64_t)s.f_blocks * s.f_frsize;
	free_bytes = (uint64_t)s.f_bavail * s.f_frsize;
	to->size += bytes > min ? bytes - min : 0;
	to->free += free_bytes > min ? free_bytes - min : 0;
}

static int measure(const Merged *m, Space *ret)
{
	_cleanup_free_ char *text = NULL;
	const char *list = m->branches;
	Space sum = {};
	MergerfsBranch b;
	uint64_t of_all;
	int r = ask(m->point, "minfreespace", &text);

	if (r >= 0)
		r = parse_bytes(text, &of_all);
	if (r < 0)
		return r;
	while (mergerfs_branch_next(&list, &b))
		if (takes_new_files(m, &b) && !was_counted(m, &b))
			add_space(m, &b, min_free(&b, of_all), &sum);
	*ret = sum;
	return 0;
}

static int print_space(const Merged *m, char *buf, size_t size)
{
	Space s;
	int r = measure(m, &s);

	return r < 0 ? r : upper_print(buf, size, "%ju %ju", (uintmax_t)s.size, (uintmax_t)s.free);
}

static int mergerfs_read(void *found, const char *what, char *buf, size_t size)
{
	_cleanup_free_ char *policy = NULL;
	const Merged *m = found;
	int r;

	if (streq(what, "branches"))
		return upper_print(buf, size, "%s", m->branches);
	if (streq(what, "branch"))
		return upper_print(buf, size, "%s", m->own);
	if (streq(what, "mount"))
		return upper_print(buf, size, "%s", m->point);
	if (streq(what, "second"))
		return upper_print(buf, size, "%s", m->second ?: "");
	if (streq(what, "space"))
		return print_space(m, buf, size);
	if (!streq(what, "create"))
		return -ENOENT;
	r = ask(m->point, "category.create", &policy);
	return r < 0 ? r : upper_print(buf, size, "%s", policy);
}

static int mergerfs_write(void *found, const char *what, const char *value)
{
	const Merged *m = found;

	return streq(what, "branches") ? tell(m->point, what, value) : -EACCES;
}

const UpperComponent upper_mergerfs = {
	.name = "mergerfs",
	.find = mergerfs_find,
	.read = mergerfs_read,
	.write = mergerfs_write,
	.free = mergerfs_free,
};
