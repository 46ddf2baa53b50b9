/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/set-aside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"

/* Whoever has so many copies does not look at them. */
#define KEPT_MAX 100

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* The first of PATH.damaged, PATH.damaged.2, ... that is free, because what was kept before stays.
 * Returns 1 where the file has that name already: it was kept, and could not be written anew. */
static int find_name(const char *path, char **ret)
{
	struct stat file, other;
	bool known = stat(path, &file) == 0;

	for (unsigned n = 1; n <= KEPT_MAX; n++) {
		_cleanup_free_ char *name = n == 1 ? text_printf("%s.damaged", path)
						   : text_printf("%s.damaged.%u", path, n);
		int r = name ? lstat(name, &other) : -ENOMEM;

		if (!name || (r < 0 && errno != ENOENT))
			return name ? -errno : r;
		if (r == 0 && !(known && same_file(&file, &other)))
			continue;
		*ret = TAKE_PTR(name);
		return r == 0;
	}
	return -EEXIST;
}

static int move_aside(const char *path, char **ret_aside)
{
	_cleanup_free_ char *aside = NULL;
	int r = find_name(path, &aside);

	if (r < 0 || rename(path, aside) < 0)
		return log_error_errno(r < 0 ? r : errno,
				       "%s cannot be moved aside: move it away by hand, then start "
				       "storpowerd again",
				       path);
	*ret_aside = TAKE_PTR(aside);
	return 0;
}

int set_aside(const char *path, const char *going_on)
{
	_cleanup_free_ char *aside = NULL;
	int r = move_aside(path, &aside);

	if (r >= 0)
		log_about(LOG_ERR, 0, &(LogAbout){ .id = MESSAGE_STATE_DAMAGED, .file = path },
			  "%s cannot be understood: moved to %s, %s", path, aside, going_on);
	return r;
}

static const char *type_name(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR: return "a directory";
	case S_IFIFO: return "a FIFO";
	case S_IFSOCK: return "a socket";
	default: return "a device";
	}
}

int set_aside_unless_file(const char *path)
{
	_cleanup_free_ char *aside = NULL;
	struct stat st;
	int r;

	if (stat(path, &st) < 0)
		return errno == ENOENT
			       ? 0
			       : log_error_errno(errno,
						 "%s cannot be looked at: it must be a file of "
						 "storpowerd's, or absent",
						 path);
	if (S_ISREG(st.st_mode))
		return 0;
	r = move_aside(path, &aside);
	if (r >= 0)
		log_error("%s is %s and no file: moved to %s, going on without it", path,
			  type_name(st.st_mode), aside);
	return r;
}

/* A second name takes no room on a full disk. Whoever writes the file anew gives its own name to
 * another file. */
static int keep(const char *path, const char *name, const char *found, size_t n)
{
	if (linkat(AT_FDCWD, path, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0)
		return sync_directory_of(path);
	return write_bytes_atomic(name, found, n, 0600);
}

int set_aside_copy(const char *path, const char *found, size_t n)
{
	_cleanup_free_ char *aside = NULL;
	int r = find_name(path, &aside);

	if (r == 0)
		r = aside ? keep(path, aside, found, n) : -ENOMEM;
	if (r < 0)
		return log_warning_errno(r,
					 "%s: the damaged file cannot be kept beside it: make room "
					 "on its disk, and remove what is kept of it already",
					 path);
	log_about(LOG_WARNING, 0, &(LogAbout){ .id = MESSAGE_STATE_DAMAGED, .file = path },
		  "%s: the damaged file is kept as %s; what is whole in it is used", path, aside);
	return 0;
}
