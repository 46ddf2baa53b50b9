/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The journal's file on disk: locked, appended to, replaced as a whole. */

#include <stddef.h>

typedef struct JournalFile {
	int fd;
	char *path;
} JournalFile;

/* Opens or creates, and locks; -EBUSY when another process holds the lock (logged). */
int journal_file_open(const char *path, JournalFile *ret);
void journal_file_close(JournalFile *f);
int journal_file_append(JournalFile *f, const char *text, size_t n);
int journal_file_sync(JournalFile *f);
/* Empties the file and syncs it. */
int journal_file_truncate(JournalFile *f);
/* Puts the text in the file's place, synced: old or new, never half, and locked all the time. */
int journal_file_replace(JournalFile *f, const char *text, size_t n);
