/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the fuzz targets share: text out of bytes, and a path for readers that want a file. */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* NUL-terminated copy; never fails, as without memory there is nothing to fuzz. Quietens the log,
 * whose complaints are what bad input is for. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	log_set_max_level(-1);
	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

/* A file in memory with these bytes. */
static inline int fuzz_file(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	log_set_max_level(-1);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	return fd;
}

typedef struct FuzzPath {
	char text[32];
} FuzzPath;

static inline FuzzPath fuzz_path(int fd)
{
	FuzzPath path;

	snprintf(path.text, sizeof(path.text), "/proc/self/fd/%d", fd);
	return path;
}

/* Like assert(), but never compiled out. */
#define fuzz_check(x)                                                                              \
	do {                                                                                       \
		if (!(x)) {                                                                        \
			fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #x);          \
			abort();                                                                   \
		}                                                                                  \
	} while (0)
