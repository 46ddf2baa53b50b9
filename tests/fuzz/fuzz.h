/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the fuzz targets share: text out of bytes, and files for readers that want one. */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/records.h"

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

/* A copy of the bytes. Random bytes hardly ever carry a right checksum: an input that starts with
 * '!' has one put behind each of its lines, so that what lies behind the check is reached too. */
static inline char *fuzz_sealed(const uint8_t *data, size_t *size)
{
	_cleanup_free_ char *text = fuzz_text(data, *size);
	char *out = NULL;
	FILE *f;

	if (*text != '!')
		return TAKE_PTR(text);
	f = open_memstream(&out, size);
	for (const char *p = text + 1; f && *p;) {
		int n = (int)strcspn(p, "\n");

		fprintf(f, "%.*s #%08x\n", n, p, records_checksum(p, (size_t)n));
		p += n + (p[n] == '\n');
	}
	if (!f || fclose(f) != 0)
		abort();
	return out;
}

/* A folder in memory, where syncs are free, and a file in it. */
typedef struct FuzzFolder {
	char folder[32], path[64], damaged[80];
} FuzzFolder;

static inline void fuzz_open_folder(FuzzFolder *f, const char *name)
{
	strcpy(f->folder, "/dev/shm/fuzz-XXXXXX");
	if (!mkdtemp(f->folder))
		abort();
	snprintf(f->path, sizeof(f->path), "%s/%s", f->folder, name);
	snprintf(f->damaged, sizeof(f->damaged), "%s.damaged", f->path);
}

static inline void fuzz_close_folder(const FuzzFolder *f)
{
	unlink(f->path);
	unlink(f->damaged);
	if (rmdir(f->folder) < 0)
		abort();
}

/* What is not understood in whole is kept as it was found: these bytes. */
static inline void fuzz_check_kept(const FuzzFolder *f, const char *text, size_t size)
{
	_cleanup_fclose_ FILE *kept = fopen(f->damaged, "re");
	_cleanup_free_ char *found = malloc(size + 2);

	if (!kept)
		return;
	if (!found || fread(found, 1, size + 2, kept) != size || memcmp(found, text, size) != 0)
		abort();
}

/* The same, and it must have been kept. */
static inline void fuzz_check_set_aside(const FuzzFolder *f, const char *text, size_t size)
{
	if (access(f->damaged, F_OK) < 0)
		abort();
	fuzz_check_kept(f, text, size);
}

/* A copy of the line at *at, malloc'd, and *at behind it; NULL at the end. */
static inline char *fuzz_next_line(const char **at, const char *end)
{
	const char *newline = *at < end ? memchr(*at, '\n', (size_t)(end - *at)) : NULL;
	size_t n = (size_t)((newline ?: end) - *at);
	char *line = *at < end ? strndup(*at, n) : NULL;

	*at += n + (newline != NULL);
	return line;
}

/* How many lines begin with this. */
static inline size_t fuzz_count_lines(const char *text, size_t size, const char *begin)
{
	size_t n = 0;

	for (const char *at = text, *end = text + size; at < end;) {
		_cleanup_free_ char *line = fuzz_next_line(&at, end);

		n += strncmp(line, begin, strlen(begin)) == 0;
	}
	return n;
}

/* What stands for chance in an input: the same input, the same chance. */
static inline uint32_t fuzz_chance(const uint8_t *data, size_t size)
{
	return records_checksum((const char *)data, size);
}

static inline void fuzz_flip_bit(char *text, size_t n, uint32_t chance)
{
	text[chance / 8 % n] ^= (char)(1 << chance % 8);
}

/* Like assert(), but never compiled out. */
#define fuzz_check(x)                                                                              \
	do {                                                                                       \
		if (!(x)) {                                                                        \
			fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #x);          \
			abort();                                                                   \
		}                                                                                  \
	} while (0)
