/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The journal as records (base/records.h), appended to:
 *
 *	storpower-journal 2 #01234567
 *	original device="ID" knob="NAME" value="128" boot="BOOT-ID" #01234567
 *	forget device="ID" knob="NAME" #01234567
 *
 * The first line, checksum included, keeps its form in every later version, so that an older daemon
 * knows a newer file for what it is. */

#include "base/records.h"
#include "journal/journal-file.h"
#include "journal/journal.h"

typedef struct JournalRecord {
	char *device, *knob, *boot;
	KnobValue original;
} JournalRecord;

struct Journal {
	JournalFile file;
	char *boot_id;
	JournalRecord **records; /* by device, then knob */
	size_t n;
	size_t n_lines; /* in the file, pending ones included, but for the first */
	char *pending;  /* lines not yet written */
	size_t n_pending;
	bool dirty;      /* written, not synced */
	bool kept;       /* the damaged file is kept, and may be the file itself */
	size_t n_lost;   /* damaged lines that may have held an original */
	bool distrusted; /* the file may end in rubbish, or is of the old format: write it anew */
};

/* Inserts without writing anything; -EEXIST. */
int journal_insert(Journal *j, const char *device, const char *knob, const char *boot,
		   const KnobValue *original);
/* Removes without writing anything; -ENOENT. */
int journal_remove(Journal *j, const char *device, const char *knob);
JournalRecord *journal_find(const Journal *j, const char *device, const char *knob);
/* Reads the file into the records. */
int journal_load(Journal *j);

#define JOURNAL_NAME "journal"

/* A line of the file: an original, or one that is forgotten, which has neither value nor boot. */
typedef struct JournalLine {
	char *device, *knob, *value, *boot;
} JournalLine;

typedef struct JournalLoader {
	Journal *journal;
	char *old_boot; /* of a file of the old format; NULL: not seen */
} JournalLoader;

extern const RecordKind journal_original_kind, journal_forget_kind;
int journal_take_original(void *line, void *loader);

/* journal-old.c: lines of the old format, whose forgettings are read like the new ones */
extern const RecordKind journal_old_header_kind, journal_old_original_kind;
