/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"

#define FILE_MAX (64 << 20)

int read_attribute(const char *path, char *buf, size_t size)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, buf, size);
	if (n < 0)
		return -errno;
	if ((size_t)n == size)
		return -ENOBUFS;
	if (n > 0 && buf[n - 1] == '\n')
		n--;
	buf[n] = '\0';
	return 0;
}

int write_attribute(const char *path, const char *text)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = write(fd, text, strlen(text));
	if (n < 0)
		return -errno;
	return (size_t)n == strlen(text) ? 0 : -EIO;
}

int read_bytes(const char *path, char **ret_bytes, size_t *ret_n)
{
	_cleanup_fclose_ FILE *f = fopen(path, "re");
	_cleanup_free_ char *text = NULL;
	size_t n = 0;

	if (!f)
		return -errno;
	for (size_t size = 4096;; size *= 2) {
		char *bigger = realloc(text, size + 1);

		if (!bigger)
			return -ENOMEM;
		text = bigger;
		n += fread(text + n, 1, size - n, f);
		if (n > FILE_MAX)
			return -EFBIG;
		if (n < size)
			break;
	}
	if (ferror(f))
		return -EIO;
	text[n] = '\0';
	*ret_bytes = TAKE_PTR(text);
	*ret_n = n;
	return 0;
}

int read_file(const char *path, char **ret_text)
{
	size_t n;

	return read_bytes(path, ret_text, &n);
}

int sync_directory_of(const char *path)
{
	_cleanup_free_ char *dir = strdup(path);
	_cleanup_close_ int fd = -EBADF;
	char *slash;

	if (!dir)
		return -ENOMEM;
	slash = strrchr(dir, '/');
	if (slash)
		slash[slash == dir] = '\0';
	fd = open(slash ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fsync(fd) < 0)
		return -errno;
	return 0;
}

int write_all(int fd, const char *bytes, size_t n)
{
	while (n) {
		ssize_t written = write(fd, bytes, n);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		bytes += written;
		n -= (size_t)written;
	}
	return 0;
}

static int write_synced(const char *path, const char *bytes, size_t n, mode_t mode)
{
	_cleanup_close_ int fd = -EBADF;
	int r;

	/* a write that was never finished may have left it, or it is a FIFO, which opening waits
	 * for */
	(void)unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	r = fd < 0 ? -errno : write_all(fd, bytes, n);
	return r >= 0 && fsync(fd) < 0 ? -errno : r;
}

int write_bytes_atomic(const char *path, const char *bytes, size_t n, mode_t mode)
{
	_cleanup_free_ char *temporary = text_printf("%s.new", path);
	int r;

	if (!temporary)
		return -ENOMEM;
	r = write_synced(temporary, bytes, n, mode);
	if (r >= 0 && rename(temporary, path) < 0)
		r = -errno;
	if (r < 0) {
		unlink(temporary);
		return r;
	}
	return sync_directory_of(path);
}

int write_file_atomic(const char *path, const char *text, mode_t mode)
{
	return write_bytes_atomic(path, text, strlen(text), mode);
}

int append_file_synced(const char *path, const char *text)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	int r = fd < 0 ? -errno : write_all(fd, text, strlen(text));

	return r >= 0 && fdatasync(fd) < 0 ? -errno : r;
}

int mkdir_parents(const char *path, mode_t mode)
{
	_cleanup_free_ char *p = strdup(path);

	if (!p)
		return -ENOMEM;
	for (char *slash = strchr(p + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(p, mode) < 0 && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return mkdir(p, mode) < 0 && errno != EEXIST ? -errno : 0;
}

typedef struct FileList {
	char **paths;
	size_t n;
} FileList;

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool list_has(const FileList *list, const char *name)
{
	for (size_t i = 0; i < list->n; i++)
		if (streq(base_name(list->paths[i]), name))
			return true;
	return false;
}

static bool has_suffix(const char *name, const char *suffix)
{
	size_t n = strlen(name), s = strlen(suffix);

	return n > s && *name != '.' && streq(name + n - s, suffix);
}

static int list_directory(FileList *list, const char *directory, const char *suffix)
{
	_cleanup_closedir_ DIR *d = opendir(directory);
	struct dirent *e;

	if (!d)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	while ((e = readdir(d))) {
		char **more;

		if (e->d_type == DT_DIR || !has_suffix(e->d_name, suffix) ||
		    list_has(list, e->d_name))
			continue;
		more = reallocarray(list->paths, list->n + 2, sizeof(*more));
		if (!more)
			return -ENOMEM;
		list->paths = more;
		more[list->n] = text_printf("%s/%s", directory, e->d_name);
		if (!more[list->n])
			return -ENOMEM;
		more[++list->n] = NULL;
	}
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(base_name(*(char *const *)a), base_name(*(char *const *)b));
}

int list_files(const char *const *directories, const char *suffix, char ***ret_paths)
{
	FileList list = { .paths = calloc(1, sizeof(char *)) };

	if (!list.paths)
		return -ENOMEM;
	for (; *directories; directories++) {
		int r = list_directory(&list, *directories, suffix);

		if (r < 0) {
			strv_free(list.paths);
			return r;
		}
	}
	qsort(list.paths, list.n, sizeof(char *), compare_names);
	*ret_paths = list.paths;
	return 0;
}
