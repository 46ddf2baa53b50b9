/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "journal/journal-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/failpoint.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"

/* Writes in two halves, so that a test can die between them, as a power cut would. */
static int write_halves(int fd, const char *text, size_t n)
{
	int r;

	failpoint("journal-before-write");
	r = write_all(fd, text, n / 2);
	if (r < 0)
		return r;
	failpoint("journal-half-written");
	return write_all(fd, text + n / 2, n - n / 2);
}

static int lock(int fd, const char *path)
{
	if (flock(fd, LOCK_EX | LOCK_NB) >= 0)
		return 0;
	if (errno != EWOULDBLOCK)
		return log_error_errno(errno, "%s: cannot lock the journal", path);
	return log_error_errno(EBUSY, "%s: another storpowerd is using this journal: stop it first",
			       path);
}

/* False when the former holder of the lock has replaced the file after we opened it. */
static bool still_there(int fd, const char *path)
{
	struct stat mine, there;

	return fstat(fd, &mine) >= 0 && stat(path, &there) >= 0 && mine.st_dev == there.st_dev &&
	       mine.st_ino == there.st_ino;
}

int journal_file_open(const char *path, JournalFile *ret)
{
	_cleanup_close_ int fd = -EBADF;
	int r;

	do {
		closep(&fd);
		fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
		if (fd < 0)
			return log_error_errno(errno, "%s: cannot open the journal", path);
		r = lock(fd, path);
		if (r < 0)
			return r;
	} while (!still_there(fd, path));

	failpoint("journal-created");
	r = sync_directory_of(path);
	if (r < 0)
		return log_error_errno(r, "%s: cannot sync the folder of the journal", path);
	ret->path = strdup(path);
	if (!ret->path)
		return -ENOMEM;
	ret->fd = TAKE_FD(fd);
	return 0;
}

void journal_file_close(JournalFile *f)
{
	closep(&f->fd);
	f->fd = -EBADF;
	free(f->path);
	f->path = NULL;
}

int journal_file_append(JournalFile *f, const char *text, size_t n)
{
	return write_halves(f->fd, text, n);
}

int journal_file_sync(JournalFile *f)
{
	failpoint("journal-before-sync");
	if (fdatasync(f->fd) < 0)
		return -errno;
	failpoint("journal-after-sync");
	return 0;
}

int journal_file_truncate(JournalFile *f)
{
	failpoint("journal-before-truncate");
	if (ftruncate(f->fd, 0) < 0)
		return -errno;
	failpoint("journal-after-truncate");
	return journal_file_sync(f);
}

int journal_file_replace(JournalFile *f, const char *text, size_t n)
{
	_cleanup_free_ char *temporary = text_printf("%s.new", f->path);
	_cleanup_close_ int fd = -EBADF;
	int r;

	if (!temporary)
		return -ENOMEM;
	(void)unlink(temporary); /* of a write that was never finished */
	fd = open(temporary, O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	r = lock(fd, temporary);
	if (r >= 0)
		r = write_halves(fd, text, n);
	if (r >= 0 && fsync(fd) < 0)
		r = -errno;
	failpoint("journal-before-rename");
	if (r >= 0 && rename(temporary, f->path) < 0)
		r = -errno;
	if (r < 0) {
		unlink(temporary);
		return r;
	}
	failpoint("journal-after-rename");
	closep(&f->fd);
	f->fd = TAKE_FD(fd);
	return sync_directory_of(f->path);
}
