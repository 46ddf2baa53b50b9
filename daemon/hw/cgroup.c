/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hw/cgroup.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"
#include "stack/mounts.h"

#define WHOLE_FILES "cgroup."

/* A namespace's or container's bind mount shows a part only, whose root is another. */
static int take_hierarchy(const MountEntry *entry, void *userdata)
{
	char **point = userdata;

	if (!streq(entry->type, "cgroup2") || !streq(entry->root, "/"))
		return 0;
	*point = strdup(entry->point);
	return *point ? 1 : -ENOMEM;
}

int cgroup_find_root(const char *mountinfo, char **ret)
{
	int r = mounts_each(mountinfo, take_hierarchy, ret);

	return r > 0 ? 0 : r ?: -EOPNOTSUPP;
}

/* Only the unified hierarchy has cgroup.controllers; a v1 folder or an empty one has not. */
static int check_root(const char *root)
{
	_cleanup_free_ char *path = text_printf("%s/cgroup.controllers", root);

	if (!path)
		return -ENOMEM;
	return access(path, F_OK) < 0 ? -EOPNOTSUPP : 0;
}

static bool is_whole(const char *file)
{
	const char *name = strrchr(file, '/');

	return strncmp(name ? name + 1 : file, WHOLE_FILES, strlen(WHOLE_FILES)) == 0;
}

/* Returns what follows "MAJ:MIN " on the line that begins so. Where a cgroup has done no IO, the
 * kernel leaves a "MAJ:MIN " without anything behind it in io.stat. */
static const char *find_line(char *text, dev_t devnum)
{
	unsigned found_major, found_minor;
	char *rest = text, *line;
	int n;

	while ((line = strsep(&rest, "\n"))) {
		n = 0;
		if (sscanf(line, "%u:%u%n", &found_major, &found_minor, &n) == 2 &&
		    (!line[n] || line[n] == ' ') && makedev(found_major, found_minor) == devnum)
			return line + n + strspn(line + n, " ");
	}
	return "";
}

static void strip_end(char *text)
{
	size_t n = strlen(text);

	while (n > 0 && isspace((unsigned char)text[n - 1]))
		text[--n] = '\0';
}

int cgroup_line_read(const char *cgroup_root, dev_t devnum, const char *file, char *buf,
		     size_t size)
{
	_cleanup_free_ char *path = text_printf("%s/%s", cgroup_root, file), *text = NULL;
	const char *line;
	int r = path ? check_root(cgroup_root) : -ENOMEM;

	if (r >= 0)
		r = read_file(path, &text);
	if (r < 0)
		return r;
	line = is_whole(file) ? text : find_line(text, devnum);
	if (strlen(line) >= size)
		return -ENOBUFS;
	memcpy(buf, line, strlen(line) + 1);
	strip_end(buf);
	return 0;
}

int cgroup_line_write(const char *cgroup_root, dev_t devnum, const char *file, const char *line)
{
	_cleanup_free_ char *path = text_printf("%s/%s", cgroup_root, file);
	_cleanup_free_ char *text = text_printf("%u:%u %s", major(devnum), minor(devnum), line);
	int r;

	if (is_whole(file))
		return -EPERM;
	if (!path || !text)
		return -ENOMEM;
	r = check_root(cgroup_root);
	return r < 0 ? r : write_attribute(path, text);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_folder(DIR *d, const struct dirent *e)
{
	struct stat st;

	return e->d_name[0] != '.' && fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) >= 0 &&
	       S_ISDIR(st.st_mode);
}

int cgroup_children(const char *cgroup_root, char ***ret)
{
	_cleanup_(strv_freep) char **names = calloc(1, sizeof(*names));
	_cleanup_closedir_ DIR *d = NULL;
	const struct dirent *e;
	int r = names ? check_root(cgroup_root) : -ENOMEM;

	if (r < 0)
		return r;
	d = opendir(cgroup_root);
	if (!d)
		return -errno;
	while ((e = readdir(d)))
		if (is_folder(d, e) && strv_add(&names, e->d_name) < 0)
			return -ENOMEM;
	qsort(names, strv_length(names), sizeof(*names), compare_names);
	*ret = TAKE_PTR(names);
	return 0;
}
