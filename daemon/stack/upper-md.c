/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The arrays that the disk or its partitions are members of: SYSFS/class/block/ARRAY/md
 * (Documentation/admin-guide/md.rst). All of it is memory; reading it wakes nothing. */

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "stack/topology-read.h"
#include "stack/upper-internal.h"

typedef struct Arrays {
	char *sysfs_root;
	char **members; /* "md0/dev-sda1" */
} Arrays;

static void md_free(void *found)
{
	Arrays *a = found;

	if (!a)
		return;
	strv_free(a->members);
	free(a->sysfs_root);
	free(a);
}

static inline void arrays_freep(Arrays **a)
{
	md_free(*a);
}

static char *md_path(const char *sysfs_root, const char *array, const char *attr)
{
	return text_printf("%s/class/block/%s/md/%s", sysfs_root, array, attr);
}

static bool is_member(const char *sysfs_root, const char *array, const char *node)
{
	_cleanup_free_ char *member = text_printf("dev-%s", node);
	_cleanup_free_ char *path = member ? md_path(sysfs_root, array, member) : NULL;

	return path && access(path, F_OK) == 0;
}

static void list_holders(const UpperDisk *on, const char *node, FILE *out)
{
	_cleanup_free_ char *folder =
		text_printf("%s/class/block/%s/holders", on->sysfs_root, node);
	struct dirent **holders = NULL;
	int n = folder ? scandir(folder, &holders, NULL, versionsort) : 0;

	for (int i = 0; i < n; i++) {
		const char *name = holders[i]->d_name;

		if (*name != '.' && is_member(on->sysfs_root, name, node))
			fprintf(out, "%s/dev-%s ", name, node);
		free(holders[i]);
	}
	free(holders);
}

/* Belongs to an array, running or not, as far as udev has read it. */
static bool has_superblock(const UpperDisk *on, const char *node)
{
	_cleanup_free_ char *type = topology_property(on->sysfs_root, node, "ID_FS_TYPE");

	return type && streq(type, "linux_raid_member");
}

static int list_members(const UpperDisk *on, char ***ret, bool *ret_any)
{
	_cleanup_(strv_freep) char **nodes = upper_nodes(on);
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *out = nodes ? open_memstream(&text, &size) : NULL;

	if (!out)
		return -ENOMEM;
	*ret_any = false;
	for (char **node = nodes; *node; node++) {
		list_holders(on, *node, out);
		*ret_any = *ret_any || has_superblock(on, *node);
	}
	if (fclose(out) != 0)
		return -ENOMEM;
	*ret = strv_split(text);
	return *ret ? 0 : -ENOMEM;
}

static int md_find(const UpperDisk *on, void **ret)
{
	_cleanup_(arrays_freep) Arrays *a = calloc(1, sizeof(*a));
	bool stopped;
	int r;

	if (!a)
		return -ENOMEM;
	a->sysfs_root = strdup(on->sysfs_root);
	r = a->sysfs_root ? list_members(on, &a->members, &stopped) : -ENOMEM;
	if (r < 0)
		return r;
	if (!*a->members && !stopped)
		return -ENOENT;
	*ret = TAKE_PTR(a);
	return 0;
}

static int print_members(const Arrays *a, char *buf, size_t size)
{
	size_t n = 0;

	*buf = '\0';
	for (char **m = a->members; *m; m++) {
		int r = upper_print(buf + n, size - n, "%s%s", n ? " " : "", *m);

		if (r < 0)
			return r;
		n += strlen(buf + n);
	}
	return 0;
}

/* The member of "ARRAY/..."; NULL where that is none of this disk's arrays. */
static const char *member_of(const Arrays *a, const char *what)
{
	size_t n = strcspn(what, "/") + 1;

	for (char **m = a->members; *m; m++)
		if (strncmp(*m, what, n) == 0)
			return *m;
	return NULL;
}

static bool is_own(const Arrays *a, const char *array, const char *member)
{
	size_t n = strlen(array);

	for (char **m = a->members; *m; m++)
		if (strncmp(*m, array, n) == 0 && (*m)[n] == '/' && streq(*m + n + 1, member))
			return true;
	return false;
}

/* The states of an array's other members: "in_sync faulty". */
static int print_others(const Arrays *a, const char *array, char *buf, size_t size)
{
	_cleanup_free_ char *folder = md_path(a->sysfs_root, array, "");
	_cleanup_closedir_ DIR *dir = folder ? opendir(folder) : NULL;
	struct dirent *e;
	size_t n = 0;

	if (!dir)
		return folder ? -errno : -ENOMEM;
	*buf = '\0';
	while ((e = readdir(dir))) {
		_cleanup_free_ char *path = text_printf("%s%s/state", folder, e->d_name);
		char state[256];
		int r;

		if (strncmp(e->d_name, "dev-", strlen("dev-")) != 0 || is_own(a, array, e->d_name))
			continue;
		/* one that is being taken out serves nobody any more */
		if (!path || read_attribute(path, state, sizeof(state)) < 0)
			continue;
		r = upper_print(buf + n, size - n, "%s%s", n ? " " : "", state);
		if (r < 0)
			return r;
		n += strlen(buf + n);
	}
	return 0;
}

/* "md0/level" is an attribute of one of this disk's arrays. */
static int split(const Arrays *a, const char *what, char **ret_array, const char **ret_attr)
{
	if (!strchr(what, '/') || strstr(what, "..") || !member_of(a, what))
		return -ENOENT;
	*ret_array = strndup(what, strcspn(what, "/"));
	*ret_attr = strchr(what, '/') + 1;
	return *ret_array ? 0 : -ENOMEM;
}

static int md_read(void *found, const char *what, char *buf, size_t size)
{
	_cleanup_free_ char *array = NULL, *path = NULL;
	const Arrays *a = found;
	const char *attr;
	int r;

	if (streq(what, "members"))
		return print_members(a, buf, size);
	r = split(a, what, &array, &attr);
	if (r < 0)
		return r;
	if (streq(attr, "others"))
		return print_others(a, array, buf, size);
	path = md_path(a->sysfs_root, array, attr);
	return path ? read_attribute(path, buf, size) : -ENOMEM;
}

/* The state of this disk's own members and nothing else. */
static int md_write(void *found, const char *what, const char *value)
{
	_cleanup_free_ char *array = NULL, *path = NULL;
	const Arrays *a = found;
	const char *attr;
	int r = split(a, what, &array, &attr);

	if (r < 0)
		return r;
	for (char **m = a->members; *m; m++) {
		size_t n = strlen(*m);

		if (strncmp(what, *m, n) == 0 && streq(what + n, "/state"))
			path = md_path(a->sysfs_root, array, attr);
	}
	return path ? write_attribute(path, value) : -EACCES;
}

const UpperComponent upper_md = {
	.name = "md",
	.find = md_find,
	.read = md_read,
	.write = md_write,
	.free = md_free,
};
