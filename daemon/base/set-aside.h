/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A state file that cannot be used as it is: storpower goes on without it, but nothing is lost. It
 * is kept as PATH.damaged, or where there is one already, as PATH.damaged.2 and so on. */

#include <stddef.h>

/* Moves the file aside and says so. going_on: what storpower does without it, for the log. */
int set_aside(const char *path, const char *going_on);
/* Moves aside what is not a file: a directory, a FIFO, a socket, a device. It is not opened,
 * because opening a FIFO waits. What is absent is no error; all errors are logged. */
int set_aside_unless_file(const char *path);
/* Keeps the n bytes that were found in the file and says so. The file stays, but from now on it
 * must be replaced and not be changed in its place: the copy may be the same file. */
int set_aside_copy(const char *path, const char *found, size_t n);
