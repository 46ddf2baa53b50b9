/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What could not be written yet. It stays in memory, where it takes bounded room: the longer it
 * gets, the coarser it becomes. Pure. */

#include "ledger/entries.h"

/* Some 10 MB; more only where there are more things than that. */
#define BACKLOG_ENTRIES_MAX 40000

typedef struct Backlog {
	LedgerEntries entries;
	size_t step; /* which resolution its entries still have */
} Backlog;

/* Moves what was counted, or could not be written, into the backlog. -ENOMEM: it stays where it
 * was. */
int backlog_put(Backlog *b, LedgerEntries *counted);
/* All of it. */
LedgerEntries backlog_take(Backlog *b);
void backlog_clear(Backlog *b);
