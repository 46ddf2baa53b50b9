/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The journal's text, one fact a line, each with its own checksum:
 *
 *	storpower-journal 1 boot=BOOT-ID #0123abcd	what follows was recorded in this boot
 *	was "DEVICE" "KNOB" "ORIGINAL" #0123abcd
 *	forget "DEVICE" "KNOB" #0123abcd
 *
 * The first form, checksum included, stays the same in every later version, so that an older daemon
 * knows a newer file for what it is. */

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/knob-value.h"

typedef enum JournalLineKind { LINE_HEADER, LINE_WAS, LINE_FORGET } JournalLineKind;

typedef struct JournalLine {
	JournalLineKind kind;
	char *boot;          /* LINE_HEADER */
	char *device, *knob; /* the others */
	KnobValue original;  /* LINE_WAS */
} JournalLine;

void journal_line_clear(JournalLine *l);
/* One line without its newline. -EBADMSG: damaged; -EPROTONOSUPPORT: whole, of a newer version. */
int journal_line_read(const char *text, JournalLine *ret);
/* One line with its newline, malloc'd; NULL when out of memory. */
char *journal_line_write(const JournalLine *l);
/* FNV-1a, 32 bits (IETF draft-eastlake-fnv). */
uint32_t journal_checksum(const char *text, size_t n);
