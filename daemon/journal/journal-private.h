/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

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
	size_t n_lines; /* in the file, pending ones included */
	bool header;    /* the file's last header names this boot */
	char *pending;  /* lines not yet written */
	size_t n_pending;
	bool dirty;      /* written, not synced */
	bool distrusted; /* the file may end in rubbish: write all of it anew */
};

/* Inserts without writing anything; -EEXIST. */
int journal_insert(Journal *j, const char *device, const char *knob, const char *boot,
		   const KnobValue *original);
/* Removes without writing anything; -ENOENT. */
int journal_remove(Journal *j, const char *device, const char *knob);
JournalRecord *journal_find(const Journal *j, const char *device, const char *knob);
/* Reads the file into the records. */
int journal_load(Journal *j);
