/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Text that another process sends, and a service behind a socket that is asked for it. Nobody is
 * waited for without end. Both block; any thread may call them. */

#include <stddef.h>
#include <stdint.h>

/* Reads all that comes until the end of the file, with a NUL behind it (malloc'd). until_us is boot
 * time. -ETIMEDOUT, -EFBIG: it took longer or is more than `max` bytes. */
int read_to_end(int fd, size_t max, uint64_t until_us, char **ret_text);

#define ANSWER_MAX 4096

/* Connects to the Unix stream socket at `path`, sends the question, closes that direction, and
 * reads the answer, of ANSWER_MAX bytes at most. -ENOENT: there is no such socket; -ECONNREFUSED:
 * nobody listens there; -ETIMEDOUT: the answer took longer. */
int ask_service(const char *path, const char *question, uint64_t within_us, char **ret_answer);
