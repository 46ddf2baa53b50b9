/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "base/cleanup.h"

/* Reads a small attribute file; one trailing newline is removed. -ENOBUFS when it does not fit. */
int read_attribute(const char *path, char *buf, size_t size);
/* One write(2) of the whole text, as sysfs and cgroupfs want; never creates the file. */
int write_attribute(const char *path, const char *text);
/* Reads the whole of a regular file, NUL-terminated and malloc'd; -EFBIG over 64 MiB. */
int read_file(const char *path, char **ret_text);
/* The same of a file that may hold NUL bytes. */
int read_bytes(const char *path, char **ret_bytes, size_t *ret_n);
/* Writes all of it, with as many write(2) as it takes. */
int write_all(int fd, const char *bytes, size_t n);
/* Replaces path by way of a synced temporary file and rename(2): old or new, never half. */
int write_file_atomic(const char *path, const char *text, mode_t mode);
int write_bytes_atomic(const char *path, const char *bytes, size_t n, mode_t mode);
/* Adds the text to a file that is there, and syncs it. After an error a part of it may be there. */
int append_file_synced(const char *path, const char *text);
/* Makes a created or renamed file's name durable. */
int sync_directory_of(const char *path);
int mkdir_parents(const char *path, mode_t mode);

/* Lists every file named *suffix in the directories, sorted by name. A name in an earlier directory
 * hides the same name in a later one (as systemd's drop-ins do; a link to /dev/null masks). Absent
 * directories are skipped. *ret is a NULL-terminated vector of full paths, for strv_free(). */
int list_files(const char *const *directories, const char *suffix, char ***ret_paths);
